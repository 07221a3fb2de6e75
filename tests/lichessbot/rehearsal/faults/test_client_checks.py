"""What a client may do: its moves, and its requests after a 429."""

from dataclasses import replace

import pytest

from lichessbot.rehearsal.faults.client_checks import UNDER_WAY_MS, Arrival, ClientChecks
from lichessbot.rehearsal.faults.traffic import Place, Traffic, request_traffic
from lichessbot.rehearsal.rules.quotas import REQUESTS_PER_WINDOW
from lichessbot.rehearsal.rules.timing import Timing

KNIGHT = Arrival("game", "g1f3", position_ms=1000, is_legal=True, was_legal=True)
PAWN = replace(KNIGHT, uci="d2d4")
STALE = replace(PAWN, is_legal=False)
ILLEGAL = replace(STALE, uci="e2e5", was_legal=False)
LATER_MS = 5000


def offences(*moves: tuple[Arrival, bool, int], slips_allowed: int = 0) -> list[str]:
    """Check moves, each with whether it was refused and when it came."""
    it = ClientChecks(Timing())
    for move, is_refused, now_ms in moves:
        it.hear_move(move, now_ms, is_refused=is_refused, slips_allowed=slips_allowed)
    return it.offences


def test_moves_of_different_positions_are_no_offence() -> None:
    assert offences((KNIGHT, False, LATER_MS), (replace(PAWN, position_ms=2000), False, LATER_MS)) == []


@pytest.mark.parametrize("is_refused", [True, False])
def test_a_move_that_was_never_legal_is_always_an_offence(is_refused: bool) -> None:
    (offence,) = offences((ILLEGAL, is_refused, 1001), slips_allowed=9)
    assert offence == "game game: e2e5 is illegal 1 ms into its position"


@pytest.mark.parametrize(("late_ms", "is_offence"), [(UNDER_WAY_MS - 1, False), (UNDER_WAY_MS, True)])
def test_refused_move_is_an_offence_unless_it_was_under_way_when_the_position_came(
    late_ms: int, is_offence: bool
) -> None:
    assert bool(offences((STALE, True, STALE.position_ms + late_ms))) is is_offence


def test_each_fault_takeback_or_end_explains_one_late_move() -> None:
    late = (STALE, True, LATER_MS)
    assert offences(late, late, slips_allowed=2) == []
    (offence,) = offences(late, late, late, slips_allowed=2)
    assert offence.startswith("game game: d2d4 is late or doubled, 4000 ms into its position (d2d4 refused 0 ms before")


def test_each_lost_answer_to_a_move_explains_one_repetition_of_this_move() -> None:
    it = ClientChecks(Timing())
    it.answer_lost(Traffic(Place.MOVE, "other", STALE.uci))
    it.answer_lost(Traffic(Place.MOVE, STALE.game_id, KNIGHT.uci))
    it.answer_lost(Traffic(Place.CHAT, STALE.game_id))
    it.answer_lost(Traffic(Place.MOVE, STALE.game_id, STALE.uci))
    it.hear_move(PAWN, LATER_MS, is_refused=False, slips_allowed=0)
    it.hear_move(STALE, LATER_MS, is_refused=True, slips_allowed=0)
    assert it.offences == []
    it.hear_move(STALE, LATER_MS, is_refused=True, slips_allowed=0)
    assert len(it.offences) == 1


def test_two_moves_for_one_position_are_an_offence() -> None:
    (offence,) = offences((KNIGHT, False, LATER_MS), (PAWN, False, LATER_MS + 7))
    assert offence == "game game: d2d4 after g1f3 for the same position (g1f3 carried out 7 ms before)"


def test_two_moves_for_one_position_are_no_offence_if_one_repeats_the_other_or_is_stale() -> None:
    assert offences((KNIGHT, False, LATER_MS), (replace(KNIGHT, position_ms=2000), False, LATER_MS)) == []
    assert offences((STALE, True, 1000), (KNIGHT, False, LATER_MS)) == []


def test_another_move_is_no_offence_after_the_game_was_read_again() -> None:
    it = ClientChecks(Timing())
    it.hear_move(KNIGHT, LATER_MS, is_refused=False, slips_allowed=0)
    it.hear(Traffic(Place.GAME_STREAM, "game"), LATER_MS)
    it.hear_move(PAWN, LATER_MS, is_refused=False, slips_allowed=0)
    assert it.offences == []


@pytest.mark.parametrize(
    ("place", "late_ms", "is_offence"),
    [
        (Place.ACCEPT, 30_000, True),
        (Place.PLAYING, 59_900, True),
        (Place.PLAYING, 60_100, False),
        (Place.EVENT_STREAM, 1_000, True),
        (Place.ACCEPT, UNDER_WAY_MS, False),        # it was under way
        (Place.MOVE, 1_000, False),                 # a clock is running
        (Place.GAME_STREAM, 1_000, False),
    ],
)
def test_for_a_minute_after_a_429_there_are_only_moves(place: Place, late_ms: int, is_offence: bool) -> None:
    it = ClientChecks(Timing())
    it.was_limited(Traffic(Place.PLAYING), 60, 0)
    it.hear(Traffic(place, "game"), late_ms)
    assert bool(it.offences) is is_offence


@pytest.mark.parametrize(
    ("arrived_ms", "read_ms", "is_offence"),
    [
        (UNDER_WAY_MS, 30_000, False),
        (UNDER_WAY_MS + 1, 30_000, True),
        (59_999, 60_000, False),                    # the kernel counts in ticks of some milliseconds
    ],
)
def test_a_request_that_waited_to_be_read_is_no_offence_at_either_end_of_the_pause(
    arrived_ms: int, read_ms: int, is_offence: bool
) -> None:
    it = ClientChecks(Timing())
    it.was_limited(Traffic(Place.PLAYING), 60, 0)
    it.hear(Traffic(Place.ACCEPT, "game"), read_ms, arrived_ms)
    assert bool(it.offences) is is_offence


def test_a_pause_binds_only_a_client_that_got_the_answer() -> None:
    it = ClientChecks(Timing())
    it.was_limited(Traffic(Place.PLAYING), 60, 0)
    it.answer_lost(Traffic(Place.ACCOUNT))
    it.hear(Traffic(Place.ACCEPT, "game"), 30_000)
    assert len(it.offences) == 1
    it.answer_lost(Traffic(Place.PLAYING))
    it.hear(Traffic(Place.DECLINE, "game"), 31_000)
    assert len(it.offences) == 1


def test_a_request_in_a_pause_is_told_with_the_429_that_asked_for_it() -> None:
    it = ClientChecks(Timing())
    it.was_limited(request_traffic("POST", "/api/token/test"), 60, 0)
    it.was_limited(Traffic(Place.ACCOUNT), 60, 100)
    it.hear(request_traffic("GET", "/api/users/nobody?trophies=1"), 5_000)
    told = "5000 ms into the pause of 60 s that a 429 (POST /api/token/test) asks for"
    assert it.offences == [f"a request (GET /api/users/nobody) {told}"]


def test_longest_pause_counts() -> None:
    it = ClientChecks(Timing())
    it.was_limited(Traffic(Place.PLAYING), 60, 0)
    it.was_limited(Traffic(Place.PLAYING), 1, 10_000)
    it.hear(Traffic(Place.ACCEPT, "game"), 50_000)
    assert len(it.offences) == 1


@pytest.mark.parametrize("place", [Place.EVENT_STREAM, Place.ACCOUNT])
def test_thirty_requests_are_allowed_in_the_window_of_the_contract(place: Place) -> None:
    it = ClientChecks(Timing())
    for number in range(REQUESTS_PER_WINDOW):
        it.hear(Traffic(place), number)
    assert it.offences == []
    it.hear(Traffic(place), REQUESTS_PER_WINDOW)
    assert len(it.offences) == 1


def test_window_slides() -> None:
    it = ClientChecks(Timing())
    for number in range(10 * REQUESTS_PER_WINDOW):
        it.hear(Traffic(Place.EVENT_STREAM), number * 21_000)
    assert it.offences == []
