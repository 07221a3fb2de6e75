"""Time controls and game clocks."""

import pytest

from lichessbot.rehearsal.rules.clock import (
    DAY_MS,
    UNLIMITED_MS,
    Correspondence,
    GameClock,
    RealTime,
    TimeControl,
    Unlimited,
)
from lichessbot.rehearsal.rules.enums import Color, Speed

WHITE, BLACK = Color.WHITE, Color.BLACK


def after_two_plies(control: TimeControl) -> GameClock:
    clock = GameClock(control)
    clock.press(WHITE, 1, now_ms=0)
    clock.press(BLACK, 2, now_ms=0)
    return clock


@pytest.mark.parametrize(
    ("limit_s", "increment_s", "speed"),
    [
        (15, 0, Speed.ULTRA_BULLET),
        (0, 1, Speed.BULLET),
        (30, 0, Speed.BULLET),
        (60, 2, Speed.BULLET),
        (180, 0, Speed.BLITZ),
        (300, 3, Speed.BLITZ),
        (480, 0, Speed.RAPID),
        (0, 37, Speed.RAPID),
        (1500, 0, Speed.CLASSICAL),
    ],
)
def test_speed_follows_base_plus_forty_increments(limit_s: int, increment_s: int, speed: Speed) -> None:
    assert RealTime(limit_s, increment_s).speed is speed


def test_hurried_rehearsal_clock_is_called_bullet() -> None:
    assert RealTime(5, 0, hurried=True).speed is Speed.BULLET
    assert RealTime(300, 0, hurried=True).speed is Speed.BLITZ


@pytest.mark.parametrize("control", [Correspondence(3), Unlimited()])
def test_games_without_a_real_time_clock_are_correspondence(control: TimeControl) -> None:
    assert control.speed is Speed.CORRESPONDENCE


@pytest.mark.parametrize(("increment_s", "start_ms"), [(1, 3000), (5, 5000)])
def test_base_zero_starts_with_three_seconds_or_the_increment(increment_s: int, start_ms: int) -> None:
    assert RealTime(0, increment_s).initial_ms == start_ms


def test_challenges_may_ask_for_whole_minutes_and_some_shorter_clocks() -> None:
    offered = [limit_s for limit_s in range(-60, 10_900) if RealTime(limit_s, 1).is_offered]
    assert offered == sorted({15, 30, 45, 90, *range(0, 10_801, 60)})
    assert not any(RealTime(60, increment_s).is_offered for increment_s in (-1, 181))


def test_first_move_of_each_side_is_free_and_earns_no_increment() -> None:
    clock = GameClock(RealTime(60, 5))
    clock.press(WHITE, 1, now_ms=30_000)
    clock.press(BLACK, 2, now_ms=90_000)
    assert clock.remaining_ms(WHITE, 90_000) == clock.remaining_ms(BLACK, 90_000) == 60_000


def test_clock_runs_from_the_second_ply_and_increment_is_added_after_it() -> None:
    clock = after_two_plies(RealTime(60, 5))
    assert clock.remaining_ms(WHITE, 1000) == 59_000
    clock.press(WHITE, 3, now_ms=10_000)
    assert clock.remaining_ms(WHITE, 10_000) == 55_000
    assert clock.remaining_ms(BLACK, 12_000) == 58_000


def test_all_time_at_the_server_counts_there_is_no_lag_credit() -> None:
    clock = after_two_plies(RealTime(60, 0))
    clock.press(WHITE, 3, now_ms=7)
    assert clock.remaining_ms(WHITE, 7) == 59_993


def test_flag_falls_at_zero_for_the_running_side_only() -> None:
    clock = after_two_plies(RealTime(1, 0))
    assert not clock.is_flagged(WHITE, 999)
    assert clock.is_flagged(WHITE, 1000)
    assert not clock.is_flagged(BLACK, 5000)
    assert clock.remaining_ms(WHITE, 5000) == 0


def test_correspondence_gives_the_full_days_for_every_move() -> None:
    clock = after_two_plies(Correspondence(2))
    assert clock.remaining_ms(WHITE, DAY_MS) == DAY_MS
    clock.press(WHITE, 3, now_ms=DAY_MS)
    assert clock.remaining_ms(WHITE, DAY_MS) == 2 * DAY_MS


def test_unlimited_clock_never_runs_and_shows_its_constant() -> None:
    clock = after_two_plies(Unlimited())
    assert clock.running is None
    assert clock.remaining_ms(WHITE, 10**12) == UNLIMITED_MS
