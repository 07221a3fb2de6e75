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
        display.log("a line [with brackets]")
    assert ("5/20" in output.getvalue()) is terminal
    assert ("\x1b" in output.getvalue()) is terminal
    assert ("pairs/s" in output.getvalue()) is terminal
    assert "a line" in output.getvalue()
