"""Time controls as people and PGN write them."""

from collections.abc import Callable

import pytest

from engine.pgn.time_control import TimeControl, parse_header, parse_minutes, parse_seconds


@pytest.mark.parametrize(
    ("text", "control"),
    [("5+3", TimeControl(300, 3)), ("5+", TimeControl(300, 0)), ("0.5", TimeControl(30, 0))],
)
def test_a_time_control_in_minutes(text: str, control: TimeControl) -> None:
    assert parse_minutes(text) == control


@pytest.mark.parametrize(
    ("text", "control"),
    [("8+0.08", TimeControl(8, 0.08)), ("0.5", TimeControl(0.5, 0)), ("86400+3600", TimeControl(86_400, 3600))],
)
def test_a_time_control_in_seconds(text: str, control: TimeControl) -> None:
    assert parse_seconds(text) == control


@pytest.mark.parametrize("parse", [parse_minutes, parse_seconds])
@pytest.mark.parametrize("text", ["", "0", "-1", "5+-1", "nan", "inf", "5+3+1", "86401", "5+3601"])
def test_an_invalid_time_control_raises(parse: Callable[[str], TimeControl], text: str) -> None:
    with pytest.raises(ValueError, match="such as"):
        parse(text)


@pytest.mark.parametrize(("text", "control"), [("300+3", TimeControl(300, 3)), ("60", TimeControl(60, 0)), ("-", None),
                                               ("40/7200:3600", None), ("", None), ("0+1", None),
                                               (str(parse_minutes("0.25+0.5")), TimeControl(15, 0.5)),
                                               ("7.5+", TimeControl(7.5, 0)), ("1.+1", None)])  # fmt: skip
def test_the_time_control_of_a_pgn_is_in_seconds(text: str, control: TimeControl | None) -> None:
    assert parse_header(text) == control
