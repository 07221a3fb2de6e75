"""The analysis of a position: a table of the best lines that updates, or a line of text for each depth."""

import signal
import sys
from collections.abc import Callable
from queue import Queue
from threading import Thread

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from engine.board import Board
from engine.facade import AnySearch, Bound, Engine, Limits, SearchReport, SearchResult
from engine.lessons.methods import white_view
from engine.lessons.notation import ending_text, san_line, score_text
from engine.terminal.board_view import BoardView, Theme, draw
from engine.terminal.keyboard import next_event, read_lines

MAX_PLIES = 12                     # shown of each line


def analyse(engine: Engine, board: Board, limits: Limits, console: Console, theme: Theme) -> None:
    """Analyse until the limits, or until Enter, Ctrl-D or Ctrl-C at a terminal."""
    over = ending_text(board)
    if over is not None:
        console.print(draw(BoardView(board), theme), soft_wrap=True)
        console.print(f"the game is over: {over}", highlight=False)
        return
    engine.analyse_mode = True
    engine.set_position(board)
    thinking = engine.begin(limits)
    queue: Queue[object] = Queue()
    before = signal.signal(signal.SIGINT, lambda *_: thinking.stop())
    thread = Thread(target=lambda: queue.put(thinking.run(queue.put)), name="search")
    thread.start()
    if limits.infinite:
        read_lines(sys.stdin.fileno(), queue)
        if console.is_terminal:
            console.print("Enter ends the analysis", highlight=False)
    try:
        lines = BestLines(board)
        show = _show_live if console.is_terminal else _show_text
        result = show(lines, queue, console, theme, thinking)
        best = "no move" if result.best_move is None else f"best move {board.san(result.best_move)}"
        console.print(best, highlight=False)
    finally:
        thinking.stop()
        thread.join()
        signal.signal(signal.SIGINT, before)


class BestLines:
    """The last report of each line."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._reports: dict[int, SearchReport] = {}

    def add(self, report: SearchReport) -> None:
        """Store a report; a bound does not replace an exact score."""
        known = self._reports.get(report.line)
        if report.bound is Bound.EXACT or known is None or known.bound is not Bound.EXACT:
            self._reports[report.line] = report

    def picture(self, theme: Theme) -> Group:
        """Return the board and a table of the lines."""
        first = self._reports.get(1)
        table = Table(title=self._headline(first), title_justify="left", title_style="")
        for heading in ("", "score", "depth"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("line")
        for number, report in sorted(self._reports.items()):
            table.add_row(str(number), *self._cells(report))
        score = white_view(first, self.board.turn) if first else None
        return Group(draw(BoardView(self.board, self.board.turn == "white", score), theme), table)

    def _headline(self, first: SearchReport | None) -> str:
        if first is None:
            return "searching"
        cost = f"{first.nodes:,} nodes, {first.nps:,}/s, {first.time_ms / 1000:.1f} s"
        return f"{cost}, table {first.hashfull / 10:.0f}% full"

    def _cells(self, report: SearchReport) -> tuple[str, str, str]:
        score = score_text(white_view(report, self.board.turn))
        return score, f"{report.depth}/{report.selective_depth}", san_line(self.board, report.pv[:MAX_PLIES])

    def text(self, report: SearchReport) -> str:
        """Return a report as a line of text."""
        score, depth, line = self._cells(report)
        return f"{depth:>7} {report.line:>2} {score:>7} {report.nodes:>12,} {report.time_ms / 1000:>7.2f}s  {line}"


def _follow(
    queue: "Queue[object]", thinking: AnySearch, on_report: Callable[[SearchReport], None]
) -> SearchResult:
    """Handle events until the search ends; return its result."""
    while not isinstance(event := next_event(queue), SearchResult):
        if isinstance(event, SearchReport):
            on_report(event)
        else:
            thinking.stop()            # Enter, or the end of the input
    return event


def _show_live(
    lines: BestLines, queue: "Queue[object]", console: Console, theme: Theme, thinking: AnySearch
) -> SearchResult:
    with Live(console=console, auto_refresh=False) as live:

        def update(report: SearchReport) -> None:
            lines.add(report)
            if queue.empty():
                live.update(lines.picture(theme), refresh=True)

        result = _follow(queue, thinking, update)
        live.update(lines.picture(theme), refresh=True)
    return result


def _show_text(
    lines: BestLines, queue: "Queue[object]", console: Console, theme: Theme, thinking: AnySearch
) -> SearchResult:
    def write(report: SearchReport) -> None:
        if report.bound is Bound.EXACT:
            console.print(lines.text(report), highlight=False, soft_wrap=True)

    console.print(lines.board.fen(), highlight=False, soft_wrap=True)
    console.print(f"{'depth':>7} {'#':>2} {'score':>7} {'nodes':>12} {'time':>8}  line", highlight=False)
    return _follow(queue, thinking, write)
