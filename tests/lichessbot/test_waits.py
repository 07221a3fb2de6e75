from dataclasses import fields
from datetime import timedelta

from lichessbot.waits import Waits


def test_every_wait_is_scaled() -> None:
    waits, scaled = Waits(), Waits().scaled(0.05)
    for field in fields(Waits):
        assert getattr(scaled, field.name) == getattr(waits, field.name) * 0.05


def test_a_stream_outlives_two_lost_keep_alives_but_not_three() -> None:
    assert timedelta(seconds=14) < Waits().liveness < timedelta(seconds=21)


def test_evicted_streams_stay_within_thirty_openings_in_ten_minutes() -> None:
    assert timedelta(minutes=10) / Waits().eviction_pause < 30
