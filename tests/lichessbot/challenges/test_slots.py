from datetime import timedelta

from lichessbot.challenges.slots import Occupancy, SlotHolder, Slots
from lichessbot.config import ChallengeConfig

NOW = 1000.0
SLOT_HOLDER = SlotHolder("ferdinand", is_bot=False)


def test_a_correspondence_game_takes_no_slot_of_the_bots() -> None:
    config = ChallengeConfig(concurrency=3, games_reserved_for_humans=1)
    by_days = Occupancy((SlotHolder("rival", is_bot=True, has_clock=False),))
    with_clock = Occupancy((*by_days.holders, SlotHolder("rival", is_bot=True)))
    assert [it.free_slots(config, is_bot=True) for it in (by_days, with_clock)] == [2, 1]


def test_nothing_is_due_while_the_acceptance_is_on_its_way() -> None:
    slots = Slots(timedelta(seconds=5))
    slots.reserve("one", SLOT_HOLDER)
    assert slots.wake_at is None
    assert not slots.take_overdue(NOW + 3600)


def test_a_game_that_does_not_start_is_looked_for_before_its_slot_is_freed() -> None:
    slots = Slots(timedelta(seconds=5))
    slots.reserve("one", SLOT_HOLDER)
    slots.expect("one", NOW)
    assert not slots.take_overdue(NOW + 4.9)
    assert slots.take_overdue(NOW + 5)
    assert not slots.take_overdue(NOW + 6), "one look is enough for now"
    assert slots.free_overdue(NOW + 6) == ["one"]
    assert len(slots) == 0


def test_a_game_counts_as_unlisted_once_the_list_is_overdue_too() -> None:
    slots = Slots(timedelta(seconds=5))
    for challenge_id in ("one", "two", "three"):
        slots.reserve(challenge_id, SLOT_HOLDER)
    slots.expect("one", NOW)
    slots.doubt("two", NOW)                 # gone, as far as we know
    slots.doubt("three", NOW, likely=True)  # an attempt had no answer
    assert slots.unlisted(NOW + 60) == []
    assert slots.take_overdue(NOW + 5)
    assert slots.unlisted(NOW + 9.9) == []
    assert slots.take_overdue(NOW + 10), "the list is asked for again, which begins no new wait"
    assert slots.unlisted(NOW + 10) == ["one", "three"]


def test_a_game_that_has_hardly_begun_keeps_no_slot_once_the_list_is_overdue() -> None:
    slots = Slots(timedelta(seconds=5))
    for challenge_id in ("one", "two", "three", "under way"):
        slots.reserve(challenge_id, SLOT_HOLDER)
    slots.reserve("ours", SLOT_HOLDER, NOW)
    slots.doubt("one", NOW)
    slots.expect("two", NOW)
    slots.doubt("three", NOW, likely=True)
    assert slots.free_unlikely(NOW + 60, grace_s=0) == [], "the list was not asked for"
    assert slots.take_overdue(NOW + 5)
    assert slots.free_unlikely(NOW + 9.9, grace_s=0) == []
    assert slots.free_unlikely(NOW + 69.9, grace_s=60) == []
    assert slots.free_unlikely(NOW + 10, grace_s=0) == ["one", "ours"]
    assert slots.unlisted(NOW + 10) == ["two", "three"]
    assert len(slots) == 3


def test_a_list_requested_before_the_doubt_frees_no_slot() -> None:
    slots = Slots(timedelta(seconds=5))
    slots.reserve("one", SLOT_HOLDER)
    slots.expect("one", NOW)
    slots.take_overdue(NOW + 5)
    assert slots.free_overdue(NOW + 4) == []
    assert len(slots) == 1


def test_a_game_that_started_before_its_acceptance_was_acknowledged_keeps_no_slot() -> None:
    slots = Slots(timedelta(seconds=5))
    slots.reserve("one", SLOT_HOLDER)
    slots.free("one")
    slots.expect("one", NOW)
    assert len(slots) == 0


def test_an_unanswered_acceptance_keeps_its_slot_until_a_list() -> None:
    slots = Slots(timedelta(seconds=5))
    slots.reserve("one", SLOT_HOLDER)
    slots.doubt("one", NOW)
    assert len(slots) == 1
    assert slots.take_overdue(NOW)
    assert slots.free_overdue(NOW) == ["one"]


def test_our_own_open_challenge_takes_a_slot_until_it_is_settled() -> None:
    slots = Slots(timedelta(seconds=5))
    slots.reserve("ours", SLOT_HOLDER, NOW + 25)
    assert list(slots.holders) == [SLOT_HOLDER]
    assert not slots.take_overdue(NOW + 24)
    slots.free("ours")
    assert list(slots.holders) == []


def test_our_own_challenge_without_an_event_is_looked_for() -> None:
    slots = Slots(timedelta(seconds=5))
    slots.reserve("ours", SLOT_HOLDER, NOW + 25)
    assert slots.wake_at == NOW + 25
    assert slots.take_overdue(NOW + 25)
    assert slots.free_overdue(NOW + 26) == ["ours"]
