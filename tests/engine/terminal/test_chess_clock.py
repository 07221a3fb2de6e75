"""The chess clock."""

import pytest

from engine.pgn.time_control import TimeControl
from engine.terminal.chess_clock import ChessClock, clock_text


class Time:
    """A time source that a test advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_only_the_movers_clock_runs_and_a_move_gains_the_increment() -> None:
    time = Time()
    watch = ChessClock(TimeControl(60, 2), time)
    time.now = 5
    assert watch.both_s() == {"white": 60, "black": 60}
    watch.start("white")
    time.now = 15
    watch.press()
    time.now = 18
    assert watch.both_s() == {"white": 52, "black": 57}
    watch.stop()
    time.now = 100
    assert watch.both_s() == {"white": 52, "black": 57}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3661, "1:01:01"), (245, "4:05"), (10, "0:10"), (9.38, "0:09.3"), (0, "0:00.0"), (-3, "0:00.0")],
)
def test_a_clock_shows_tenths_at_the_end(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text
