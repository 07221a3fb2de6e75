"""Progress bars for long commands; shown on a terminal only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class RateColumn(ProgressColumn):
    """The rate of progress."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.1f} {self._unit}/s")


class ProgressDisplay:
    """Lines of text on standard output with a bar below them, for a `with` block."""

    def __init__(self, title: str, total: int, unit: str, console: Console | None = None) -> None:
        """`unit` is what is counted, in the plural."""
        self._console = console or Console(soft_wrap=True, highlight=False, markup=False)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), RateColumn(unit))
        self._bar = Progress(
            *columns, TimeRemainingColumn(), console=self._console, disable=not self._console.is_terminal
        )
        self._task = self._bar.add_task(title, total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def log(self, line: str) -> None:
        """Print a line above the bar."""
        self._console.print(line)
        self._console.file.flush()

    def advance_to(self, done: int) -> None:
        """Set how much of the total is done."""
        self._bar.update(self._task, completed=done)


@contextmanager
def progress(title: str, total: float, unit: str, console: Console | None = None) -> Iterator[Callable[[float], None]]:
    """Show a bar on standard error until the block ends; yield a function that sets how much is done."""
    console = console or Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        RateColumn(unit),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)
