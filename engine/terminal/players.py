"""Who plays: a person, or the computer, whose thinking goes on in a thread and ends up on the queue."""

from dataclasses import dataclass
from queue import Queue
from threading import Thread
from typing import Protocol

from engine.board import Board
from engine.facade import Engine, SearchReport
from engine.lessons.methods import StyledThinking
from engine.lessons.styles import Style
from engine.pgn.game import Judgement
from engine.search.time_manager import Limits

QUICK_NODES = 10_000              # what the evaluation bar is worth
QUICK_HASH_MB = 1


@dataclass(frozen=True)
class SearchDone:
    """The move a search came to, None if there was none, and what it thinks of the position, from White's view."""

    number: int                    # of the search, to tell it from one that was given up
    move: str | None
    judgement: Judgement | None


@dataclass(frozen=True)
class Player:
    """One side: a person if there are no limits. Without a style the engine itself plays, else a plain search."""

    name: str
    limits: Limits | None = None
    style: Style | None = None

    @property
    def is_computer(self) -> bool:
        return self.limits is not None


class _Stoppable(Protocol):
    def stop(self) -> None: ...


class BackgroundSearch:
    """The computer's thinking, one search at a time; each ends as a `SearchDone` on the queue."""

    def __init__(self, queue: "Queue[object]") -> None:
        self._queue = queue
        self._engine = Engine()
        self._number = 0
        self._search: _Stoppable | None = None
        self._thread: Thread | None = None

    def think(self, board: Board, limits: Limits, style: Style | None) -> int:
        """Begin a search, giving up the one before; returns its number."""
        self.cancel()
        self._number += 1
        number = self._number
        if style is None:
            self._engine.set_position(board)
            thinking = self._engine.begin(limits)
            white = board.turn == "white"

            def run() -> SearchDone:
                result = thinking.run()
                judgement = None if result.report is None else white_view(result.report, white)
                return SearchDone(number, result.best_move, judgement)

            self._start(thinking, run)
        else:
            styled = StyledThinking(board, style, limits)

            def run_styled() -> SearchDone:
                outcome = styled.run()
                return SearchDone(number, outcome.line[0] if outcome.line else None, outcome.judgement)

            self._start(styled, run_styled)
        return number

    def _start(self, search: _Stoppable, run: "_Run") -> None:
        self._search = search
        thread = Thread(target=lambda: self._queue.put(run()), name="mind", daemon=True)
        thread.start()
        self._thread = thread  # not before: Ctrl-C may come while it starts, and only what runs can be waited for

    def move_now(self) -> None:
        """Let the search give its move now."""
        if self._search is not None:
            self._search.stop()

    def cancel(self) -> None:
        """Give up the search; its thought still comes, under its old number."""
        self.move_now()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._number += 1


class _Run(Protocol):
    def __call__(self) -> SearchDone: ...


def white_view(report: SearchReport, white: bool) -> Judgement:
    """What a search found, as White sees it."""
    sign = 1 if white else -1
    if report.mate_in is not None:
        return Judgement(None, sign * report.mate_in, report.depth)
    return Judgement(sign * (report.score_cp or 0), None, report.depth)


def quick_evaluation(board: Board) -> Judgement | None:
    """A quick theme at who stands better; None where the game is over."""
    engine = Engine(QUICK_HASH_MB)
    engine.set_position(board)
    report = engine.go(Limits(nodes=QUICK_NODES)).report
    return None if report is None else white_view(report, board.turn == "white")
