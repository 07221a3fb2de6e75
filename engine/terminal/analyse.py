"""Analysing a position: a table of the best lines that deepens before one's eyes, or a line of text for each depth."""

import signal
import sys
from dataclasses import dataclass
from queue import Queue
from threading import Thread

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from engine.board import Board
from engine.facade import Engine, Limits, RunningSearch, SearchReport, SearchResult
from engine.lessons.cce_notation import final_text, judgement_text, san_line
from engine.search.iterative_deepening import Bound
from engine.terminal.drawing import Look, Scene, draw
from engine.terminal.keyboard import listen, next_event
from engine.terminal.players import white_view

PLIES_SHOWN = 12                   # of each line


@dataclass(frozen=True)
class Wish:
    """What is to be analysed, and how."""

    board: Board
    lines: int
    limits: Limits
    hash_mb: int
    threads: int


def analyse(wish: Wish, console: Console, look: Look) -> None:
    """Until the limits end it, or Enter, Ctrl-D or Ctrl-C where somebody sits at a terminal."""
    over = final_text(wish.board)
    if over is not None:
        console.print(draw(Scene(wish.board), look), soft_wrap=True)
        console.print(over)
        return
    engine = Engine(wish.hash_mb)
    engine.lines, engine.analyse_mode = wish.lines, True
    engine.set_threads(wish.threads)
    engine.set_position(wish.board)
    thinking = engine.begin(wish.limits)
    queue: Queue[object] = Queue()
    before = signal.signal(signal.SIGINT, lambda *_: thinking.stop())
    thread = Thread(target=lambda: queue.put(thinking.run(queue.put)), name="search")
    thread.start()
    if wish.limits.infinite:
        listen(sys.stdin.fileno(), queue)
    try:
        result = (_show_live if console.is_terminal else _show_plain)(wish.board, queue, console, look, thinking)
        best = "no move" if result.best_move is None else f"best move {wish.board.san(result.best_move)}"
        console.print(best, highlight=False)
    finally:
        thinking.stop()
        thread.join()
        signal.signal(signal.SIGINT, before)


class Findings:
    """The last report of each line."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._reports: dict[int, SearchReport] = {}

    def add(self, report: SearchReport) -> None:
        """One more report; a mere bound does not push out an exact score of the same depth."""
        known = self._reports.get(report.line)
        if report.bound is Bound.EXACT or known is None or known.bound is not Bound.EXACT:
            self._reports[report.line] = report

    def picture(self, look: Look) -> Group:
        """The board, and the lines as a table."""
        first = self._reports.get(1)
        judgement = white_view(first, self._board.turn == "white") if first else None
        table = Table(title=self._headline(first), title_justify="left", title_style="")
        for heading in ("", "score", "depth"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("line")
        for number, report in sorted(self._reports.items()):
            table.add_row(str(number), *self._words(report))
        return Group(draw(Scene(self._board, self._board.turn == "white", judgement), look), table)

    def _headline(self, first: SearchReport | None) -> str:
        if first is None:
            return "thinking"
        cost = f"{first.nodes:,} nodes, {first.nps:,}/s, {first.time_ms / 1000:.1f} s"
        return f"{cost}, table {first.hashfull / 10:.0f}% full"

    def _words(self, report: SearchReport) -> tuple[str, str, str]:
        score = judgement_text(white_view(report, self._board.turn == "white"))
        line = san_line(self._board, report.pv[:PLIES_SHOWN])
        return score, f"{report.depth}/{report.selective_depth}", line

    def text(self, report: SearchReport) -> str:
        """One report as a line of text."""
        score, depth, line = self._words(report)
        return f"{depth:>7} {report.line:>2} {score:>7} {report.nodes:>12,} {report.time_ms / 1000:>7.2f}s  {line}"


def _show_live(
    board: Board, queue: "Queue[object]", console: Console, look: Look, thinking: RunningSearch
) -> SearchResult:
    findings = Findings(board)
    with Live(console=console, auto_refresh=False) as live:
        while not isinstance(event := next_event(queue), SearchResult):
            if isinstance(event, SearchReport):
                findings.add(event)
            else:
                thinking.stop()        # Enter, or the end of the input
            if queue.empty():
                live.update(findings.picture(look), refresh=True)
        live.update(findings.picture(look), refresh=True)
    return event


def _show_plain(
    board: Board, queue: "Queue[object]", console: Console, look: Look, thinking: RunningSearch
) -> SearchResult:
    findings = Findings(board)
    console.print(board.fen(), highlight=False, soft_wrap=True)
    console.print(f"{'depth':>7} {'#':>2} {'score':>7} {'nodes':>12} {'time':>8}  line", highlight=False)
    while not isinstance(event := next_event(queue), SearchResult):
        if not isinstance(event, SearchReport):
            thinking.stop()            # Enter, or the end of the input
        elif event.bound is Bound.EXACT:
            console.print(findings.text(event), highlight=False, soft_wrap=True)
    return event
