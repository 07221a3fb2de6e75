"""The move overhead: measured round trips, and what our clock loses on the way."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lichessbot.config import EngineConfig
from lichessbot.games.time_budget import GameClock, MoveOverhead
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import GameState
from lichessbot.timeouts import Timeouts

CONFIG = EngineConfig(
    move_overhead_ms=200, move_overhead_percentile=90, min_move_overhead_ms=20, max_move_overhead_ms=1000
)


def test_until_enough_is_known_the_configured_overhead_holds() -> None:
    assert MoveOverhead([50.0] * 19).now_ms(CONFIG) == 200
    assert MoveOverhead([50.0] * 20).now_ms(CONFIG) == 50


@pytest.mark.parametrize(
    ("round_trips", "expected"),
    [([], 200), ([800.0], 800), ([1640.0, 820.0, 810.0], 820), ([9000.0] * 3, 1000), ([50.0, 50.0, 900.0], 200)],
    ids=["none", "one", "the first opened the connection", "at most the maximum", "one slow answer"],
)
def test_the_median_of_a_few_round_trips_counts_if_it_is_more_than_configured(
    round_trips: list[float], expected: int
) -> None:
    """A game of 3 s + 1 s over a satellite was lost on time before 20 round trips were known."""
    assert MoveOverhead(round_trips).now_ms(CONFIG) == expected


def test_a_configured_overhead_beyond_the_maximum_holds_until_enough_is_known() -> None:
    assert MoveOverhead([50.0]).now_ms(CONFIG.model_copy(update={"move_overhead_ms": 3000})) == 3000


def test_a_late_stream_counts_as_a_long_round_trip() -> None:
    overhead = MoveOverhead([50.0] * 20)
    overhead.note_lag(20.0)
    assert overhead.now_ms(CONFIG.model_copy(update={"move_overhead_percentile": 100})) == 50
    overhead.note_lag(950.2)
    assert overhead.now_ms(CONFIG.model_copy(update={"move_overhead_percentile": 100})) == 951


def test_a_lag_before_the_first_round_trip_is_ignored() -> None:
    overhead = MoveOverhead([])
    overhead.note_lag(900.0)
    assert overhead.now_ms(CONFIG) == 200


def test_the_overhead_is_a_percentile_of_the_round_trips() -> None:
    assert MoveOverhead([float(ms) for ms in range(1, 101)]).now_ms(CONFIG) == 90
    slow_sometimes = MoveOverhead([50.0] * 95 + [900.0] * 5)
    assert slow_sometimes.now_ms(CONFIG) == 50
    assert slow_sometimes.now_ms(CONFIG.model_copy(update={"move_overhead_percentile": 99})) == 900


def test_a_rare_slow_answer_does_not_count_at_every_move() -> None:
    """After one answer of 1.7 s, games of 30 s + 1 s ended with 50 s on our clock."""
    config = CONFIG.model_copy(update={"move_overhead_percentile": 99, "max_move_overhead_ms": 2000})
    slow_once = MoveOverhead([50.0] * 49 + [1700.0])
    assert (slow_once.now_ms(config), slow_once.usual_ms(config)) == (1700, 83)
    assert slow_once.reserve_ms(config) == 3 * 1617, "the network may be slow for some moves"
    assert MoveOverhead([50.0] * 49 + [10_000.0]).usual_ms(config) == 89


@pytest.mark.parametrize("round_trips", [[], [900.0] * 19, [700.0] * 200, [0.4] * 200])
def test_steady_round_trips_cost_what_is_reserved(round_trips: list[float]) -> None:
    assert MoveOverhead(round_trips).usual_ms(CONFIG) == MoveOverhead(round_trips).now_ms(CONFIG)
    assert MoveOverhead(round_trips).reserve_ms(CONFIG) == 0


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
    overhead = MoveOverhead(round_trips)
    assert 20 <= overhead.usual_ms(config) <= overhead.now_ms(config) <= 1000


# What a state says of the way of our move


def state(moves: str, wtime: int, **changes: object) -> GameState:
    clocks = {"wtime": wtime, "btime": 90_000, "winc": 1000, "binc": 0}
    return GameState.model_validate({"moves": moves, "status": GameStatus.STARTED, **clocks, **changes})


BEFORE = GameClock(Colour.WHITE, True, True, state("e2e4 e7e5", 30_000), 1000.0, Timeouts())
AFTER = state("e2e4 e7e5 g1f3", 29_200)


def test_the_lag_of_a_move_is_what_the_clock_lost_beside_our_own_time() -> None:
    assert BEFORE.lag_s(AFTER, sent_at=1000.5) == pytest.approx(1.3)
    assert BEFORE.lag_s(state("e2e4 e7e5 g1f3 b8c6", 29_200), sent_at=1000.5) == pytest.approx(1.3)


@pytest.mark.parametrize(
    ("before", "after", "sent_at"),
    [
        (BEFORE, AFTER, 999.0),
        (BEFORE, state("e2e4 e7e5", 29_200), 1000.5),
        (BEFORE, state("e2e4", 29_200), 1000.5),
        (BEFORE, GameState(moves=AFTER.moves, status=GameStatus.STARTED), 1000.5),
        (replace(BEFORE, our_clock_runs=False), AFTER, 1000.5),
        (replace(BEFORE, timed=False, by_days=True), AFTER, 1000.5),
    ],
    ids=["sent before", "does not show the move", "taken back", "without clocks", "no clock runs", "by days"],
)
def test_the_lag_of_a_move_is_unknown(before: GameClock, after: GameState, sent_at: float) -> None:
    assert before.lag_s(after, sent_at) is None


def test_waits_for_lichess_last_for_two_round_trips() -> None:
    """Over a slow connection each echo of a move came too late, and the stream was opened again for the next one."""
    hurried = replace(BEFORE, state=state("e2e4 e7e5", 2000))
    assert (hurried.opening_s(5.0, 1000.0), hurried.move_answer_s(1000.0)) == (1.0, 1.0)
    slow = replace(hurried, round_trip_s=0.8)
    assert (slow.opening_s(5.0, 1000.0), slow.move_answer_s(1000.0)) == (1.6, 1.6)
    slower = replace(hurried, round_trip_s=4.0)
    assert (slower.opening_s(5.0, 1000.0), slower.move_answer_s(1000.0)) == (5.0, 3.0)
