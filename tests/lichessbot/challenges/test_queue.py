"""Which challenges wait, in which order, and which are declined."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lichessbot.challenges.queue import ChallengeQueue, QueuedChallenge
from lichessbot.lichess.models import ANONYMOUS, ChallengeReceived
from tests.lichessbot.challenges.challengers import STRONG, WEAK, config, received

NOW = 1000.0


def waiting_until(received: ChallengeReceived, until: float = NOW) -> QueuedChallenge:
    return QueuedChallenge(received, NOW - 12, until, "challenge.concurrency = 1")


def queue_of(*challenges: ChallengeReceived) -> ChallengeQueue:
    queue = ChallengeQueue()
    for it in challenges:
        queue.add(waiting_until(it))
    return queue


def ids(waiting: list[QueuedChallenge]) -> list[str]:
    return [it.challenge.id for it in waiting]


RATED = received("rated", rating=1801, rated=True)
NEARLY = received("nearly", rating=1799, rated=True)
MASTER = received("master", rating=1802, title="FM")
EXPERT = received("expert", rating=1798, title="CM")
MACHINE = received("machine", rating=3000, title="BOT")
UNRATED = received("nobody", rating=None)


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        ({"sort_by": "first"}, "nobody weak expert nearly strong machine rated master"),
        ({}, "machine master rated strong nearly expert weak nobody"),
        ({"preference": "human"}, "master rated strong nearly expert weak nobody machine"),
        ({"preference": "bot", "sort_by": "first"}, "machine nobody weak expert nearly strong rated master"),
    ],
)
def test_the_order_is_by_kind_then_merit_or_arrival(keys: dict[str, Any], order: str) -> None:
    waiting = queue_of(UNRATED, WEAK, EXPERT, NEARLY, STRONG, MACHINE, RATED, MASTER)
    assert ids(waiting.in_order(config(**keys))) == order.split()


def test_equals_keep_the_order_in_which_they_came() -> None:
    names = [f"p{number}" for number in range(9)]
    assert ids(queue_of(*map(received, names)).in_order(config())) == names


def test_no_challenge_waits_past_its_deadline() -> None:
    waiting = queue_of(WEAK)
    waiting.add(waiting_until(STRONG, NOW + 5))
    assert waiting.wake_at == NOW
    assert ids(waiting.drop_expired(NOW)) == ["weak"]
    assert waiting.wake_at == NOW + 5
    assert ids(waiting.drop_expired(NOW + 4)) == []
    assert "strong" in waiting


def test_a_newer_challenge_of_the_same_player_takes_the_place_of_the_older() -> None:
    anonymous = WEAK.challenge.model_copy(update={"id": "anonymous", "challenger": ANONYMOUS})
    waiting = queue_of(WEAK, STRONG, WEAK.model_copy(update={"challenge": anonymous}))
    newer = WEAK.challenge.model_copy(update={"id": "newer"})
    assert [it.id for it in waiting.drop_replaced(newer)] == ["weak"]
    assert waiting.drop_replaced(anonymous.model_copy(update={"id": "another"})) == []
    assert len(waiting) == 2


def test_no_more_challenges_are_queued_than_slots_and_the_best_stay() -> None:
    waiting = queue_of(STRONG, WEAK, MASTER)
    assert ids(waiting.drop_hopeless(config(concurrency=2))) == ["weak"]
    assert ids(waiting.in_order(config())) == ["master", "strong"]


def test_bots_are_not_queued_for_slots_reserved_for_humans() -> None:
    machines = [received(f"m{number}", title="BOT") for number in range(3)]
    waiting = queue_of(*machines, WEAK)
    assert ids(waiting.drop_hopeless(config(concurrency=3, games_reserved_for_humans=2))) == ["m2", "m1"]


_CHALLENGES = st.lists(
    st.builds(
        received,
        st.from_regex(r"[a-z]{8}", fullmatch=True),
        rating=st.one_of(st.none(), st.integers(400, 4000)),
        title=st.sampled_from([None, "GM", "BOT"]),
        rated=st.booleans(),
    ),
    unique_by=lambda it: it.challenge.id,
    max_size=12,
)


@given(challenges=_CHALLENGES, slots=st.integers(1, 4), reserved=st.integers(0, 4))
def test_every_queued_challenge_could_start_if_every_game_ended(
    challenges: list[ChallengeReceived], slots: int, reserved: int
) -> None:
    rules = config(concurrency=slots, games_reserved_for_humans=min(slots, reserved))
    waiting = queue_of(*challenges)
    before = ids(waiting.in_order(rules))
    gone = ids(waiting.drop_hopeless(rules))
    after = waiting.in_order(rules)
    bots = sum(it.challenge.challenger.is_bot for it in after)
    assert len(after) <= slots
    assert bots <= slots - min(slots, reserved)
    assert ids(after) == [it for it in before if it not in gone]
    humans = [it for it in challenges if not it.challenge.challenger.is_bot]
    assert len(after) == min(slots, len(humans) + min(len(challenges) - len(humans), slots - min(slots, reserved)))


def test_a_challenge_leaves_once() -> None:
    waiting = queue_of(WEAK)
    assert waiting.drop("weak")
    assert not waiting.drop("weak")
    assert waiting.wake_at is None
