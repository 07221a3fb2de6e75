"""The outbox against a scripted server on a real socket."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from queue import SimpleQueue
from threading import Event

import pytest
from pydantic import SecretStr

from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.inbox import Inbox
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.commands import (
    Abort,
    AcceptChallenge,
    AnswerTakeback,
    CancelChallenge,
    ClaimDraw,
    ClaimVictory,
    Command,
    CommandDone,
    CommandFailed,
    CreateChallenge,
    DeclineChallenge,
    JoinTournament,
    ReadAccount,
    ReadBots,
    ReadPlaying,
    Resign,
    Say,
    SendMove,
)
from lichessbot.lichess.enums import ChatRoom, DeclineReason, ExactClock, Variant
from lichessbot.lichess.models import Account
from lichessbot.lichess.outbox import Outbox
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import Reply, ScriptedLichess

PATIENCE_S = 10.0
MOVE = SendMove("abcd1234", 1, "e2e4")
OTHER_MOVE = SendMove("wxyz9876", 1, "d2d4")
MOVE_PATH = "/api/bot/game/abcd1234/move/e2e4"
OTHER_MOVE_PATH = "/api/bot/game/wxyz9876/move/d2d4"
ACCEPT_PATH = "/api/challenge/c1/accept"
CHAT_PATH = "/api/bot/game/abcd1234/chat"
ACCOUNT = {"id": "testbot", "username": "TestBot", "title": "BOT"}
TIMEOUTS = replace(
    Timeouts(),
    request_patience=timedelta(seconds=2.0),
    backoff_first=timedelta(seconds=0.1),
    offer_answer=timedelta(seconds=0.2),
    rate_limit=timedelta(seconds=1.0),
    stuck_move=timedelta(seconds=0.7),
    stuck_request=timedelta(seconds=0.7),
)


@pytest.fixture
def inbox() -> Inbox:
    return SimpleQueue()


@pytest.fixture
def outbox(lichess: ScriptedLichess, inbox: Inbox) -> Iterator[Outbox]:
    access = Access(lichess.url, SecretStr("lip_x"), TIMEOUTS)
    outbox = Outbox(
        lambda read_timeout: LichessClient(access, read_timeout), inbox.put, TIMEOUTS, RateLimiter(TIMEOUTS)
    )
    yield outbox
    outbox.close()


def answer(inbox: Inbox) -> CommandDone | CommandFailed:
    report = inbox.get(timeout=PATIENCE_S)
    assert isinstance(report, CommandDone | CommandFailed)
    return report


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (MOVE, MOVE_PATH),
        (Abort("abcd1234", "why"), "/api/bot/game/abcd1234/abort"),
        (Resign("abcd1234", "why"), "/api/bot/game/abcd1234/resign"),
        (AnswerTakeback("abcd1234", granted=True), "/api/bot/game/abcd1234/takeback/yes"),
        (AnswerTakeback("abcd1234", granted=False), "/api/bot/game/abcd1234/takeback/no"),
        (ClaimVictory("abcd1234"), "/api/bot/game/abcd1234/claim-victory"),
        (ClaimDraw("abcd1234"), "/api/bot/game/abcd1234/claim-draw"),
        (Say("abcd1234", ChatRoom.PLAYER, "hello"), CHAT_PATH),
        (AcceptChallenge("c1"), ACCEPT_PATH),
        (DeclineChallenge("c1", DeclineReason.LATER), "/api/challenge/c1/decline"),
    ],
)
def test_each_command_is_sent_to_its_endpoint_and_reported_once(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, command: Command, path: str
) -> None:
    lichess.answer(path, Reply())
    outbox.send(command)
    assert answer(inbox) == CommandDone(command)
    assert lichess.paths() == [path]
    assert inbox.empty()


def test_a_command_reads_as_words_without_the_password() -> None:
    assert str(AcceptChallenge("c1")) == "accept challenge c1"
    assert str(ReadAccount()) == "read account"
    assert str(JoinTournament("arena123", None, "sesame", pair=True)) == "join tournament arena123"


def test_a_read_returns_its_answer(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}))
    outbox.send(ReadAccount())
    assert answer(inbox) == CommandDone(ReadAccount(), Account.model_validate(ACCOUNT))
    outbox.send(ReadPlaying())
    assert answer(inbox) == CommandDone(ReadPlaying(), ())


@pytest.mark.parametrize(
    ("reply", "error"), [(Reply(400, {"error": "no"}), Refused), (Reply(429), RateLimited), (Reply(502), Unreachable)]
)
def test_a_game_command_is_sent_once(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, reply: Reply, error: type[Exception]
) -> None:
    lichess.answer(MOVE_PATH, reply)
    outbox.send(MOVE)
    failed = answer(inbox)
    assert isinstance(failed, CommandFailed)
    assert failed.command == MOVE
    assert isinstance(failed.error, error)
    assert len(lichess.requests) == 1


def test_a_slow_move_delays_no_other_game(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(MOVE_PATH, Reply(held=(held := Event())))
    lichess.answer(OTHER_MOVE_PATH, Reply())
    outbox.send(MOVE)
    outbox.send(OTHER_MOVE)
    assert answer(inbox) == CommandDone(OTHER_MOVE)
    held.set()
    assert answer(inbox) == CommandDone(MOVE)


def test_other_commands_delay_no_move(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(ACCEPT_PATH, Reply(held=Event()))
    lichess.answer(MOVE_PATH, Reply())
    outbox.send(AcceptChallenge("c1"))
    outbox.send(MOVE)
    assert answer(inbox) == CommandDone(MOVE)


def test_of_several_waiting_moves_only_the_newest_is_sent(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    moves = [SendMove("abcd1234", ply, f"a{ply}a{ply + 1}") for ply in range(1, 5)]
    held = Event()
    for move in moves:
        lichess.answer(f"/api/bot/game/abcd1234/move/{move.move}", Reply(held=held))
    outbox.send(moves[0])
    lichess.until_asked()
    for move in moves[1:]:
        outbox.send(move)
    held.set()
    assert [answer(inbox).command, answer(inbox).command] == [moves[0], moves[3]]
    assert len(lichess.requests) == 2


def test_a_command_without_an_answer_is_repeated(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(ACCEPT_PATH, Reply(502), Reply(502), Reply())
    outbox.send(AcceptChallenge("c1"))
    assert answer(inbox) == CommandDone(AcceptChallenge("c1"))
    assert len(lichess.requests) == 3


def test_repeating_ends_at_the_deadline(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(ACCEPT_PATH, Reply(502))
    outbox.send(AcceptChallenge("c1"))
    failed = answer(inbox)
    assert isinstance(failed, CommandFailed)
    assert isinstance(failed.error, Unreachable)
    assert 2 < len(lichess.requests) < 12


def test_a_refusal_is_not_repeated(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(ACCEPT_PATH, Reply(404, {"error": "Not found"}))
    outbox.send(AcceptChallenge("c1"))
    failed = answer(inbox)
    assert isinstance(failed, CommandFailed)
    assert not failed.perhaps_done
    assert len(lichess.requests) == 1


@pytest.mark.parametrize("last", [Reply(404, {"error": "Not found"}), Reply(429, {"error": "wait"}), Reply(502)])
def test_a_command_that_once_had_no_answer_is_perhaps_done(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, last: Reply
) -> None:
    lichess.answer(ACCEPT_PATH, Reply(502), last)
    outbox.send(AcceptChallenge("c1"))
    failed = answer(inbox)
    assert isinstance(failed, CommandFailed)
    assert failed.perhaps_done


def test_after_a_429_commands_wait_for_the_pause(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(ACCEPT_PATH, Reply(429, {"error": "wait"}))
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    began = time.monotonic()
    outbox.send(AcceptChallenge("c1"))
    outbox.send(ReadAccount())
    failed = answer(inbox)
    assert isinstance(failed, CommandFailed)
    assert isinstance(failed.error, RateLimited)
    assert isinstance(answer(inbox), CommandDone)
    assert time.monotonic() - began >= TIMEOUTS.rate_limit.total_seconds()


def test_after_a_429_on_a_move_all_commands_but_moves_wait(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer(MOVE_PATH, Reply(429, {"error": "wait"}), Reply())
    lichess.answer(OTHER_MOVE_PATH, Reply())
    lichess.answer(ACCEPT_PATH, Reply())
    outbox.send(MOVE)
    assert isinstance(answer(inbox), CommandFailed)
    limited_at = time.monotonic()
    outbox.send(AcceptChallenge("c1"))
    outbox.send(OTHER_MOVE)
    outbox.send(MOVE)
    assert {answer(inbox).command, answer(inbox).command} == {OTHER_MOVE, MOVE}
    assert time.monotonic() - limited_at < TIMEOUTS.rate_limit.total_seconds()
    assert answer(inbox) == CommandDone(AcceptChallenge("c1"))
    assert time.monotonic() - limited_at >= TIMEOUTS.rate_limit.total_seconds() - 0.05


def test_commands_are_sent_by_priority(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer("/api/account", Reply(body=ACCOUNT, held=(held := Event())))
    paths = ["/api/bot/game/abcd1234/abort", ACCEPT_PATH, "/api/account/playing", "/api/challenge/c2/decline"]
    for path in paths:
        lichess.answer(path, Reply(body={"nowPlaying": []}))
    outbox.send(ReadAccount())
    lichess.until_asked()
    least_urgent_first = (
        DeclineChallenge("c2", DeclineReason.LATER), ReadPlaying(), AcceptChallenge("c1"), Abort("abcd1234", "why"),
    )
    for command in least_urgent_first:
        outbox.send(command)
    held.set()
    for _ in range(5):
        answer(inbox)
    assert [path.partition("?")[0] for path in lichess.paths()] == ["/api/account", *paths]


def test_a_command_that_waits_for_its_retry_lets_others_pass(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer(ACCEPT_PATH, Reply(502))
    lichess.answer("/api/bot/game/abcd1234/resign", Reply())
    outbox.send(AcceptChallenge("c1"))
    lichess.until_asked()
    outbox.send(Resign("abcd1234", "why"))
    assert answer(inbox) == CommandDone(Resign("abcd1234", "why"))
    assert isinstance(answer(inbox), CommandFailed)


def test_an_answer_to_a_challenge_is_dropped_at_its_deadline(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer(MOVE_PATH, Reply(429, {"error": "wait"}, [("Retry-After", "600")]))
    outbox.send(MOVE)
    answer(inbox)
    began = time.monotonic()
    outbox.send(AcceptChallenge("c1"))
    failed = answer(inbox)
    assert isinstance(failed, CommandFailed)
    assert "too late" in str(failed.error)
    assert not failed.perhaps_done
    assert TIMEOUTS.request_patience.total_seconds() - 0.05 < time.monotonic() - began < PATIENCE_S, "of 600 seconds"
    assert ACCEPT_PATH not in lichess.paths()


def test_the_account_is_read_once_and_not_before_its_time(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer("/api/account", Reply(502))
    lichess.answer(ACCEPT_PATH, Reply())
    began = time.monotonic()
    outbox.send(ReadAccount(), timedelta(seconds=0.5))
    outbox.send(AcceptChallenge("c1"))
    assert answer(inbox).command == AcceptChallenge("c1"), "what is put off lets others pass"
    assert isinstance(answer(inbox), CommandFailed)
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


def test_a_draw_is_offered_with_the_move(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(MOVE_PATH, Reply())
    outbox.send(replace(MOVE, offering_draw=True))
    assert isinstance(answer(inbox), CommandDone)
    assert lichess.paths() == [f"{MOVE_PATH}?offeringDraw=true"]


@pytest.mark.parametrize(
    "command",
    [AnswerTakeback("abcd1234", granted=True), ClaimVictory("abcd1234"), Say("abcd1234", ChatRoom.PLAYER, "x")],
)
def test_a_command_that_expires_is_not_sent_after_a_pause(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, command: Command
) -> None:
    lichess.answer(MOVE_PATH, Reply(429, {"error": "wait"}, [("Retry-After", "600")]))
    outbox.send(MOVE)
    answer(inbox)
    outbox.send(command)
    failed = answer(inbox)
    assert isinstance(failed, CommandFailed)
    assert failed.command == command
    assert "too late" in str(failed.error)
    assert lichess.paths() == [MOVE_PATH]
    assert not outbox.is_talking


def test_a_command_repeated_during_a_pause_is_sent_once(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer(MOVE_PATH, Reply(429, {"error": "wait"}, [("Retry-After", "1")]))
    outbox.send(MOVE)
    answer(inbox)
    resign, path = Resign("abcd1234", "why"), "/api/bot/game/abcd1234/resign"
    for _ in range(6):
        outbox.send(resign)
    outbox.send(Resign("efgh5678", "why"))
    assert {answer(inbox).command.game_id, answer(inbox).command.game_id} == {"abcd1234", "efgh5678"}
    assert lichess.paths().count(path) == 1
    outbox.send(resign)
    assert answer(inbox).command == resign, "what was answered may be sent again"


def talk(number: int) -> Say:
    return Say("abcd1234", ChatRoom.PLAYER, f"line {number}")


@pytest.mark.parametrize("lines", [None, [b" ", 0.2] * 100], ids=["silent", "trickling"])
def test_a_chat_line_without_a_whole_answer_delays_no_acceptance_and_the_oldest_of_too_many_are_dropped(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, lines: list[bytes | float] | None
) -> None:
    held = Event()
    lichess.answer(CHAT_PATH, Reply(held=held) if lines is None else Reply(lines=lines), Reply())
    lichess.answer(ACCEPT_PATH, Reply())
    outbox.send(talk(0))
    lichess.until_asked()
    for number in range(1, 26):
        outbox.send(talk(number))
    assert outbox.is_talking
    dropped = [answer(inbox) for _ in range(5)]
    assert [it.command for it in dropped if isinstance(it, CommandFailed)] == [talk(number) for number in range(1, 6)]
    outbox.send(AcceptChallenge("c1"))
    assert answer(inbox) == CommandDone(AcceptChallenge("c1"))
    assert outbox.is_talking
    held.set()


def test_a_chat_line_without_an_answer_is_not_repeated(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(CHAT_PATH, Reply(502))
    outbox.send(talk(1))
    assert isinstance(answer(inbox), CommandFailed)
    assert lichess.paths() == [CHAT_PATH]


def test_a_stuck_chat_line_delays_no_move(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(CHAT_PATH, Reply(held=Event()))
    lichess.answer(MOVE_PATH, Reply())
    outbox.send(talk(1))
    outbox.send(MOVE)
    assert answer(inbox) == CommandDone(MOVE)


def test_a_closed_game_keeps_its_chat_lines(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(CHAT_PATH, Reply(held=(held := Event())))
    outbox.send(talk(1))
    lichess.until_asked()
    outbox.send(talk(2))
    outbox.close_game("abcd1234")
    held.set()
    assert [answer(inbox) for _ in range(2)] == [CommandDone(talk(1)), CommandDone(talk(2))]
    assert not outbox.is_talking


def test_an_endless_answer_does_not_delay_the_next_move(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    trickle: list[bytes | float] = [b" ", 0.2] * 50
    lichess.answer(MOVE_PATH, Reply(lines=trickle), Reply())
    outbox.send(MOVE)
    lichess.until_asked()
    time.sleep(TIMEOUTS.stuck_move.total_seconds() + 0.1)
    outbox.send(MOVE)
    assert answer(inbox) == CommandDone(MOVE)
    assert inbox.empty()


def test_an_endless_answer_is_given_up_and_waiting_commands_are_sent(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    assert outbox.wake_at is None
    trickle: list[bytes | float] = [b" ", 0.2] * 50
    lichess.answer("/api/account", Reply(lines=trickle))
    lichess.answer("/api/bot/game/abcd1234/abort", Reply())
    outbox.send(ReadAccount())
    lichess.until_asked()
    outbox.send(Abort("abcd1234", "why"))
    assert outbox.wake_at is not None
    outbox.tick()
    assert inbox.empty()
    time.sleep(TIMEOUTS.stuck_request.total_seconds() + 0.1)
    outbox.tick()
    given_up = answer(inbox)
    assert isinstance(given_up, CommandFailed)
    assert given_up.command == ReadAccount()
    assert answer(inbox) == CommandDone(Abort("abcd1234", "why"))
    assert inbox.empty()


def test_the_round_trip_of_a_move_is_measured(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(MOVE_PATH, Reply(delay_s=0.2))
    began = time.monotonic()
    outbox.send(MOVE)
    done = answer(inbox)
    assert isinstance(done, CommandDone)
    assert began <= done.sent_at <= done.answered_at <= time.monotonic()
    assert done.answered_at - done.sent_at >= 0.2


def test_a_closed_game_sends_no_more_commands(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(MOVE_PATH, Reply(held=(held := Event())))
    outbox.send(MOVE)
    lichess.until_asked()
    outbox.send(SendMove("abcd1234", 3, "g1f3"))
    outbox.close_game("abcd1234")
    held.set()
    time.sleep(0.4)
    assert inbox.empty()
    assert lichess.paths() == [MOVE_PATH]


def test_closing_does_not_wait_for_a_retry(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(ACCEPT_PATH, Reply(429, {"error": "wait"}, [("Retry-After", "600")]))
    outbox.send(AcceptChallenge("c1"))
    answer(inbox)
    outbox.send(AcceptChallenge("c1"))
    began = time.monotonic()
    outbox.close()
    assert time.monotonic() - began < 10.0, "of 600 seconds"
    assert inbox.empty()


def test_an_acceptance_is_not_sent_after_the_challenge_expired(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    outbox.send(AcceptChallenge("c1", until=time.monotonic() - 0.01))
    failed = answer(inbox)
    assert isinstance(failed, CommandFailed)
    assert "too late" in str(failed.error)
    assert lichess.requests == []


# Ventures of our own

CREATE = CreateChallenge("rival", Terms(Variant.STANDARD, ExactClock(60, 0), False))


def test_a_challenge_without_an_answer_is_not_repeated(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer("/api/challenge/rival", Reply(502))
    outbox.send(CREATE)
    failed = answer(inbox)
    assert isinstance(failed, CommandFailed)
    assert isinstance(failed.error, Unreachable)
    assert lichess.paths() == ["/api/challenge/rival"]


def test_a_withdrawal_without_an_answer_is_repeated(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer("/api/challenge/abcd1234/cancel", Reply(502), Reply())
    outbox.send(CancelChallenge("abcd1234"))
    assert answer(inbox) == CommandDone(CancelChallenge("abcd1234"))


def test_a_withdrawal_is_sent_before_commands_of_lower_priority(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    paths = ["/api/challenge/abcd1234/decline", "/api/challenge/wxyz9876/cancel", "/api/bot/online"]
    for path in paths:
        lichess.answer(path, Reply(lines=[]) if "online" in path else Reply())
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}, held=(held := Event())))
    outbox.send(ReadPlaying())
    lichess.until_asked()
    for command in (ReadBots(), DeclineChallenge("abcd1234", DeclineReason.LATER), CancelChallenge("wxyz9876")):
        outbox.send(command)
    held.set()
    for _ in range(4):
        answer(inbox)
    asked = [path.partition("?")[0] for path in lichess.paths()]
    assert [path for path in asked if path in paths] == [paths[1], paths[0], paths[2]]
