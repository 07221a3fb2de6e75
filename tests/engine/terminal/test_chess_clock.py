"""Time controls and the chess clock."""

import pytest

from engine.terminal.chess_clock import ChessClock, TimeControl, clock_text, parse_minutes, parse_seconds


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
    ("text", "control"),
    [("5+3", TimeControl(300, 3)), ("5+", TimeControl(300, 0)), ("0.5", TimeControl(30, 0))],
)
def test_time_controls_are_minutes_and_seconds(text: str, control: TimeControl) -> None:
    assert parse_minutes(text) == control


@pytest.mark.parametrize("text", ["", "0", "-1", "5+-1", "nan", "inf", "5+3+1", "99999"])
def test_an_invalid_time_control_raises(text: str) -> None:
    with pytest.raises(ValueError, match="such as"):
        parse_minutes(text)


@pytest.mark.parametrize(("text", "control"), [("300+3", TimeControl(300, 3)), ("60", TimeControl(60, 0)), ("-", None),
                                               ("40/7200:3600", None), ("", None), ("0+1", None),
                                               (str(parse_minutes("0.25+0.5")), TimeControl(15, 0.5)),
                                               ("7.5+", TimeControl(7.5, 0)), ("1.+1", None)])  # fmt: skip
def test_the_time_control_of_a_pgn_is_in_seconds(text: str, control: TimeControl | None) -> None:
    assert parse_seconds(text) == control


@pytest.mark.parametrize(
    ("seconds", "text"), [(3661, "1:01:01"), (245, "4:05"), (9.38, "0:09.3"), (0, "0:00.0"), (-3, "0:00.0")]
)
def test_a_clock_shows_tenths_at_the_end(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text
