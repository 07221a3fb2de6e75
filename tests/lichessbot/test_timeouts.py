from dataclasses import fields
from datetime import timedelta

from lichessbot.timeouts import Timeouts


def test_timeouts_for_lichess_are_scaled_and_those_for_engines_are_not() -> None:
    timeouts, scaled = Timeouts(), Timeouts().scaled(0.05)
    for field in fields(Timeouts):
        factor = 1 if field.name.startswith("engine_") or field.name == "fallback" else 0.05
        if field.name in ("connect", "request_answer", "stuck_request"):
            factor = 0.1
        elif field.name in ("game_answer", "stuck_move"):
            factor = 0.3
        assert getattr(scaled, field.name) == getattr(timeouts, field.name) * factor


def test_a_stream_survives_one_lost_keep_alive_but_not_two() -> None:
    assert timedelta(seconds=14) < Timeouts().liveness < timedelta(seconds=21)


def test_evicted_streams_stay_within_thirty_openings_in_ten_minutes() -> None:
    assert timedelta(minutes=10) / Timeouts().eviction_pause < 30
