"""What a person reads of the faults: the catalogue, and the table of what they cost.

Reads what the ledger has summed up; it never touches a game.
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
    Notice.BY_SILENCE: "; noticed by the silence",
    Notice.BY_ASKING: "; noticed only by asking",
}
_COLUMNS = ("fault", "struck", "games touched", "games lost", "own fault", "worst delay")


def show_catalogue(console: Console) -> None:
    """Every fault, where it strikes, and what it takes of the clock of a client that makes no mistake."""
    timing = Timing()
    for fault in Fault:
        nature = fault.nature
        costs_s = fault.holds_up_s(timing, clock_left_s=float("inf"))
        cost = f"holds up {costs_s:g} s" if costs_s else "holds up nobody"
        places = " ".join(place.value for place in nature.places)
        console.print(Text.assemble((f"{fault.label:<19}", "bold"), nature.says), soft_wrap=True)
        say(console, f"{'':<19}{cost}{_NOTICED[nature.notice]}; at: {places}", style="dim")


def show_costs(console: Console, summaries: Sequence[FaultSummary]) -> None:
    """The table of the ledger; on anything but a terminal one plain line for each fault."""
    if not console.is_terminal:
        for summary in summaries:
            cells = zip(_COLUMNS[1:], _row(summary)[1:], strict=True)
            say(console, f"{summary.fault.label}: " + ", ".join(f"{name} {cell}" for name, cell in cells))
        return
    table = Table(*_COLUMNS, title="Faults")
    for summary in summaries:
        table.add_row(*map(Text, _row(summary)), style="bold white on red" if summary.own_fault else "")
    console.print(table)


def write_ledger(path: Path, entries: Iterable[Mapping[str, object]]) -> None:
    """One JSON object a line."""
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))


def _row(summary: FaultSummary) -> tuple[str, ...]:
    delay_ms = summary.worst_delay_ms
    return (
        summary.fault.label,
        str(summary.struck),
        str(summary.games_touched),
        str(summary.games_lost),
        str(summary.own_fault),
        "never made up for" if delay_ms is None else f"{delay_ms / 1000:.1f} s",
    )
