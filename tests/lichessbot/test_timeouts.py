import time
from dataclasses import fields
from datetime import timedelta

import pytest

from lichessbot.config.explanations import example
from lichessbot.timeouts import Standstill, Timeouts


def test_timeouts_for_lichess_are_scaled_and_those_for_engines_are_not() -> None:
    timeouts, scaled = Timeouts(), Timeouts().scaled(0.05)
    for field in fields(Timeouts):
        factor = 1 if field.name.startswith("engine_") or field.name == "fallback" else 0.05
        if field.name in ("connect", "request_answer", "stuck_request"):
            factor = 0.1
        elif field.name in ("game_answer", "stuck_move", "source_answer"):
            factor = 0.3
        assert getattr(scaled, field.name) == getattr(timeouts, field.name) * factor


def test_an_engine_gets_more_time_to_start_if_lichess_gets_more() -> None:
    timeouts, scaled = Timeouts(), Timeouts().scaled(20.0)
    assert scaled.engine_handshake == 20 * timeouts.engine_handshake
    assert scaled.engine_first_move == 20 * timeouts.engine_first_move


def test_a_stream_survives_one_lost_keep_alive_but_not_two() -> None:
    assert timedelta(seconds=14) < Timeouts().liveness < timedelta(seconds=21)


def test_evicted_streams_stay_within_thirty_openings_in_ten_minutes() -> None:
    assert timedelta(minutes=10) / Timeouts().eviction_pause < 30


@pytest.mark.parametrize(
    ("name", "duration", "sentence"),
    [
        ("challenge_wait", timedelta(seconds=12), "a challenge waits up to 12 s for a game to end"),
        ("human_waits", timedelta(minutes=2), "bots get no slot for two minutes after a human found none free"),
        ("list_refresh", timedelta(minutes=15), "Read every 15 minutes."),
        ("source_answer", timedelta(seconds=3), "at most 1/40 of the remaining clock, and at most 3 s."),
        ("challenge_spacing_ceiling", timedelta(minutes=10), "At most one challenge every ten minutes."),
        ("quota_day", timedelta(hours=24), "The most games against bots in 24 hours"),
        ("challenge_open", timedelta(seconds=25), "The challenge is withdrawn after 25 s."),
        ("rematch_patience", timedelta(seconds=10), "a rematch waits for 10 s and is then not offered"),
        ("tournament_soon", timedelta(minutes=2), "From two minutes before the start, a slot is kept for each"),
    ],
)
def test_durations_are_those_that_the_example_promises(name: str, duration: timedelta, sentence: str) -> None:
    assert getattr(Timeouts(), name) == duration
    assert sentence in " ".join(line.strip(" #") for line in example().splitlines())


@pytest.mark.parametrize(
    ("looks_at", "told"),
    [
        ([100.0, 101.0, 105.5], [None, None, None]),
        ([100.0, 105.1, 106.1], [None, pytest.approx(5.1), None]),
        ([100.0, 3700.0, 3701.0, 3801.0], [None, 3600.0, None, 100.0]),
    ],
)
def test_a_standstill_is_told_once(
    monkeypatch: pytest.MonkeyPatch, looks_at: list[float], told: list[float | None]
) -> None:
    standstill, moments = Standstill(), iter(looks_at)
    monkeypatch.setattr(time, "clock_gettime", lambda clock: next(moments))
    assert [standstill.look() for _ in looks_at] == told


def test_the_clock_of_standstills_goes_on_while_the_machine_is_suspended(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(time, "clock_gettime", lambda clock: float(asked.append(clock) or 0))
    Standstill().look()
    assert asked == [time.CLOCK_BOOTTIME if hasattr(time, "CLOCK_BOOTTIME") else time.CLOCK_MONOTONIC]
