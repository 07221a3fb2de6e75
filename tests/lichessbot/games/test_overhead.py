import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lichessbot.config import EngineConfig
from lichessbot.games.time_budget import MoveOverhead

CONFIG = EngineConfig(
    move_overhead_ms=200, move_overhead_percentile=90, min_move_overhead_ms=20, max_move_overhead_ms=1000
)


def test_until_enough_is_known_the_configured_overhead_holds() -> None:
    assert MoveOverhead([50.0] * 19).now_ms(CONFIG) == 200
    assert MoveOverhead([50.0] * 20).now_ms(CONFIG) == 50


def test_the_percentile_of_the_round_trips_is_kept_back() -> None:
    assert MoveOverhead([float(ms) for ms in range(1, 101)]).now_ms(CONFIG) == 90
    slow_sometimes = MoveOverhead([50.0] * 95 + [900.0] * 5)
    assert slow_sometimes.now_ms(CONFIG) == 50
    assert slow_sometimes.now_ms(CONFIG.model_copy(update={"move_overhead_percentile": 99})) == 900


def test_old_round_trips_are_forgotten() -> None:
    overhead = MoveOverhead([900.0] * 500)
    for _ in range(200):
        overhead.note(40.2)
    assert overhead.now_ms(CONFIG) == 41


@pytest.mark.parametrize(("ms", "expected"), [(0.4, 20), (30_000.0, 1000)])
def test_the_bounds_hold_whatever_is_measured(ms: float, expected: int) -> None:
    assert MoveOverhead([ms] * 50).now_ms(CONFIG) == expected


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(st.floats(0, 1e6), max_size=300), st.integers(50, 100))
def test_the_overhead_is_always_within_its_bounds(round_trips: list[float], percentile: int) -> None:
    config = CONFIG.model_copy(update={"move_overhead_percentile": percentile})
    assert 20 <= MoveOverhead(round_trips).now_ms(config) <= 1000
