"""Progress bars: on a terminal only."""

import io
import time

import pytest
from rich.console import Console

from engine.progress import ProgressDisplay


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_gets_a_bar(terminal: bool) -> None:
    output = io.StringIO()
    with ProgressDisplay("match", 20, "pairs", Console(file=output, force_terminal=terminal, width=100)) as display:
        for done in range(6):
            display.advance_to(done)
            time.sleep(0.02)
    assert ("5/20" in output.getvalue()) is terminal
    assert ("\x1b" in output.getvalue()) is terminal
    assert ("pairs/" in output.getvalue()) is terminal


@pytest.mark.parametrize("transient", [False, True])
def test_lines_above_the_bar_are_printed_as_they_are(transient: bool, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"{'long ' * 40}[bold] line"
    with ProgressDisplay("match", 20, "pairs", transient=transient) as display:
        display.log(line)
    assert capsys.readouterr() == (("", f"{line}\n") if transient else (f"{line}\n", ""))


@pytest.mark.parametrize(
    ("unit_s", "rate", "left"),
    [
        (0.5, "2.0 shards/s", "0:00:40"),
        (1, "1.0 shards/s", "0:01:20"),
        (45, "1.3 shards/min", "1:00:00"),
        (1200, "0.05 shards/min", "26:40:00"),
    ],
)
def test_units_may_take_long(unit_s: float, rate: str, left: str) -> None:
    now_s, output = 0.0, io.StringIO()
    console = Console(file=output, force_terminal=True, width=110, get_time=lambda: now_s)
    display = ProgressDisplay("self-play", 90, "shards", console)
    for done in range(1, 11):
        now_s += unit_s
        display.advance_to(done)
    with display:
        pass
    assert rate in output.getvalue()
    assert left in output.getvalue()
