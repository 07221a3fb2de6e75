"""A challenge of our own, report by report."""

from dataclasses import replace
from typing import Any

import pytest

from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable
from lichessbot.lichess.challenge_terms import Days, Terms
from lichessbot.lichess.commands import (
    CancelChallenge,
    CommandDone,
    CommandFailed,
    MatchCommand,
    ReadChallenge,
    ReadOutgoing,
)
from lichessbot.lichess.enums import DeclineReason, ExactClock, Variant
from lichessbot.lichess.models import Challenge
from lichessbot.matchmaking.outgoing_challenge import (
    Accepted,
    Declined,
    LeftOpen,
    Lost,
    NotSent,
    OpenChallenge,
    Withdrawn,
)
from lichessbot.matchmaking.selection import Proposal
from lichessbot.timeouts import Timeouts

TIMEOUTS = Timeouts()
OPEN_S = TIMEOUTS.challenge_open.total_seconds()
RETRY_S = TIMEOUTS.game_start.total_seconds()
NO_ANSWER = Unreachable("timed out")
GONE = Refused(404, "Not found")


def challenge(status: str = "created", reason: str = "", target: str = "rival") -> Challenge:
    fields: dict[str, Any] = {
        "id": "abcd1234",
        "status": status,
        "destUser": {"id": target},
        "variant": {"key": "standard"},
        "speed": "blitz",
        "timeControl": {"type": "clock"},
        "declineReasonKey": reason,
    }
    return Challenge.model_validate(fields)


def fresh() -> OpenChallenge:
    return OpenChallenge(Proposal("rival", Terms(Variant.STANDARD, ExactClock(180, 0), False), "default"), TIMEOUTS)


def created(now: float = 0.0) -> OpenChallenge:
    it = fresh()
    assert it.handle(CommandDone(it.creation, challenge()), now) is None
    return it


def by_days(*, is_bot: bool) -> OpenChallenge:
    return OpenChallenge(Proposal("rival", Terms(Variant.STANDARD, Days(2), False), is_bot=is_bot), TIMEOUTS)


def failed(command: MatchCommand, error: ApiError) -> CommandFailed:
    return CommandFailed(command, error, perhaps_done=isinstance(error, Unreachable))


LOOK, CANCEL = ReadChallenge("abcd1234"), CancelChallenge("abcd1234")


def test_an_unanswered_challenge_is_read_and_then_withdrawn() -> None:
    it = created()
    assert it.wake_at == OPEN_S
    assert it.tick(OPEN_S - 0.1) is None
    assert it.tick(OPEN_S) == LOOK
    assert it.wake_at is None
    assert it.handle(CommandDone(LOOK, challenge("offline")), OPEN_S) == CANCEL
    assert it.handle(CommandDone(CANCEL), OPEN_S) == Withdrawn(unanswered=True)


@pytest.mark.parametrize(
    ("seen", "outcome"),
    [
        (challenge("accepted"), Accepted(announced=False)),
        (challenge("declined", "toofast"), Declined(DeclineReason.TOO_FAST)),
        (challenge("canceled"), Withdrawn(unanswered=False)),
    ],
)
def test_reading_the_challenge_shows_a_lost_event(seen: Challenge, outcome: object) -> None:
    it = created()
    it.tick(OPEN_S)
    assert it.handle(CommandDone(LOOK, seen), OPEN_S) == outcome


def test_the_answer_to_the_request_tells_nothing_new_after_the_event_stream() -> None:
    it = fresh()
    assert it.echo(challenge(), 0.0) is None
    assert it.withdraw() == CANCEL
    assert it.handle(CommandDone(it.creation, challenge()), 1.0) is None


def test_a_look_that_is_refused_does_not_keep_it_from_being_withdrawn() -> None:
    it = created()
    it.tick(OPEN_S)
    assert it.handle(failed(LOOK, Refused(403, "Missing scope")), OPEN_S) == CANCEL


@pytest.mark.parametrize("error", [NO_ANSWER, RateLimited(TIMEOUTS.rate_limit, "slow down")])
def test_a_look_without_an_answer_is_repeated(error: ApiError) -> None:
    it = created()
    it.tick(OPEN_S)
    assert it.handle(failed(LOOK, error), OPEN_S) is None
    assert it.wake_at == OPEN_S + RETRY_S
    assert it.tick(OPEN_S + RETRY_S) == LOOK


def test_looks_without_any_answer_do_not_go_on_for_ever() -> None:
    """Lichess may answer everything else meanwhile, and matchmaking would send no other challenge."""
    it, now = created(), OPEN_S
    while it.tick(now) == LOOK:
        step = it.handle(failed(LOOK, NO_ANSWER), now)
        now += RETRY_S
    assert step == CANCEL
    assert 300 <= now <= 600
    assert it.handle(CommandDone(CANCEL), now) == Withdrawn(unanswered=True)


def test_the_search_for_a_lost_challenge_does_not_go_on_for_ever() -> None:
    """One unreadable challenge among ours is enough."""
    it, now = fresh(), 0.0
    step = it.handle(failed(it.creation, NO_ANSWER), now)
    while step is None:
        now += RETRY_S
        assert it.tick(now) == ReadOutgoing()
        step = it.handle(failed(ReadOutgoing(), NO_ANSWER), now)
    assert step == Lost(out_of_reach=True)
    assert 300 <= now <= 600


def test_a_withdrawal_that_is_refused_leaves_a_doubt() -> None:
    it = created()
    it.tick(OPEN_S)
    it.handle(CommandDone(LOOK, challenge()), OPEN_S)
    assert it.handle(failed(CANCEL, GONE), OPEN_S) == Withdrawn(unanswered=True, certain=False)


def test_in_a_long_outage_the_challenge_is_given_up() -> None:
    it, now = created(), OPEN_S
    assert it.withdraw() == CANCEL
    for _ in range(2):
        assert it.handle(failed(CANCEL, NO_ANSWER), now) is None
        now += RETRY_S
        assert it.tick(now) == CANCEL
    assert it.handle(failed(CANCEL, NO_ANSWER), now) == Withdrawn(unanswered=False, certain=False, out_of_reach=True)


def test_a_queued_challenge_has_it_withdrawn_once_and_at_once() -> None:
    it = created()
    assert it.withdraw() == CANCEL
    assert it.withdraw() is None
    assert it.handle(CommandDone(CANCEL), 1.0) == Withdrawn(unanswered=False)


def test_only_a_withdrawal_that_the_operator_made_is_no_silence_of_the_opponent() -> None:
    it = created()
    assert it.settled(challenge("canceled"), is_declined=False) == Withdrawn(unanswered=False)
    it.tick(OPEN_S)
    it.handle(CommandDone(LOOK, challenge("offline")), OPEN_S)
    assert it.settled(challenge("canceled"), is_declined=False) is None, "the answer to our own request follows"
    assert it.handle(failed(CANCEL, NO_ANSWER), OPEN_S) is None
    assert it.settled(challenge("canceled"), is_declined=False) == Withdrawn(unanswered=True)
    assert it.tick(OPEN_S + RETRY_S) == LOOK
    assert it.handle(CommandDone(LOOK, challenge("canceled")), OPEN_S + RETRY_S) == Withdrawn(unanswered=True)


def test_a_game_that_began_before_the_answer_came_is_not_withdrawn() -> None:
    it = fresh()
    assert it.game_started("wxyz5678") is None
    assert it.game_started("abcd1234") is None
    assert it.withdraw() is None
    assert it.handle(CommandDone(it.creation, challenge()), 0.0) == Accepted(announced=True)
    assert created().game_started("abcd1234") == Accepted(announced=True)


def test_a_challenge_unwanted_before_it_exists_is_withdrawn_when_it_does() -> None:
    it = fresh()
    assert it.withdraw() is None
    assert it.handle(CommandDone(it.creation, challenge()), 1.0) == CANCEL


@pytest.mark.parametrize(
    "error", [Refused(400, "You cannot challenge yourself"), RateLimited(TIMEOUTS.rate_limit, "no")]
)
def test_a_refused_challenge_takes_no_slot(error: ApiError) -> None:
    it = fresh()
    assert it.handle(failed(it.creation, error), 1.0) == NotSent(error)


def test_a_challenge_that_was_never_sent_takes_no_slot() -> None:
    it, too_late = fresh(), Unreachable("not sent: too late to be useful")
    assert it.handle(CommandFailed(it.creation, too_late), 1.0) == NotSent(too_late)
    assert it.wake_at is None


def test_a_lost_challenge_that_may_not_be_looked_for_is_no_refusal_of_the_opponent() -> None:
    it = fresh()
    it.handle(failed(it.creation, NO_ANSWER), 1.0)
    it.tick(1.0 + RETRY_S)
    assert it.handle(failed(ReadOutgoing(), Refused(403, "Missing scope: challenge:read")), 8.0) == Lost()


def test_a_challenge_without_a_reply_is_looked_for() -> None:
    it = fresh()
    assert it.handle(failed(it.creation, NO_ANSWER), 1.0) is None
    assert it.tick(1.0 + RETRY_S) == ReadOutgoing()
    theirs, ours = challenge(target="somebody"), challenge()
    assert it.handle(CommandDone(ReadOutgoing(), (theirs, ours)), 7.0) == CANCEL


def test_a_challenge_that_is_not_found_is_over() -> None:
    it = fresh()
    it.handle(failed(it.creation, NO_ANSWER), 1.0)
    it.tick(1.0 + RETRY_S)
    assert it.handle(failed(ReadOutgoing(), NO_ANSWER), 8.0) is None
    assert it.tick(8.0 + RETRY_S) == ReadOutgoing()
    assert it.handle(CommandDone(ReadOutgoing(), ()), 14.0) == Lost()


def test_its_echo_proves_that_it_arrived() -> None:
    it = fresh()
    assert it.echo(challenge(target="somebody"), 1.0) is None
    assert it.challenge_id is None
    it.echo(challenge(), 1.0)
    assert it.challenge_id == "abcd1234"
    assert it.handle(failed(it.creation, NO_ANSWER), 2.0) is None
    assert it.wake_at == 1.0 + OPEN_S


def test_an_answer_to_a_look_that_came_too_late_changes_nothing() -> None:
    it = created()
    it.tick(OPEN_S)
    assert it.withdraw() == CANCEL
    assert it.handle(CommandDone(LOOK, challenge()), OPEN_S) is None


def test_an_answer_to_an_earlier_challenge_changes_nothing() -> None:
    it, earlier = fresh(), CancelChallenge("earlier0")
    to_another = replace(it.creation, opponent="somebody")
    assert it.handle(CommandDone(to_another, challenge(target="somebody")), 0.0) is None
    assert it.handle(failed(to_another, Refused(400, "no")), 0.0) is None
    assert it.challenge_id is None
    it = created()
    assert it.handle(CommandDone(earlier), 1.0) is None
    assert it.handle(failed(earlier, GONE), 1.0) is None
    assert it.tick(OPEN_S) == LOOK
    assert it.handle(failed(ReadChallenge("earlier0"), GONE), OPEN_S) is None


def test_a_queued_challenge_does_not_wait_for_a_lost_one_for_ever() -> None:
    it = fresh()
    assert it.handle(failed(it.creation, NO_ANSWER), 0.0) is None
    assert it.withdraw() is None
    now = 0.0
    for _ in range(2):
        now += RETRY_S
        assert it.tick(now) == ReadOutgoing()
        assert it.handle(failed(ReadOutgoing(), NO_ANSWER), now) is None
    assert it.tick(now + RETRY_S) == ReadOutgoing()
    assert it.handle(failed(ReadOutgoing(), NO_ANSWER), now + RETRY_S) == Lost(out_of_reach=True)


# Correspondence


def test_a_human_may_take_days_to_answer_a_correspondence_challenge() -> None:
    it = by_days(is_bot=False)
    assert it.handle(CommandDone(it.creation, challenge()), 0.0) == LeftOpen()
    assert by_days(is_bot=False).echo(challenge(), 0.0) == LeftOpen()
    lost = by_days(is_bot=False)
    lost.handle(failed(lost.creation, NO_ANSWER), 0.0)
    assert lost.tick(RETRY_S) == ReadOutgoing()
    assert lost.handle(CommandDone(ReadOutgoing(), (challenge(),)), RETRY_S) == LeftOpen()


def test_a_correspondence_challenge_is_withdrawn_from_a_bot_and_where_it_is_unwanted() -> None:
    bot = by_days(is_bot=True)
    assert bot.handle(CommandDone(bot.creation, challenge()), 0.0) is None
    assert bot.tick(OPEN_S) == LOOK
    unwanted = by_days(is_bot=False)
    assert unwanted.withdraw() is None
    assert unwanted.handle(CommandDone(unwanted.creation, challenge()), 0.0) == CANCEL
