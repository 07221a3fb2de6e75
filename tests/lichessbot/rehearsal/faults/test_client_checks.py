"""What a client may do: its moves, and its requests after a 429."""

from dataclasses import replace

import pytest

from lichessbot.rehearsal.faults.client_checks import ALLOWED_IN_WINDOW, UNDER_WAY_MS, ClientChecks, Situation
from lichessbot.rehearsal.faults.traffic import Place, Traffic
from lichessbot.rehearsal.rules.timing import Timing

TO_MOVE = Situation(
    bot_is_on_turn=True, draw_is_pending=False, last_own_move="g1f3", last_change_ms=1000, ended_ms=None, refused=False
)
NOT_TO_MOVE = replace(TO_MOVE, bot_is_on_turn=False, refused=True)
LATER_MS = 5000
NEVER_MS = 10**9
LATER = "carried out, 4000 ms into it"
TWO_MOVES = f"game game: c2c4 ({LATER}) after d2d4 ({LATER}) for the same position ("


class Excuses:
    """One thing of each kind went wrong at most, then."""

    def __init__(self, *, trouble: bool, lost_ms: int, spoilt_ms: int, cut_off_ms: int) -> None:
        self._trouble = trouble
        self._lost_ms = lost_ms
        self._spoilt_ms = spoilt_ms
        self._cut_off_ms = cut_off_ms

    def struck_since(self, game_id: str, since_ms: int) -> bool:
        return self._trouble

    def is_cut_off(self, game_id: str, by_ms: int) -> bool:
        return self._cut_off_ms < by_ms

    def is_spoilt(self, game_id: str, since_ms: int, until_ms: int) -> bool:
        return since_ms <= self._spoilt_ms <= until_ms

    def lost_between(self, traffic: Traffic, since_ms: int, until_ms: int) -> bool:
        return since_ms <= self._lost_ms <= until_ms


def checks(
    *, trouble: bool = False, lost_ms: int = NEVER_MS, spoilt_ms: int = NEVER_MS, cut_off_ms: int = NEVER_MS
) -> ClientChecks:
    return ClientChecks(Timing(), Excuses(trouble=trouble, lost_ms=lost_ms, spoilt_ms=spoilt_ms, cut_off_ms=cut_off_ms))


def move(uci: str) -> Traffic:
    return Traffic(Place.MOVE, "game", uci)


def test_moves_that_are_played_are_no_offence() -> None:
    it = checks()
    it.hear_move(move("e2e4"), TO_MOVE, LATER_MS)
    it.hear_move(move("d2d4"), replace(TO_MOVE, last_own_move="e2e4", last_change_ms=2000), LATER_MS)
    assert it.offences == []


def test_illegal_move_is_an_offence_whatever_went_wrong_before() -> None:
    it = checks(trouble=True)
    it.hear_move(move("e2e5"), replace(TO_MOVE, refused=True), LATER_MS)
    assert it.offences == ["game game: e2e5 is illegal 4000 ms into its position"]


@pytest.mark.parametrize(
    ("trouble", "late_ms", "is_offence"),
    [(True, UNDER_WAY_MS - 1, False), (True, UNDER_WAY_MS, True), (False, UNDER_WAY_MS - 1, True), (False, 0, True)],
)
def test_move_that_a_fault_made_illegal_under_way_is_no_offence(
    trouble: bool, late_ms: int, is_offence: bool
) -> None:
    it = checks(trouble=trouble)
    it.hear_move(move("e2e5"), replace(TO_MOVE, refused=True), TO_MOVE.last_change_ms + late_ms)
    told = f"game game: e2e5 is illegal {late_ms} ms into its position"
    assert it.offences == ([told] if is_offence else [])


@pytest.mark.parametrize(("late_ms", "is_offence"), [(-500, False), (UNDER_WAY_MS - 1, False), (UNDER_WAY_MS, True)])
def test_move_is_no_offence_in_a_position_that_a_broken_stream_could_not_tell(late_ms: int, is_offence: bool) -> None:
    it = checks(trouble=True, cut_off_ms=TO_MOVE.last_change_ms + late_ms)
    it.hear_move(move("e2e5"), replace(TO_MOVE, refused=True), LATER_MS)
    assert bool(it.offences) == is_offence


@pytest.mark.parametrize(
    ("spoilt_after_ms", "is_offence"),
    [(-UNDER_WAY_MS - 1, True), (-UNDER_WAY_MS, False), (UNDER_WAY_MS, False), (UNDER_WAY_MS + 1, True)],
)
def test_move_is_no_offence_in_a_position_whose_line_was_spoilt_until_the_game_is_read_anew(
    spoilt_after_ms: int, is_offence: bool
) -> None:
    it = checks(trouble=True, spoilt_ms=TO_MOVE.last_change_ms + spoilt_after_ms)
    it.hear(Traffic(Place.GAME_STREAM, "game"), TO_MOVE.last_change_ms)
    it.hear_move(move("e2e5"), replace(TO_MOVE, refused=True), LATER_MS)
    assert bool(it.offences) == is_offence
    it.hear(Traffic(Place.GAME_STREAM, "game"), LATER_MS)
    it.hear_move(move("d2d5"), replace(TO_MOVE, refused=True), LATER_MS + UNDER_WAY_MS)
    assert "d2d5 is illegal" in it.offences[-1]


SLOW_MS = round(1000 * Timing().slow_headers_s)


@pytest.mark.parametrize(
    ("late_ms", "is_offence"), [(SLOW_MS + UNDER_WAY_MS - 1, False), (SLOW_MS + UNDER_WAY_MS, True)]
)
def test_move_is_no_offence_in_a_position_whose_line_still_trickles_in(late_ms: int, is_offence: bool) -> None:
    it = checks(trouble=True, lost_ms=TO_MOVE.last_change_ms)
    it.hear_move(move("e2e5"), replace(TO_MOVE, refused=True), TO_MOVE.last_change_ms + late_ms)
    assert bool(it.offences) == is_offence


def test_move_repeated_after_a_takeback_nobody_was_told_of_is_an_offence_only_once_the_game_was_read_anew() -> None:
    it = checks(trouble=True)
    it.hear_move(move("e2e5"), NOT_TO_MOVE, LATER_MS)
    other = replace(TO_MOVE, last_change_ms=2000, refused=True)
    it.hear_move(move("e2e5"), other, LATER_MS)
    it.hear_move(move("e2e5"), other, LATER_MS)
    assert it.offences == []
    it.hear(Traffic(Place.GAME_STREAM, "game"), LATER_MS)
    it.hear_move(move("e2e5"), other, LATER_MS + UNDER_WAY_MS - 1)
    assert it.offences == [], "it may have been on its way before"
    it.hear(Traffic(Place.GAME_STREAM, "game"), LATER_MS)
    it.hear_move(move("e2e5"), other, LATER_MS + UNDER_WAY_MS)
    (offence,) = it.offences
    assert offence.startswith(f"game game: e2e5 is illegal {3000 + UNDER_WAY_MS} ms into its position (")
    assert offence.endswith("e2e5 refused 1 ms before, the game read 300 ms before)"), "that helps to find the reason"


@pytest.mark.parametrize(
    ("trouble", "late_ms", "is_offence"),
    [(True, UNDER_WAY_MS - 1, False), (True, UNDER_WAY_MS, True), (False, 0, True)],
)
def test_move_refused_while_the_game_is_read_anew_had_been_sent_before(
    trouble: bool, late_ms: int, is_offence: bool
) -> None:
    it = checks(trouble=trouble)
    it.hear(Traffic(Place.GAME_STREAM, "game"), LATER_MS)
    it.hear_move(move("d2d4"), replace(NOT_TO_MOVE, last_change_ms=LATER_MS - UNDER_WAY_MS), LATER_MS + late_ms)
    it.hear_move(move("c2c4"), replace(TO_MOVE, last_change_ms=LATER_MS - UNDER_WAY_MS), LATER_MS + 1000)
    assert any("for the same position" in offence for offence in it.offences) == is_offence


def test_move_that_a_fault_answers_while_the_game_is_read_anew_had_been_sent_before() -> None:
    it = checks(trouble=True)
    it.hear(Traffic(Place.GAME_STREAM, "game"), LATER_MS)
    it.hear_move(move("d2d4"), TO_MOVE, LATER_MS + UNDER_WAY_MS - 1)
    it.hear_move(move("c2c4"), TO_MOVE, LATER_MS + UNDER_WAY_MS)
    assert it.offences == []


@pytest.mark.parametrize(
    ("lost", "read_ms", "is_offence"), [(True, 1100, False), (False, 1100, True), (True, 600, True)]
)
def test_move_for_a_position_that_a_reading_under_way_will_tell_of(lost: bool, read_ms: int, is_offence: bool) -> None:
    it = checks(lost_ms=read_ms if lost else NEVER_MS)
    it.hear(Traffic(Place.GAME_STREAM, "game"), read_ms)
    it.hear_move(move("d2d4"), replace(TO_MOVE, refused=True), LATER_MS)
    assert any("d2d4 is illegal" in offence for offence in it.offences) == is_offence
    it.hear_move(move("c2c4"), TO_MOVE, LATER_MS)
    assert any("for the same position" in offence for offence in it.offences) == is_offence


def test_move_that_came_too_late_for_its_position_is_no_try_in_the_next() -> None:
    it = checks(trouble=True)
    it.hear_move(move("e2e5"), replace(TO_MOVE, refused=True), TO_MOVE.last_change_ms + UNDER_WAY_MS - 1)
    it.hear_move(move("d2d4"), TO_MOVE, LATER_MS)
    assert it.offences == []
    it.hear_move(move("c2c4"), TO_MOVE, LATER_MS)
    assert it.offences == [TWO_MOVES + "e2e5 refused 3701 ms before, d2d4 carried out 0 ms before)"]


def test_move_again_is_an_offence_unless_its_answer_may_have_been_lost() -> None:
    blamed, excused = checks(), checks(trouble=True)
    for it in (blamed, excused):
        it.hear_move(move("g1f3"), NOT_TO_MOVE, LATER_MS)
    assert blamed.offences == ["game game: g1f3 is doubled"]
    assert excused.offences == []


def test_move_that_crosses_a_takeback_or_the_end_is_no_offence() -> None:
    it = checks()
    it.hear_move(move("e2e4"), NOT_TO_MOVE, NOT_TO_MOVE.last_change_ms + UNDER_WAY_MS - 1)
    assert it.offences == []
    it.hear_move(move("e2e4"), NOT_TO_MOVE, NOT_TO_MOVE.last_change_ms + UNDER_WAY_MS)
    assert it.offences == ["game game: e2e4 is out of turn"]


def test_move_into_a_draw_that_nobody_has_told_of_is_no_offence() -> None:
    it = checks()
    pending = replace(NOT_TO_MOVE, draw_is_pending=True)
    it.hear_move(move("e2e4"), pending, pending.last_change_ms + 100 * UNDER_WAY_MS)
    assert it.offences == []


def test_two_moves_for_one_position_are_an_offence_unless_the_game_was_read_in_between() -> None:
    it = checks(trouble=True)
    it.hear_move(move("e2e4"), TO_MOVE, LATER_MS - UNDER_WAY_MS)
    it.hear(Traffic(Place.GAME_STREAM, "game"), LATER_MS - UNDER_WAY_MS)
    it.hear_move(move("d2d4"), TO_MOVE, LATER_MS)
    assert it.offences == []
    it.hear_move(move("c2c4"), TO_MOVE, LATER_MS)
    history = "e2e4 carried out 300 ms before, the game read 300 ms before, d2d4 carried out 0 ms before)"
    assert it.offences == [TWO_MOVES + history], "that helps to find the reason"


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
    it = checks()
    it.was_limited(Traffic(Place.PLAYING), 60, 0)
    it.hear(Traffic(place, "game"), late_ms)
    assert bool(it.offences) is is_offence


def test_pause_that_was_never_heard_of_cannot_be_broken() -> None:
    it = checks(lost_ms=1)
    it.was_limited(Traffic(Place.PLAYING), 60, 0)
    it.hear(Traffic(Place.ACCEPT, "game"), 30_000)
    assert it.offences == []


def test_longest_pause_counts() -> None:
    it = checks()
    it.was_limited(Traffic(Place.PLAYING), 60, 0)
    it.was_limited(Traffic(Place.PLAYING), 1, 10_000)
    it.hear(Traffic(Place.ACCEPT, "game"), 50_000)
    assert len(it.offences) == 1


@pytest.mark.parametrize("place", [Place.EVENT_STREAM, Place.ACCOUNT])
def test_thirty_requests_are_allowed_in_the_window_of_the_contract(place: Place) -> None:
    it = checks()
    for number in range(ALLOWED_IN_WINDOW):
        it.hear(Traffic(place), number)
    assert it.offences == []
    it.hear(Traffic(place), ALLOWED_IN_WINDOW)
    assert len(it.offences) == 1


def test_window_slides() -> None:
    it = checks()
    for number in range(10 * ALLOWED_IN_WINDOW):
        it.hear(Traffic(Place.EVENT_STREAM), number * 21_000)
    assert it.offences == []
