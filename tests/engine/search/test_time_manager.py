"""Deadlines never exceed the clock and are never negative, and the search keeps them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core import params
from engine.facade import Board, Engine
from engine.search.time_manager import FOREVER_US, LEAST_US, Limits, TimeManager, deadlines_us, moves_left, soft_percent

times = st.integers(0, 10**8)
increments = st.integers(0, 180_000)
overheads = st.integers(0, 10_000)
MOVES = 18


@given(times, increments, st.none() | st.integers(0, 200), overheads, st.booleans())
def test_a_move_never_costs_more_than_the_clock_less_the_overhead(
    remaining: int, increment: int, moves_to_go: int | None, overhead: int, white: bool
) -> None:
    clock = {"white_time_ms": remaining, "white_increment_ms": increment}
    if not white:
        clock = {"black_time_ms": remaining, "black_increment_ms": increment}
    soft, hard = deadlines_us(Limits(**clock, moves_to_go=moves_to_go), white, overhead, MOVES)
    assert LEAST_US <= soft <= hard <= max(LEAST_US, (remaining - overhead) * 1000)


def test_the_last_move_before_more_time_comes_leaves_a_reserve() -> None:
    """A busy machine may hold the engine up for longer than its overhead."""
    for remaining in (300, 1000, 60_000):
        _soft, hard = deadlines_us(Limits(white_time_ms=remaining, moves_to_go=1), True, 10, MOVES)
        assert hard == (remaining - 10) * 800


@given(st.integers(0, 10**6), overheads)
def test_a_fixed_time_is_used_less_the_overhead_but_at_least_half_of_it(move_time: int, overhead: int) -> None:
    soft, hard = deadlines_us(Limits(move_time_ms=move_time), True, overhead, MOVES)
    assert soft == hard == max(LEAST_US, move_time * 500, (move_time - overhead) * 1000)


@given(st.integers(0, 10**6), st.integers(0, 10**6), overheads)
def test_a_fixed_time_is_never_more_than_a_clock_allows(move_time: int, remaining: int, overhead: int) -> None:
    fixed, clock = Limits(move_time_ms=move_time), Limits(black_time_ms=remaining)
    least = min(deadlines_us(limits, False, overhead, MOVES)[1] for limits in (fixed, clock))
    assert deadlines_us(clock._replace(move_time_ms=move_time), False, overhead, MOVES) == (least, least)


def test_the_increments_to_come_count_but_the_one_after_the_last_move() -> None:
    soft, hard = deadlines_us(Limits(white_time_ms=60_000, white_increment_ms=600), True, 10, MOVES)
    assert soft == (60_000 + 17 * 600 - 18 * 10) * 1000 // 18
    assert hard == 4 * soft


@pytest.mark.parametrize("increment", [None, 600])
def test_black_gets_as_much_time_as_white(increment: int | None) -> None:
    white = Limits(white_time_ms=60_000, white_increment_ms=increment)
    black = Limits(black_time_ms=60_000, black_increment_ms=increment)
    assert deadlines_us(black, False, 10, MOVES) == deadlines_us(white, True, 10, MOVES)


def test_an_infinite_search_has_no_deadline_whatever_the_clock() -> None:
    assert deadlines_us(Limits(white_time_ms=1000, infinite=True), True, 10, MOVES) == (FOREVER_US, FOREVER_US)


def test_a_far_control_counts_as_none() -> None:
    far, none = Limits(white_time_ms=60_000, moves_to_go=100), Limits(white_time_ms=60_000)
    assert deadlines_us(far, True, 10, MOVES) == deadlines_us(none, True, 10, MOVES)


def test_a_fixed_time_is_used_whatever_the_search_finds() -> None:
    assert not TimeManager(FOREVER_US, FOREVER_US).too_late_for_another_depth(0)


def test_a_ponder_search_has_no_deadline_before_the_hit_and_all_of_it_from_then_on() -> None:
    time_manager = TimeManager(1000, 1000, pondering=True)
    time.sleep(0.02)
    assert time_manager.late_ms() == 0
    before_us = time.monotonic_ns() // 1000
    time_manager.ponder_hit()
    late_ms = time_manager.late_ms()
    assert late_ms <= max(0, time.monotonic_ns() // 1000 - before_us - 1000) // 1000


def test_a_ponder_hit_before_the_first_depth_does_not_end_the_search() -> None:
    search = Engine().begin(Limits(depth=3, ponder=True))
    search.ponder_hit()
    assert search.run().report.depth == 3


def test_forty_moves_fit_a_clock_without_increment() -> None:
    remaining = 60_000
    for _ in range(40):
        soft, _hard = deadlines_us(Limits(white_time_ms=remaining), True, 50, MOVES)
        remaining -= soft // 1000 + 50
    assert remaining > 5_000


def test_sixty_moves_that_each_cost_the_overhead_do_not_flag() -> None:
    remaining = 5_000
    for _ in range(60):
        soft, _hard = deadlines_us(Limits(white_time_ms=remaining), True, 40, MOVES)
        remaining -= soft // 1000 + 40
    assert remaining > 0


def test_two_hundred_moves_fit_a_clock_too_short_for_their_overhead() -> None:
    """Each move costs less overhead than was reserved."""
    remaining_us = 200_000
    for _ in range(200):
        soft, hard = deadlines_us(Limits(white_time_ms=remaining_us // 1000), True, 10, MOVES)
        assert soft == hard
        remaining_us -= hard + 300
    assert remaining_us > 0


@pytest.mark.parametrize("increment", [100, 1000, 2000])
def test_three_hundred_moves_fit_a_clock_whose_increment_pays_for_the_overhead(increment: int) -> None:
    remaining = 60 * increment
    for _ in range(300):
        limits = Limits(white_time_ms=remaining, white_increment_ms=increment)
        soft, _hard = deadlines_us(limits, True, increment - 1, MOVES)
        remaining += increment - soft // 1000 - (increment - 1)
        assert remaining > 0


@pytest.mark.parametrize(
    "limits",
    [
        Limits(white_time_ms=1000, white_increment_ms=1000),
        Limits(white_time_ms=1000, moves_to_go=2),
        Limits(white_time_ms=500, moves_to_go=1),
    ],
    ids=["nothing but the increment", "two moves to go", "the last move of a period"],
)
def test_the_soft_deadline_of_an_ample_clock_adapts_too(limits: Limits) -> None:
    soft, hard = deadlines_us(limits, True, 10, MOVES)
    whole_s = soft * params.NEXT_DEPTH_PERCENT / 1e8
    for _ in range(50):
        began = time.monotonic()
        time_manager = TimeManager(soft, hard)
        time.sleep(0.55 * whole_s)
        is_too_late = [time_manager.too_late_for_another_depth(percent) for percent in (50, 100)]
        if time.monotonic() - began < whole_s:      # else a busy machine let it oversleep
            break
    assert is_too_late == [True, False]


def test_more_moves_are_expected_with_many_pieces_and_early_in_the_game() -> None:
    assert moves_left(32, 1) == 49
    assert moves_left(20, 1) < moves_left(32, 1)
    assert moves_left(32, 20) < moves_left(32, 1)
    assert moves_left(3, 60) == params.LEAST_MOVES_LEFT


def test_a_clock_without_an_increment_is_spent_more_slowly() -> None:
    bare, _hard = deadlines_us(Limits(white_time_ms=60_000), True, 100, MOVES)
    unpaid, _hard = deadlines_us(Limits(white_time_ms=60_000, white_increment_ms=100), True, 100, MOVES)
    paid, _hard = deadlines_us(Limits(white_time_ms=60_000, white_increment_ms=101), True, 100, MOVES)
    assert bare < unpaid < paid / 1.3


@pytest.mark.parametrize("limits", [Limits(move_time_ms=150), Limits(white_time_ms=3_000, white_increment_ms=100)])
def test_a_search_keeps_its_hard_deadline(limits: Limits) -> None:
    engine = Engine(move_overhead_ms=20)
    _soft, hard = deadlines_us(limits, True, 20, MOVES)
    late = []
    for _ in range(5):
        started = time.thread_time()    # what others take of the processor is not the search's fault
        engine.go(limits)
        late.append((time.thread_time() - started) * 1000 - hard / 1000)
    assert sorted(late)[2] < 20


depths, scores, shares = st.integers(0, 60), st.integers(-32000, 32000), st.integers(0, 100)


@given(depths, scores, shares)
def test_the_soft_deadline_adapts_within_its_limits(steady: int, drop: int, share: int) -> None:
    assert params.SOFT_PERCENT_MIN <= soft_percent(steady, drop, share) <= params.SOFT_PERCENT_MAX


@given(depths, scores, shares)
def test_a_stable_better_and_clearer_move_takes_no_more_time(steady: int, drop: int, share: int) -> None:
    bend = soft_percent(steady, drop, share)
    assert soft_percent(steady + 1, drop, share) <= bend
    assert soft_percent(steady, drop - 1, share) <= bend
    assert soft_percent(steady, drop, min(100, share + 1)) <= bend


def test_an_unstable_best_move_takes_more_time_than_a_stable_one() -> None:
    assert soft_percent(0, 60, 20) > 150
    assert soft_percent(10, -20, 95) < 80
    assert soft_percent(10, 1000, 95) == soft_percent(10, params.SCORE_TREND_LIMIT, 95)


@given(times, increments, st.none() | st.integers(0, 200), overheads)
def test_a_ponder_hit_gives_the_whole_hard_deadline_from_then_on(
    remaining: int, increment: int, moves_to_go: int | None, overhead: int
) -> None:
    limits = Limits(white_time_ms=remaining, white_increment_ms=increment, moves_to_go=moves_to_go)
    time_manager = TimeManager(*deadlines_us(limits, True, overhead, MOVES), pondering=True)
    assert time_manager.late_ms() == 0
    _, hard = deadlines_us(limits, True, overhead, MOVES)
    before_us = time.monotonic_ns() // 1000
    time_manager.ponder_hit()
    assert not time_manager.pondering
    late_ms = time_manager.late_ms()
    assert late_ms <= max(0, time.monotonic_ns() // 1000 - before_us - hard) // 1000


def test_an_adapted_deadline_never_exceeds_the_hard_one() -> None:
    """The search is stopped at the hard deadline."""
    engine = Engine(move_overhead_ms=0)
    limits = Limits(white_time_ms=600)
    _soft, hard = deadlines_us(limits, True, 0, MOVES)
    for _ in range(5):
        started = time.thread_time()
        engine.go(limits)
        assert (time.thread_time() - started) * 1000 < hard / 1000 + 50


def test_an_empty_clock_still_gives_a_move() -> None:
    assert Engine().go(Limits(white_time_ms=0)).best_move is not None


def test_no_time_before_a_search_is_spent_on_reading_its_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """With full pockets in crazyhouse that took 20 ms and more, before the search's clock started."""
    engine = Engine()
    engine.set_position(Board("4k3/8/8/8/8/8/8/4K3/QRNBPqnbpr w - - 0 1", variant="crazyhouse"))
    monkeypatch.delattr(Board, "parse")
    assert engine.go(Limits(white_time_ms=10)).best_move is not None
