"""The table of what faults cost."""

import io

import pytest
from rich.console import Console

from lichessbot.rehearsal.cli.fault_report import show_costs
from lichessbot.rehearsal.faults.accounting import FaultSummary
from lichessbot.rehearsal.faults.catalogue import Fault


@pytest.mark.parametrize(
    ("worst_delay_ms", "never_recovered", "told"),
    [(100, 0, "0.1 s"), (100, 1, "0.1 s, 1 not over at the end"), (None, 2, "not measured, 2 not over at the end")],
)
@pytest.mark.parametrize("terminal", [True, False])
def test_strikes_without_recovery_are_told_beside_the_worst_delay(
    worst_delay_ms: int | None, never_recovered: int, told: str, terminal: bool
) -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=120, color_system=None)
    show_costs(console, [FaultSummary(Fault.STALL, 2, 1, 0, 0, worst_delay_ms, never_recovered)])
    assert told in written.getvalue()
    assert ("never" in written.getvalue()) is ("never" in told)
