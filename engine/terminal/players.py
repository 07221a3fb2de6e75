"""The players of a game: a person, or the computer, which searches in a thread."""

import secrets
from dataclasses import dataclass
from queue import Queue
from threading import Thread

from engine.accuracy import Score
from engine.board import Board
from engine.facade import AnySearch, Engine, Limits, SearchResult
from engine.lessons.methods import StyledThinking, white_view
from engine.lessons.styles import Style

BAR_NODES = 10_000               # for the evaluation bar
QUICK_HASH_MB = 1


@dataclass(frozen=True)
class SearchDone:
    """The result of a search: its move, if there is one, and the evaluation from White's view.

    `number` tells it from a search that was cancelled.
    """

    number: int
    move: str | None
    white_score: Score | None


@dataclass(frozen=True)
class Player:
    """One side: a person if there are no limits, else the engine, perhaps in a named style, or a plain search."""

    name: str
    limits: Limits | None = None
    style: str | Style | None = None
    rating: int | None = None      # None: full strength

    @property
    def is_computer(self) -> bool:
        return self.limits is not None


class BackgroundSearch:
    """Runs one search at a time in a thread; each ends with a `SearchDone` on the queue."""

    def __init__(self, queue: "Queue[object]") -> None:
        self._queue = queue
        self._engine = Engine()
        self._style: str | Style | None = None
        self._seed = secrets.randbits(62)          # of the players of limited strength
        self._number = 0
        self._search: AnySearch | StyledThinking | None = None
        self._thread: Thread | None = None

    def start(self, board: Board, limits: Limits, style: str | Style | None, rating: int | None = None) -> int:
        """Cancel the search under way, start another and return its number; `rating` limits the strength."""
        self.cancel()
        self._number += 1
        number, turn = self._number, board.turn
        if style != self._style:
            self._style = style
            self._engine.set_named_style(style if isinstance(style, str) else None)
        self._engine.limit_strength(rating, self._seed + (turn == "white"))
        self._engine.set_position(board)
        search = StyledThinking(board, style, limits) if isinstance(style, Style) else self._engine.begin(limits)
        self._search = search

        def run() -> None:
            found = search.run()
            if isinstance(found, SearchResult):
                white_score = None if found.report is None else white_view(found.report, turn)
                self._queue.put(SearchDone(number, found.best_move, white_score))
            else:
                self._queue.put(SearchDone(number, found.line[0] if found.line else None, found.white_score))

        thread = Thread(target=run, name="search", daemon=True)
        thread.start()
        self._thread = thread  # only once it runs: Ctrl-C during the start must not join a thread that never started
        return number

    def move_now(self) -> None:
        """End the search; its best move so far counts."""
        if self._search is not None:
            self._search.stop()

    def cancel(self) -> None:
        """End the search; its result comes under an old number."""
        self.move_now()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._number += 1


def quick_evaluation(board: Board) -> Score | None:
    """Return the evaluation of a small search, None if the game is over."""
    engine = Engine(QUICK_HASH_MB)
    engine.set_position(board)
    report = engine.go(Limits(nodes=BAR_NODES)).report
    return None if report is None else white_view(report, board.turn)
