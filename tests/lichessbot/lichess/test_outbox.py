"""The outbox against a scripted server on a real socket."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest

from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.inbox import Inbox
from lichessbot.lichess.answers import Account
from lichessbot.lichess.challenge_terms import Terms
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
    ReadPlaying,
    ReadToken,
    Resign,
    Say,
    SendMove,
)
from lichessbot.lichess.enums import ChatRoom, DeclineReason, ExactClock, Variant
from lichessbot.lichess.outbox import Outbox
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
from tests.patience import PATIENCE_S

CHAT_PATH = "/api/bot/game/abcd1234/chat"
NEXT = SendMove("abcd1234", 3, "g1f3")
NEXT_PATH = "/api/bot/game/abcd1234/move/g1f3"


@pytest.mark.parametrize(
    ("command", "path", "body"),
    [
        (MOVE, MOVE_PATH, None),
        (Abort("abcd1234", "why"), "/api/bot/game/abcd1234/abort", None),
        (Resign("abcd1234", "why"), "/api/bot/game/abcd1234/resign", None),
        (AnswerTakeback("abcd1234", granted=True), "/api/bot/game/abcd1234/takeback/yes", None),
        (AnswerTakeback("abcd1234", granted=False), "/api/bot/game/abcd1234/takeback/no", None),
        (ClaimVictory("abcd1234"), "/api/bot/game/abcd1234/claim-victory", None),
        (ClaimDraw("abcd1234"), "/api/bot/game/abcd1234/claim-draw", None),
        (Say("abcd1234", ChatRoom.PLAYER, "hello"), CHAT_PATH, {"room": "player", "text": "hello"}),
        (Say("abcd1234", ChatRoom.SPECTATOR, "hello"), CHAT_PATH, {"room": "spectator", "text": "hello"}),
        (AcceptChallenge("c1"), ACCEPT_PATH, None),
        (DeclineChallenge("c1", DeclineReason.TOO_FAST), "/api/challenge/c1/decline", {"reason": "tooFast"}),
    ],
)
def test_each_command_is_posted_to_its_endpoint_and_reported_once(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, command: Command, path: str, body: object
) -> None:
    lichess.answer(path, Reply())
    outbox.send(command)
    assert answer(inbox) == CommandDone(command)
    (request,) = lichess.requests
    assert (request.method, request.path) == ("POST", path)
    assert (json.loads(request.body) if request.body else None) == body
    assert inbox.empty()


def test_a_command_reads_as_words_without_the_password() -> None:
    assert str(AcceptChallenge("c1")) == "accept challenge c1"
    assert str(ReadAccount()) == "read account"
    assert str(JoinTournament("arena123", None, "sesame")) == "join tournament arena123"


def test_a_read_returns_its_answer(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}))
    outbox.send(ReadAccount())
    assert answer(inbox) == CommandDone(ReadAccount(), Account.model_validate(ACCOUNT))
    outbox.send(ReadPlaying())
    assert answer(inbox) == CommandDone(ReadPlaying(), ())


def test_the_games_in_progress_are_read_on_a_new_connection(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}))
    for command in (ReadAccount(), ReadAccount(), ReadPlaying(), ReadAccount()):
        outbox.send(command)
        assert isinstance(answer(inbox), CommandDone)
    account, again, playing, later = (request.client_port for request in lichess.requests)
    assert account == again != playing == later


def test_a_game_in_doubt_sends_its_next_move_on_a_new_connection(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    lichess.answer(MOVE_PATH, Reply())
    for in_doubt in (False, False, True, False):
        if in_doubt:
            outbox.renew(MOVE.game_id)
        outbox.send(MOVE)
        assert isinstance(answer(inbox), CommandDone)
    first, second, third, fourth = (request.client_port for request in lichess.requests)
    assert first == second != third == fourth


@pytest.mark.parametrize(
    ("reply", "error"), [(Reply(400, {"error": "no"}), Refused), (Reply(429), RateLimited), (Reply(502), Unreachable)]
)
def test_a_game_command_is_sent_once(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, reply: Reply, error: type[Exception]
) -> None:
    lichess.answer(MOVE_PATH, reply)
    outbox.send(MOVE)
    failed = failure(inbox)
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


@pytest.mark.parametrize(
    ("path", "command"),
    [(ACCEPT_PATH, AcceptChallenge("c1")), (CHAT_PATH, Say("abcd1234", ChatRoom.PLAYER, "hello"))],
    ids=["accept", "chat"],
)
def test_other_commands_delay_no_move(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, path: str, command: Command
) -> None:
    lichess.answer(path, Reply(held=Event()))
    lichess.answer(MOVE_PATH, Reply())
    outbox.send(command)
    outbox.send(MOVE)
    assert answer(inbox) == CommandDone(MOVE)


@pytest.mark.parametrize("command", [MOVE, Say("abcd1234", ChatRoom.PLAYER, "hello")], ids=["move", "chat"])
def test_a_command_that_must_not_be_sent_twice_waits_for_its_record(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, command: Command
) -> None:
    lichess.answer(MOVE_PATH, Reply())
    lichess.answer(CHAT_PATH, Reply())
    recorded = Event()
    outbox.send(command, recorded=recorded)
    time.sleep(0.3)
    assert lichess.requests == []
    assert outbox.unanswered == {command.kind(): 1}
    recorded.set()
    assert answer(inbox) == CommandDone(command)


@pytest.mark.parametrize("command", [MOVE, Say("abcd1234", ChatRoom.PLAYER, "hello")], ids=["move", "chat"])
def test_a_record_that_takes_too_long_is_not_waited_for(
    lichess: ScriptedLichess, open_outbox: Callable[..., Outbox], inbox: Inbox, command: Command
) -> None:
    lichess.answer(MOVE_PATH, Reply())
    lichess.answer(CHAT_PATH, Reply())
    open_outbox(record_patience=0.5).send(command, recorded=Event())
    assert answer(inbox) == CommandDone(command)


def test_of_several_waiting_moves_only_the_newest_is_sent(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    """The same ply can need another move after a takeback."""
    moves = [SendMove("abcd1234", 1, f"a{rank}a{rank + 1}") for rank in range(1, 5)]
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


def test_a_draw_is_offered_with_the_move(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer(MOVE_PATH, Reply())
    outbox.send(replace(MOVE, offering_draw=True))
    assert isinstance(answer(inbox), CommandDone)
    assert lichess.paths() == [f"{MOVE_PATH}?offeringDraw=true"]


def talk(number: int) -> Say:
    return Say("abcd1234", ChatRoom.PLAYER, f"line {number}")


@pytest.mark.parametrize("lines", [None, [b" ", 0.2] * 600], ids=["silent", "trickling"])
def test_a_stuck_chat_line_delays_no_acceptance_and_the_oldest_are_dropped(
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
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, put_forward: Callable[[float], None]
) -> None:
    trickle: list[bytes | float] = [b" ", 0.2] * 600
    lichess.answer(MOVE_PATH, Reply(lines=trickle), Reply())
    outbox.send(MOVE)
    lichess.until_asked()
    put_forward(TIMEOUTS.stuck_move.total_seconds() + 0.1)
    outbox.send(MOVE)
    assert answer(inbox) == CommandDone(MOVE)
    assert inbox.empty()


def test_a_late_answer_does_not_delay_the_next_move_and_is_reported(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    held = Event()
    lichess.answer(MOVE_PATH, Reply(held=held))
    lichess.answer(NEXT_PATH, Reply())
    outbox.send(MOVE)
    lichess.until_asked()
    first = outbox._move_senders[MOVE.game_id]
    outbox.send(NEXT)
    assert answer(inbox) == CommandDone(NEXT)
    held.set()
    assert answer(inbox) == CommandDone(MOVE)
    first.join(PATIENCE_S)
    assert not first.is_alive()


def test_a_move_that_was_sent_twice_does_not_arrive_after_the_next_one(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    """The stream may show the first request while the second is still on its way."""
    held = Event()
    lichess.answer(MOVE_PATH, Reply(502), Reply(held=held))
    lichess.answer(NEXT_PATH, Reply())
    outbox.send(MOVE)
    failure(inbox)
    outbox.send(MOVE)
    lichess.until_asked(2)
    outbox.send(NEXT)
    assert outbox.unanswered == {"send move": 2}
    held.set()
    assert [answer(inbox).command for _ in range(2)] == [MOVE, NEXT]
    assert lichess.paths() == [MOVE_PATH, MOVE_PATH, NEXT_PATH]


def test_an_endless_answer_is_given_up_and_waiting_commands_are_sent(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, put_forward: Callable[[float], None]
) -> None:
    assert outbox.wake_at is None
    trickle: list[bytes | float] = [b" ", 0.2] * 600
    lichess.answer("/api/account", Reply(lines=trickle))
    lichess.answer("/api/bot/game/abcd1234/abort", Reply())
    outbox.send(ReadAccount())
    lichess.until_asked()
    outbox.send(Abort("abcd1234", "why"))
    assert outbox.wake_at is not None
    outbox.tick()
    assert inbox.empty()
    put_forward(TIMEOUTS.stuck_request.total_seconds() + 0.1)
    outbox.tick()
    given_up = failure(inbox)
    assert (given_up.command, given_up.perhaps_done) == (ReadAccount(), True)
    assert answer(inbox) == CommandDone(Abort("abcd1234", "why"))
    assert inbox.empty()


def test_what_waited_for_a_stuck_request_keeps_its_place(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, put_forward: Callable[[float], None]
) -> None:
    held = Event()
    trickle: list[bytes | float] = [b" ", 0.2] * 600
    lichess.answer("/api/account", Reply(lines=trickle))
    first, second, third = (Abort(f"game000{number}", "why") for number in range(3))
    lichess.answer("/api/bot/game/game0000/abort", Reply(held=held))
    outbox.send(ReadAccount())
    lichess.until_asked()
    outbox.send(first)
    outbox.send(second)
    put_forward(TIMEOUTS.stuck_request.total_seconds() + 0.1)
    outbox.tick()
    lichess.until_asked(2)
    outbox.send(third)
    held.set()
    assert [answer(inbox).command for _ in range(4)] == [ReadAccount(), first, second, third]


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
    outbox.send(SendMove("abcd1234", 1, "g1f3"))
    outbox.close_game("abcd1234")
    held.set()
    time.sleep(0.4)
    assert inbox.empty()
    assert lichess.paths() == [MOVE_PATH]


CREATE = CreateChallenge("rival", Terms(Variant.STANDARD, ExactClock(60, 0), False))


@pytest.mark.parametrize(
    ("command", "path"), [(talk(1), CHAT_PATH), (CREATE, "/api/challenge/rival")], ids=["chat", "challenge"]
)
def test_a_chat_line_or_a_challenge_without_an_answer_is_not_repeated(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox, command: Command, path: str
) -> None:
    lichess.answer(path, Reply(502))
    outbox.send(command)
    assert isinstance(failure(inbox).error, Unreachable)
    assert lichess.paths() == [path]


def test_a_withdrawal_without_an_answer_is_repeated(lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox) -> None:
    lichess.answer("/api/challenge/abcd1234/cancel", Reply(502), Reply())
    outbox.send(CancelChallenge("abcd1234"))
    assert answer(inbox) == CommandDone(CancelChallenge("abcd1234"))


def test_commands_that_are_due_and_have_no_answer_are_counted_by_kind(
    lichess: ScriptedLichess, outbox: Outbox, inbox: Inbox
) -> None:
    assert not outbox.unanswered
    lichess.answer(MOVE_PATH, Reply(held=(held := Event())))
    outbox.send(ReadToken(), after=timedelta(days=1))
    outbox.send(MOVE)
    assert outbox.unanswered == {"send move": 1}
    held.set()
    answer(inbox)
    lichess.answer(ACCEPT_PATH, Reply(held=(held := Event())))
    for _ in range(2):
        outbox.send(AcceptChallenge("c1"))
    outbox.send(ReadPlaying())
    assert outbox.unanswered == {"accept challenge": 2, "read playing": 1}
    held.set()
    for _ in range(3):
        answer(inbox)
    assert not outbox.unanswered
