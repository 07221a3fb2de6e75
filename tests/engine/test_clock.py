"""Deadlines: never over the clock, never negative, and the search keeps them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.clock import Clock, Limits, deadlines_ms
from engine.facade import Engine

times = st.integers(0, 10**8)
increments = st.integers(0, 180_000)
overheads = st.integers(0, 10_000)


@given(times, increments, st.none() | st.integers(0, 200), overheads, st.booleans())
def test_a_move_never_costs_more_than_the_clock_less_the_overhead(
    remaining: int, increment: int, moves_to_go: int | None, overhead: int, white: bool
) -> None:
    clock = {"white_time_ms": remaining, "white_increment_ms": increment}
    if not white:
        clock = {"black_time_ms": remaining, "black_increment_ms": increment}
    soft, hard = deadlines_ms(Limits(**clock, moves_to_go=moves_to_go), white, overhead)
    assert 1 <= soft <= hard <= max(1, remaining - overhead)


@given(st.integers(0, 10**6), overheads)
def test_a_fixed_time_is_used_less_the_overhead(move_time: int, overhead: int) -> None:
    soft, hard = deadlines_ms(Limits(move_time_ms=move_time), True, overhead)
    assert soft == hard == max(1, move_time - overhead)


def test_forty_moves_fit_a_clock_without_increment() -> None:
    remaining = 60_000
    for _ in range(40):
        soft, _hard = deadlines_ms(Limits(white_time_ms=remaining), True, 50)
        remaining -= soft + 50
    assert remaining > 5_000


def test_sixty_moves_that_each_cost_the_overhead_do_not_flag() -> None:
    remaining = 5_000
    for _ in range(60):
        soft, _hard = deadlines_ms(Limits(white_time_ms=remaining), True, 40)
        remaining -= soft + 40
    assert remaining > 0


@pytest.mark.parametrize("limits", [Limits(move_time_ms=150), Limits(white_time_ms=3_000, white_increment_ms=100)])
def test_a_search_keeps_its_hard_deadline(limits: Limits) -> None:
    engine = Engine(move_overhead_ms=20)
    _soft, hard = deadlines_ms(limits, True, 20)
    late = []
    for _ in range(5):
        started = time.perf_counter()
        engine.go(limits)
        late.append((time.perf_counter() - started) * 1000 - hard)
    assert sorted(late)[2] < 20


@given(times, increments, st.none() | st.integers(0, 200), overheads)
def test_a_ponder_hit_gives_the_whole_hard_deadline_from_then_on(
    remaining: int, increment: int, moves_to_go: int | None, overhead: int
) -> None:
    limits = Limits(white_time_ms=remaining, white_increment_ms=increment, moves_to_go=moves_to_go)
    clock = Clock(*deadlines_ms(limits, True, overhead), pondering=True)
    assert clock.late_ms() == 0
    clock.hit()
    assert not clock.pondering
    assert clock.late_ms() == 0


def test_an_empty_clock_still_gives_a_move() -> None:
    assert Engine().go(Limits(white_time_ms=0)).best_move is not None
