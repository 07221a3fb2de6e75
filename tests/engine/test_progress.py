"""Progress bars: on a terminal only."""

import io
import time

import pytest
from rich.console import Console

from engine.progress import ProgressDisplay, progress


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_gets_a_bar(terminal: bool) -> None:
    output = io.StringIO()
    with ProgressDisplay("match", 20, "pairs", Console(file=output, force_terminal=terminal, width=100)) as display:
        display.advance_to(5)
        display.log("a line [with brackets]")
    assert ("5/20" in output.getvalue()) is terminal
    assert ("\x1b" in output.getvalue()) is terminal
    assert "a line" in output.getvalue()


def test_a_bar_shows_rate_and_time_left_on_a_terminal_only() -> None:
    for terminal in (True, False):
        screen = io.StringIO()
        console = Console(file=screen, force_terminal=terminal, width=100)
        with progress("counting", 10, "moves", console) as advance:
            for done in range(11):
                advance(done)
                time.sleep(0.02)
        assert ("moves/s" in screen.getvalue()) == terminal
        assert bool(screen.getvalue()) == terminal
