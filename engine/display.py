"""What a long command shows of its progress: a bar where somebody watches, plain lines where the output is kept."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Display:
    """Lines of text and one bar below them; without a terminal there is no bar. Ends with its `with` block."""

    def __init__(self, title: str, total: int, console: Console | None = None) -> None:
        self._console = console or Console(soft_wrap=True, highlight=False, markup=False)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._bar = Progress(
            *columns, TimeElapsedColumn(), TimeRemainingColumn(),
            console=self._console, disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def say(self, line: str) -> None:
        """One line, there to stay."""
        self._console.print(line)
        self._console.file.flush()

    def advance_to(self, done: int) -> None:
        """So much of the total is done."""
        self._bar.update(self._task, completed=done)
