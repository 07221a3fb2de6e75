"""Commands without an answer, in a pause or too late: what the outbox repeats, holds back and drops."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest

from lichessbot.errors import RateLimited
from lichessbot.inbox import Inbox
from lichessbot.lichess.commands import (
    Abort,
    AcceptChallenge,
    AnswerTakeback,
    CancelChallenge,
    ClaimVictory,
    Command,
    CommandDone,
    DeclineChallenge,
    LeaveTournament,
    ReadAccount,
    ReadBots,
    ReadPlaying,
    Resign,
    Say,
)
from lichessbot.lichess.enums import ChatRoom, DeclineReason
from lichessbot.lichess.outbox import Outbox, _Pending, _SharedSender
from lichessbot.lichess.rate_limiter import Purpose, RateLimiter
from lichessbot.timeouts import is_due
from tests.fakes.scripted_lichess import Reply, ScriptedLichess
from tests.lichessbot.lichess.outbox_bench import (
    ACCEPT_PATH,
    ACCOUNT,
    MOVE,
    MOVE_PATH,
    OTHER_MOVE,
    OTHER_MOVE_PATH,
    TIMEOUTS,
    answer,
    failure,
)
from tests.patience import PATIENCE_S, until


def held_back(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    """From now on all commands but moves wait for ten minutes."""
    lichess.answer(MOVE_PATH, Reply(429, {"error": "wait"}, [("Retry-After", "600")]))
    outbox.send(MOVE)
    failure(inbox)


@pytest.mark.parametrize("reply", [Reply(502), Reply(403, "<html>Access denied</html>"), Reply(404, "no route")])
def test_a_command_without_an_answer_of_lichess_is_repeated(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, reply: Reply
) -> None:
    lichess.answer(ACCEPT_PATH, reply, reply, Reply())
    began = time.monotonic()
    outbox.send(AcceptChallenge("c1"))
    assert answer(inbox) == CommandDone(AcceptChallenge("c1"))
    assert len(lichess.requests) == 3
    assert time.monotonic() - began >= TIMEOUTS.backoff_first.total_seconds() / 2, "only the first time at once"


def test_repeating_ends_at_the_deadline(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, put_forward: Callable[[float], None]
) -> None:
    lichess.answer(ACCEPT_PATH, Reply(502), Reply(502), Reply(502, held=(held := Event())))
    outbox.send(AcceptChallenge("c1"))
    lichess.until_asked(3)
    assert inbox.empty()
    put_forward(TIMEOUTS.request_patience.total_seconds())
    held.set()
    failed = failure(inbox)
    assert str(failed.error).startswith("502"), "the last answer, not that it is too late now"
    assert len(lichess.requests) == 3


def test_a_refusal_is_not_repeated(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(ACCEPT_PATH, Reply(404, {"error": "Not found"}, held=(held := Event())))
    outbox.send(AcceptChallenge("c1"))
    lichess.until_asked()
    outbox.settle(AcceptChallenge("c2"))    # which says nothing of the one in flight
    held.set()
    assert not failure(inbox).perhaps_done
    assert len(lichess.requests) == 1


@pytest.mark.parametrize("last", [Reply(404, {"error": "Not found"}), Reply(429, {"error": "wait"}), Reply(502)])
def test_a_command_that_once_had_no_answer_is_perhaps_done(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, last: Reply, put_forward: Callable[[float], None]
) -> None:
    lichess.answer(ACCEPT_PATH, Reply(502), replace(last, held=(held := Event())))
    outbox.send(AcceptChallenge("c1"))
    lichess.until_asked(2)
    put_forward(TIMEOUTS.request_patience.total_seconds())
    held.set()
    failed = failure(inbox)
    assert failed.perhaps_done


def test_after_a_429_commands_wait_for_the_pause(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(ACCEPT_PATH, Reply(429, {"error": "wait"}))
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    began = time.monotonic()
    outbox.send(AcceptChallenge("c1"))
    outbox.send(ReadAccount())
    failed = failure(inbox)
    assert isinstance(failed.error, RateLimited)
    assert isinstance(answer(inbox), CommandDone)
    assert time.monotonic() - began >= TIMEOUTS.rate_limit.total_seconds()


def test_after_a_429_on_a_move_all_commands_but_moves_wait(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer(MOVE_PATH, Reply(429, {"error": "wait"}, [("Retry-After", "600")]), Reply())
    lichess.answer(OTHER_MOVE_PATH, Reply())
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    outbox.send(MOVE)
    failure(inbox)
    outbox.send(ReadAccount())
    outbox.send(OTHER_MOVE)
    outbox.send(MOVE)
    assert {answer(inbox).command, answer(inbox).command} == {OTHER_MOVE, MOVE}
    time.sleep(0.3)
    assert "/api/account" not in lichess.paths()


def test_commands_are_sent_by_priority(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer("/api/account", Reply(body=ACCOUNT, held=(held := Event())))
    paths = [
        "/api/bot/game/abcd1234/abort", "/api/challenge/c3/cancel", ACCEPT_PATH, "/api/account/playing",
        "/api/challenge/c2/decline", "/api/bot/online",
    ]  # fmt: skip
    for path in paths:
        lichess.answer(path, Reply(lines=[]) if "online" in path else Reply(body={"nowPlaying": []}))
    outbox.send(ReadAccount())
    lichess.until_asked()
    least_urgent_first = (
        ReadBots(), DeclineChallenge("c2", DeclineReason.LATER), ReadPlaying(), CancelChallenge("c3"),
        AcceptChallenge("c1"), Abort("abcd1234", "why"),
    )  # fmt: skip
    for command in least_urgent_first:
        outbox.send(command)
    held.set()
    for _ in range(7):
        answer(inbox)
    assert [path.partition("?")[0] for path in lichess.paths()] == ["/api/account", *paths]


def test_a_command_that_waits_for_its_retry_lets_others_pass(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, put_forward: Callable[[float], None]
) -> None:
    lichess.answer(ACCEPT_PATH, Reply(502))
    lichess.answer("/api/bot/game/abcd1234/resign", Reply())
    outbox.send(AcceptChallenge("c1"))
    lichess.until_asked()
    outbox.send(Resign("abcd1234", "why"))
    assert answer(inbox) == CommandDone(Resign("abcd1234", "why"))
    put_forward(TIMEOUTS.request_patience.total_seconds())
    failure(inbox)


def test_an_answer_to_a_challenge_is_dropped_at_its_deadline(
    lichess: ScriptedLichess, open_outbox: Callable[..., Outbox], inbox: Inbox
) -> None:
    outbox = open_outbox(request_patience=0.5)
    held_back(lichess, outbox, inbox)
    began = time.monotonic()
    outbox.send(AcceptChallenge("c1"))
    failed = failure(inbox)
    assert "too late" in str(failed.error)
    assert not failed.perhaps_done
    assert 0.45 < time.monotonic() - began < PATIENCE_S, "of 600 seconds"
    assert ACCEPT_PATH not in lichess.paths()


def test_the_account_is_read_once_and_not_before_its_time(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer("/api/account", Reply(502))
    lichess.answer(ACCEPT_PATH, Reply())
    outbox.send(ReadAccount(), timedelta(days=1))
    outbox.send(AcceptChallenge("c1"))
    assert answer(inbox).command == AcceptChallenge("c1"), "what is put off lets others pass"
    began = time.monotonic()
    outbox.send(ReadAccount(), timedelta(seconds=0.5))
    failure(inbox)
    assert time.monotonic() - began >= 0.5
    assert lichess.paths() == [ACCEPT_PATH, "/api/account"]


def test_the_account_is_not_read_more_often_than_lichess_allows(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    for _ in range(40):
        outbox.send(ReadAccount())
    lichess.until_asked(11)
    time.sleep(0.6)
    assert lichess.paths().count("/api/account") <= 30


@pytest.mark.parametrize(
    "command",
    [AnswerTakeback("abcd1234", granted=True), ClaimVictory("abcd1234"), Say("abcd1234", ChatRoom.PLAYER, "x")],
)
def test_a_command_that_expires_is_not_sent_after_a_pause(
    lichess: ScriptedLichess, open_outbox: Callable[..., Outbox], inbox: Inbox, command: Command
) -> None:
    outbox = open_outbox(offer_answer=0.2, request_patience=0.5, rate_limit=60.0)
    held_back(lichess, outbox, inbox)
    outbox.send(command)
    failed = failure(inbox)
    assert failed.command == command
    assert "too late" in str(failed.error)
    assert lichess.paths() == [MOVE_PATH]
    assert not outbox.is_talking


def test_a_flood_of_challenges_is_declined_at_a_limited_rate_and_delays_no_acceptance(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, put_forward: Callable[[float], None]
) -> None:
    ids = [f"flood{number}" for number in range(25)]
    for path in (ACCEPT_PATH, *(f"/api/challenge/{it}/decline" for it in ids)):
        lichess.answer(path, Reply())
    for challenge_id in ids:
        outbox.send(DeclineChallenge(challenge_id, DeclineReason.LATER))
    assert [answer(inbox).command.challenge_id for _ in range(20)] == ids[:20]
    outbox.send(AcceptChallenge("c1"))
    assert answer(inbox) == CommandDone(AcceptChallenge("c1"))
    put_forward(TIMEOUTS.decline_window.total_seconds())
    outbox.send(AcceptChallenge("c1"))
    assert {answer(inbox).command.challenge_id for _ in range(6)} == {"c1", *ids[20:]}


def test_a_command_repeated_during_a_pause_is_sent_once(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, put_forward: Callable[[float], None]
) -> None:
    held_back(lichess, outbox, inbox)
    resign, path = Resign("abcd1234", "why"), "/api/bot/game/abcd1234/resign"
    for _ in range(6):
        outbox.send(resign)
    put_forward(600.0)
    outbox.send(Resign("efgh5678", "why"))
    assert {answer(inbox).command.game_id, answer(inbox).command.game_id} == {"abcd1234", "efgh5678"}
    assert lichess.paths().count(path) == 1
    outbox.send(resign)
    assert answer(inbox).command == resign, "what was answered may be sent again"


def test_a_command_that_waits_can_be_withdrawn(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, put_forward: Callable[[float], None]
) -> None:
    held_back(lichess, outbox, inbox)
    leave = LeaveTournament("arena123")
    outbox.send(leave)
    until(lambda: outbox.withdraw(leave))  # not while its thread finds out that it has to wait
    assert not outbox.withdraw(leave)
    put_forward(600.0)
    outbox.send(Abort("efgh5678", "why"))
    assert answer(inbox).command == Abort("efgh5678", "why")
    assert len(lichess.paths()) == 2, "the move, and the abort"


def test_a_command_without_an_answer_is_repeated_after_those_that_came_meanwhile(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer(ACCEPT_PATH, Reply(502, held=(held := Event())), Reply())
    lichess.answer("/api/challenge/c2/accept", Reply())
    outbox.send(AcceptChallenge("c1"))
    lichess.until_asked()
    outbox.send(AcceptChallenge("c2"))
    held.set()
    assert [answer(inbox).command for _ in range(2)] == [AcceptChallenge("c2"), AcceptChallenge("c1")]


@pytest.mark.parametrize("status", [502, 404])
def test_a_command_whose_effect_was_seen_is_done_whatever_the_answer_and_not_repeated(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, status: int
) -> None:
    lichess.answer(ACCEPT_PATH, Reply(status, {"error": "No such challenge"}, held=(held := Event())))
    lichess.answer("/api/challenge/c2/accept", Reply())
    outbox.send(AcceptChallenge("c1"))
    lichess.until_asked()
    outbox.settle(AcceptChallenge("c1"))
    held.set()
    assert answer(inbox) == CommandDone(AcceptChallenge("c1"))
    outbox.send(AcceptChallenge("c2"))
    assert answer(inbox) == CommandDone(AcceptChallenge("c2"))
    assert len(lichess.requests) == 2


def test_a_command_whose_effect_was_seen_while_it_waits_is_done_and_not_sent(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    held_back(lichess, outbox, inbox)
    outbox.send(AcceptChallenge("c1"))
    outbox.settle(AcceptChallenge("c1"))
    assert answer(inbox) == CommandDone(AcceptChallenge("c1"))
    assert lichess.paths() == [MOVE_PATH]


def test_a_command_whose_effect_was_seen_while_it_is_held_back_is_done_at_once(
    outbox: Outbox, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(limiter: RateLimiter, purpose: Purpose) -> float:
        outbox.settle(Abort("abcd1234", "why"))
        return 600.0

    monkeypatch.setattr(RateLimiter, "ask", ask)
    outbox.send(Abort("abcd1234", "why"))
    assert answer(inbox) == CommandDone(Abort("abcd1234", "why"))


def test_nothing_waits_long_for_the_answer_to_a_command_whose_effect_was_seen(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, put_forward: Callable[[float], None]
) -> None:
    lichess.answer(ACCEPT_PATH, Reply(held=Event()))
    lichess.answer("/api/challenge/c2/accept", Reply())
    outbox.send(AcceptChallenge("c1"))
    lichess.until_asked()
    outbox.send(AcceptChallenge("c2"))
    outbox.settle(AcceptChallenge("c1"))
    put_forward(TIMEOUTS.settled_request.total_seconds())
    outbox.tick()
    assert [answer(inbox) for _ in range(2)] == [CommandDone(AcceptChallenge(it)) for it in ("c1", "c2")]


def test_a_command_is_not_given_up_for_the_one_before_it_that_was_answered_just_now(
    lichess: ScriptedLichess,
    outbox: Outbox,
    inbox: Inbox,
    put_forward: Callable[[float], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lichess.answer("/api/account", Reply(body=ACCOUNT, held=(first := Event())))
    lichess.answer("/api/bot/game/abcd1234/abort", Reply(held=(second := Event())))
    outbox.send(ReadAccount())
    lichess.until_asked()
    outbox.send(Abort("abcd1234", "why"))
    put_forward(TIMEOUTS.stuck_request.total_seconds() + 0.1)

    def meanwhile(moment: float | None, now: float) -> bool:
        first.set()     # which the thread of the first command notices, unless it has to wait
        end = time.monotonic() + 0.2
        while len(lichess.paths()) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        return is_due(moment, now)

    monkeypatch.setattr("lichessbot.lichess.outbox.is_due", meanwhile)
    outbox.tick()
    second.set()
    assert answer(inbox).command == ReadAccount()
    assert answer(inbox) == CommandDone(Abort("abcd1234", "why"))


def test_a_command_that_was_given_up_is_not_repeated_by_the_next_thread(
    lichess: ScriptedLichess, open_outbox: Callable[..., Outbox], inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox, take_over = open_outbox(stuck_request=0.0), _SharedSender.take_over
    lichess.answer(ACCEPT_PATH, Reply(502, held=(held := Event())), Reply())
    outbox.send(AcceptChallenge("c1"))
    lichess.until_asked()
    outbox.send(Abort("abcd1234", "why"))
    first = outbox._shared["commands"]

    def late(sender: _SharedSender, pending: list[_Pending]) -> None:
        held.set()
        first.join(PATIENCE_S)      # it puts its command back, for nobody
        take_over(sender, pending)

    monkeypatch.setattr(_SharedSender, "take_over", late)
    outbox.tick()
    assert [answer(inbox).command for _ in range(2)] == [AcceptChallenge("c1"), Abort("abcd1234", "why")]
    assert (dict(outbox.unanswered), lichess.paths().count(ACCEPT_PATH)) == ({}, 1)


def test_a_command_repeated_while_it_is_looked_at_is_sent_once(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    resign, path, waits_s = Resign("abcd1234", "why"), "/api/bot/game/abcd1234/resign", [0.0, 0.01]

    def ask(limiter: RateLimiter, purpose: Purpose) -> float:
        if waits_s:
            outbox.send(resign)
        return waits_s.pop() if waits_s else 0.0

    monkeypatch.setattr(RateLimiter, "ask", ask)
    outbox.send(resign)
    assert answer(inbox).command == resign
    outbox.send(Abort("efgh5678", "why"), timedelta(seconds=0.1))
    assert answer(inbox).command == Abort("efgh5678", "why")
    assert lichess.paths().count(path) == 1


def test_closing_does_not_wait_for_a_retry(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(ACCEPT_PATH, Reply(429, {"error": "wait"}, [("Retry-After", "600")]))
    outbox.send(AcceptChallenge("c1"))
    answer(inbox)
    outbox.send(AcceptChallenge("c1"))
    began = time.monotonic()
    outbox.close()
    assert time.monotonic() - began < 10.0, "of 600 seconds"
    assert inbox.empty()


def test_closing_ends_the_threads_and_later_commands_get_new_ones(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    """The sessions are closed once our name is known, which new ones say."""
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    lichess.answer(MOVE_PATH, Reply())
    of_others = set(threading.enumerate())  # those of the test before may still be ending
    for _ in range(2):
        outbox.send(ReadAccount())
        outbox.send(MOVE)
        assert all(isinstance(answer(inbox), CommandDone) for _ in range(2))
        ours = set(threading.enumerate()) - of_others
        threads = [it for it in ours if it.name in ("commands", f"moves-{MOVE.game_id}")]
        outbox.close()
        for thread in threads:
            thread.join(PATIENCE_S)
        assert [it.is_alive() for it in threads] == [False, False]


def test_an_acceptance_is_not_sent_after_the_challenge_expired(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    outbox.send(AcceptChallenge("c1", until=time.monotonic() - 0.01))
    failed = failure(inbox)
    assert "too late" in str(failed.error)
    assert lichess.requests == []


@pytest.mark.parametrize(("command", "path"), [(ReadAccount(), "/api/account"), (MOVE, MOVE_PATH)])
def test_a_command_whose_thread_cannot_be_started_is_sent_a_little_later(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, command: Command, path: str, no_thread_once: None
) -> None:
    lichess.answer(path, Reply(body=ACCOUNT))
    outbox.send(command)
    assert sum(outbox.unanswered.values()) == 1
    outbox.tick()
    report = answer(inbox)
    assert isinstance(report, CommandDone)
    assert report.command == command
