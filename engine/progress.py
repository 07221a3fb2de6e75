"""Progress bars for long commands; shown on a terminal only."""

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

RATE_PERIOD_S = 24 * 3600          # over which the rate is averaged: a unit of progress may take minutes


class RateColumn(ProgressColumn):
    """The rate of progress."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        speed = task.speed
        if not speed:
            return Text("")
        return Text(f"{speed:,.1f} {self._unit}/s" if speed >= 1 else f"{60 * speed:.2g} {self._unit}/min")


class ProgressDisplay:
    """A bar for a `with` block, below the lines that the command logs."""

    def __init__(
        self, title: str, total: float, unit: str, console: Console | None = None, *, transient: bool = False
    ) -> None:
        """`unit` is what is counted, in the plural. A transient bar is on standard error and vanishes at the end."""
        self._console = console or Console(stderr=transient, soft_wrap=True, highlight=False, markup=False)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            MofNCompleteColumn(),
            RateColumn(unit),
            TimeRemainingColumn(),
            speed_estimate_period=RATE_PERIOD_S,
            console=self._console,
            transient=transient,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def log(self, line: str) -> None:
        """Print a line above the bar."""
        self._console.print(line)
        self._console.file.flush()

    def advance_to(self, done: float) -> None:
        """Set how much of the total is done."""
        self._bar.update(self._task, completed=done)
