"""Moves of games for which the system has no thread left, as under a limit on processes."""

from dataclasses import replace
from threading import Event, Thread

import pytest

from lichessbot.inbox import Inbox
from lichessbot.lichess.commands import CommandDone, ReadAccount, SendMove
from lichessbot.lichess.outbox import Outbox
from tests.fakes.scripted_lichess import Reply, ScriptedLichess
from tests.lichessbot.lichess.outbox_bench import (
    ACCOUNT,
    MOVE,
    MOVE_PATH,
    OTHER_MOVE,
    OTHER_MOVE_PATH,
    answer,
    failure,
)


@pytest.fixture(autouse=True)
def no_thread_for_games(monkeypatch: pytest.MonkeyPatch) -> None:
    start = Thread.start

    def start_unless_for_a_game(thread: Thread) -> None:
        if thread.name.startswith("moves-"):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(Thread, "start", start_unless_for_a_game)


def test_a_move_is_sent_by_the_thread_of_the_other_commands(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    for path, move in ((MOVE_PATH, MOVE), (OTHER_MOVE_PATH, OTHER_MOVE)):
        lichess.answer(path, Reply(held=(held := Event())))
        outbox.send(move)
        assert outbox.unanswered == {SendMove.kind(): 1}
        held.set()
        report = answer(inbox)
        assert isinstance(report, CommandDone)
        assert report.command == move
    assert not outbox.unanswered


def test_a_move_does_not_wait_for_the_pause_after_a_429(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(MOVE_PATH, Reply(429, {"error": "wait"}, [("Retry-After", "600")]), Reply())
    outbox.send(MOVE)
    failure(inbox)
    outbox.send(ReadAccount())
    outbox.send(MOVE)
    assert answer(inbox).command == MOVE
    assert lichess.paths() == [MOVE_PATH, MOVE_PATH]


def test_of_several_waiting_moves_of_a_game_only_the_newest_is_sent(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the newest has a thread of its own: an older one could be legal once more in a later position."""
    held = Event()
    lichess.answer("/api/account", Reply(body=ACCOUNT, held=held))
    for path in (MOVE_PATH, OTHER_MOVE_PATH):
        lichess.answer(path, Reply())
    outbox.send(ReadAccount())
    lichess.until_asked()
    outbox.send(replace(MOVE, move="a2a3"))
    outbox.send(replace(OTHER_MOVE, move="a2a3"))
    outbox.send(MOVE)
    monkeypatch.undo()
    outbox.send(OTHER_MOVE)
    assert answer(inbox).command == OTHER_MOVE
    held.set()
    assert [answer(inbox).command, answer(inbox).command] == [ReadAccount(), MOVE]
    assert lichess.paths() == ["/api/account", OTHER_MOVE_PATH, MOVE_PATH]
