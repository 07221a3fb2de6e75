"""What a stream reader makes of lines that it cannot read, and of what is no stream at all."""

from dataclasses import replace
from datetime import timedelta
from unittest.mock import ANY

import pytest

from lichessbot.inbox import Inbox
from lichessbot.lichess.models import ChatLine, GameFull, UnknownEvent
from lichessbot.lichess.streams import PlayingWanted, StreamEvent, StreamLost, StreamOpened
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess
from tests.lichessbot.lichess.stream_bench import (
    EVENT_PATH,
    GAME,
    GAME_PATH,
    IMPATIENT,
    STAY,
    Logged,
    Read,
    chat,
    heard,
    lost,
    texts,
)
from tests.lichessbot.scripted_daemon import full, line

BROKEN = [b"oops\n", b'{"type":"gameState"}\n', b"\xff\n", b"[]\n"]
PAGE, EMPTY = "a web page came instead of the stream", "an empty answer came instead of the stream"


@pytest.mark.parametrize("broken", BROKEN)
def test_after_an_unreadable_line_the_game_is_read_again(
    lichess: ScriptedLichess, inbox: Inbox, read: Read, caplog: Logged, broken: bytes
) -> None:
    lichess.answer(GAME_PATH, *(Reply(lines=it, end=End.STALL) for it in ([broken, chat("lost")], [chat("good")])))
    read()
    assert lost(inbox).reason.startswith(("not JSON", "not a JSON object", "GameState: "))
    assert texts(inbox, 1) == ["good"]
    assert not caplog.records, "the loss says why"


def test_the_state_of_another_game_is_not_played_from(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, *(Reply(lines=[full(it)], end=End.STALL) for it in ("efgh5678", GAME)))
    read()
    assert heard(inbox) == StreamOpened(GAME)
    assert heard(inbox) == StreamLost(GAME, "the state of another game, efgh5678", timedelta())
    assert heard(inbox) == StreamOpened(GAME)
    assert isinstance(told := heard(inbox), StreamEvent)
    assert isinstance(told.event, GameFull)


def test_an_unreadable_event_is_skipped_and_the_games_are_read(
    lichess: ScriptedLichess, inbox: Inbox, read: Read, caplog: Logged
) -> None:
    start = line("gameStart", game={"gameId": GAME, "variant": {"key": "standard"}})
    lichess.answer(EVENT_PATH, Reply(lines=[b"oops\n", start, b"oops\n" * 20_000], end=End.STALL), STAY)
    read(None)
    assert [type(heard(inbox)) for _ in range(3)] == [StreamOpened, PlayingWanted, StreamEvent]
    assert lost(inbox).reason == "not JSON: b'oops'", "after too many of them"
    assert caplog.text.count("stream.unreadable") < 20


def test_an_unknown_event_is_passed_on(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(lines=[line("confetti")], end=End.STALL))
    read()
    assert heard(inbox) == StreamOpened(GAME)
    assert heard(inbox) == StreamEvent(GAME, UnknownEvent(type="confetti"), 0.0)


def test_a_line_without_end_is_given_up(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(lines=[b"x" * 65536] * 20, end=End.STALL), STAY)
    read()
    assert "a line of more than" in lost(inbox).reason


def test_a_line_that_arrives_too_slowly_is_given_up(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(lines=[b"\n", *(b"x", 0.2) * 50], end=End.STALL))
    read(timeouts=IMPATIENT)
    # A pause of the server looks like silence: the next time it may be none.
    assert any("a line that does not end" in lost(inbox).reason for _ in range(5))


@pytest.mark.parametrize("path", [EVENT_PATH, GAME_PATH])
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(body="<!DOCTYPE html>\n<p>Update</p>\n"), PAGE),
        (Reply(body="<html>maintenance</html>"), PAGE),
        (Reply(body="\ufeff\n<p>Log in</p>\n", headers=[("Content-Type", "text/html; charset=utf-8")]), PAGE),
        (Reply(body='{"type":"gameSta'), "the stream ended in the middle of a line"),
        (Reply(body=""), f"{EMPTY} (status 200)"),
        (Reply(204, body=""), f"{EMPTY} (status 204)"),
    ],
)
def test_what_is_no_stream_is_a_failure_and_no_eviction(
    lichess: ScriptedLichess, inbox: Inbox, read: Read, caplog: Logged, path: str, reply: Reply, reason: str
) -> None:
    lichess.answer(path, reply)
    read(None if path == EVENT_PATH else GAME)
    for _ in range(3):
        assert replace(lost(inbox), retry_in=timedelta()) == StreamLost(ANY, reason, timedelta())
    assert not caplog.records, "neither an eviction nor an unreadable line"


@pytest.mark.parametrize("text", [b'"\xff\xfe"', b'"never ends', b"\x00"])
def test_an_unreadable_chat_line_does_not_end_the_stream(
    lichess: ScriptedLichess, inbox: Inbox, read: Read, text: bytes
) -> None:
    broken = b'{"type":"chatLine","text":' + text + b"}\n"
    lichess.answer(GAME_PATH, Reply(lines=[broken, chat("after it")], end=End.STALL))
    read()
    reports = [heard(inbox) for _ in range(3)]
    assert not any(isinstance(report, StreamLost) for report in reports)
    assert reports[2] == StreamEvent(GAME, ChatLine(text="after it"), 0.0)
