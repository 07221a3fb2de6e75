"""Progress: a bar where somebody watches, plain lines where the output is kept."""

import io

import pytest
from rich.console import Console

from engine.progress import ProgressDisplay


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_gets_a_bar(terminal: bool) -> None:
    output = io.StringIO()
    with ProgressDisplay("match", 20, "pairs", Console(file=output, force_terminal=terminal, width=100)) as display:
        display.advance_to(5)
        display.log("a line [with brackets]")
    assert ("5/20" in output.getvalue()) is terminal
    assert ("\x1b" in output.getvalue()) is terminal
    assert "a line" in output.getvalue()
