"""The reports about faults: the catalogue, and the table of their costs.

Reads the summary of the accounting; never touches a game.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lichessbot.rehearsal.cli.display import say
from lichessbot.rehearsal.faults.accounting import FaultSummary
from lichessbot.rehearsal.faults.catalogue import Fault, Notice
from lichessbot.rehearsal.rules.timing import Timing

_NOTICED = {
    Notice.AT_ONCE: "",
    Notice.BY_SILENCE: "; noticed by silence",
    Notice.BY_ASKING: "; noticed only by a request",
}
_COLUMNS = ("fault", "struck", "games touched", "games lost", "own fault", "worst delay")


def show_catalogue(console: Console) -> None:
    """Print every fault, where it strikes, and what it costs on the clock of a correct client."""
    timing = Timing()
    for fault in Fault:
        spec = fault.spec
        costs_s = fault.holds_up_s(timing, clock_left_s=float("inf"))
        cost = f"costs {costs_s:g} s" if costs_s else "costs no time"
        places = " ".join(place.value for place in spec.places)
        console.print(Text.assemble((f"{fault.label:<19}", "bold"), spec.description), soft_wrap=True)
        say(console, f"{'':<19}{cost}{_NOTICED[spec.notice]}; at: {places}", style="dim")


def show_costs(console: Console, summaries: Sequence[FaultSummary]) -> None:
    """Print the costs: a table in a terminal, else a line for each fault."""
    if not console.is_terminal:
        for summary in summaries:
            cells = zip(_COLUMNS[1:], _row(summary)[1:], strict=True)
            say(console, f"{summary.fault.label}: " + ", ".join(f"{name} {cell}" for name, cell in cells))
        return
    table = Table(*_COLUMNS, title="Faults")
    for summary in summaries:
        table.add_row(*map(Text, _row(summary)), style="bold white on red" if summary.own_fault else "")
    console.print(table)


def write_fault_log(path: Path, entries: Iterable[Mapping[str, object]]) -> None:
    """Write one JSON object per line."""
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))


def _row(summary: FaultSummary) -> tuple[str, ...]:
    told = ["not measured" if summary.worst_delay_ms is None else f"{summary.worst_delay_ms / 1000:.1f} s"]
    if summary.never_recovered:
        told.append(f"{summary.never_recovered} not over at the end")
    return (
        summary.fault.label,
        str(summary.struck),
        str(summary.games_touched),
        str(summary.games_lost),
        str(summary.own_fault),
        ", ".join(told),
    )
