"""Books and endgame tablebases on the disk. A missing or damaged file is logged once and then skipped."""

import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from engine.facade import Board, Book, BookMove, InvalidBook, Tablebase, TableReport
from lichessbot.config import EngineConfig
from lichessbot.config.sources import Normalization, PolyglotConfig, Selection, SyzygyConfig, TableQuality
from lichessbot.log import EventLog, try_start
from lichessbot.move_sources.models import Question, Suggestion, repeats_position

_PERCENT: Final = 100


class PolyglotBooks:
    """Polyglot books in their order, opened when first asked."""

    def __init__(self, name: str, files: Sequence[Path], policy: PolyglotConfig, log: EventLog) -> None:
        self.name = name
        self._files = tuple(files)
        self._policy = policy
        self._log = log
        self._books: dict[Path, Book | None] = {}
        self._random = random.Random()

    def close(self) -> None:
        """Close the files until they are asked again; a thread that reads one may finish."""
        self._books = {file: None for file, book in self._books.items() if book is None}

    def find(self, question: Question, until: float) -> Suggestion | None:
        """Return a move of the first book that has one good enough; `until` is ignored."""
        board = question.board
        for file in self._files:
            moves = self._moves(file, board)
            repeats = [] if self._policy.allow_repetitions else [it for it in moves if repeats_position(board, it.move)]
            move = choose(moves, self._policy, self._random, left_out=repeats)
            if move is not None:
                return Suggestion((move,))
        return None

    def _moves(self, file: Path, board: Board) -> list[BookMove]:
        """Return the book's moves; none from then on if the file is unusable."""
        books = self._books  # another thread may close them
        try:
            if file not in books:
                books[file] = Book(file)
            book = books[file]
            return [] if book is None else book.moves(board)
        except (InvalidBook, OSError) as error:
            books[file] = None
            self._log.warning("book.unusable", file=file, reason=book_problem(error))
            return []


def warn_of_unusable_files(engines: Sequence[EngineConfig], log: EventLog) -> None:
    """Log which books and tablebases of the engines cannot be used and why, before they are needed.

    From a thread: the disk may be slow or hang.
    """
    books = dict.fromkeys(file for engine in engines for file in engine.polyglot.files)
    tables = dict.fromkeys(it.paths for it in (engine.lichess_bot_tbs.syzygy for engine in engines) if it.enabled)

    def check() -> None:
        for file in books:
            try:
                Book(file)
            except (InvalidBook, OSError) as error:
                log.warning("book.unusable", file=file, reason=book_problem(error))
        for folders in tables:
            base = Tablebase(folders)
            none = [] if len(base) else [f"no Syzygy files in {', '.join(map(str, folders))}"]
            for problem in base.problems or none:
                log.warning("table.unusable", problem=problem)

    try_start(threading.Thread(target=check, name="file-check", daemon=True), log)


def book_problem(error: InvalidBook | OSError) -> str:
    """Return what is wrong with a book, in words and without its name."""
    if isinstance(error, OSError):
        return str(error.strerror or error).lower()
    return str(error).rpartition(": ")[2]


def choose(
    moves: Sequence[BookMove], policy: PolyglotConfig, rng: random.Random, left_out: Sequence[BookMove] = ()
) -> str | None:
    """Return one of the moves with enough weight; None if there is none. `moves` are sorted by weight.

    The moves `left_out` are not played, but their weights count: without a main move, others are as rare as before.
    """
    weights = normalized([it.weight for it in moves], policy.normalization)
    weighed = [(it.move, weight) for it, weight in zip(moves, weights, strict=True) if it not in left_out]
    good = [(move, weight) for move, weight in weighed if weight >= policy.min_weight]
    if not good:
        return None
    match policy.selection:
        case Selection.BEST_MOVE:
            return good[0][0]
        case Selection.UNIFORM_RANDOM:
            return rng.choice(good)[0]
        case Selection.WEIGHTED_RANDOM:
            # If all weights are 0, all moves are equally likely.
            chances = [weight for _, weight in good] if good[0][1] > 0 else None
            return rng.choices([move for move, _ in good], chances)[0]


def normalized(weights: Sequence[int], normalization: Normalization) -> list[float]:
    """Return the weights that `min_weight` is compared with."""
    match normalization:
        case Normalization.NONE:
            total = _PERCENT
        case Normalization.SUM:
            total = sum(weights)
        case Normalization.MAX:
            total = max(weights, default=0)
    return [weight * _PERCENT / total if total else 0.0 for weight in weights]


_DRAW: Final = 0


class SyzygyTables:
    """Syzygy tablebases, opened when first asked."""

    name: Final = "syzygy"

    def __init__(self, config: SyzygyConfig, log: EventLog) -> None:
        self._config = config
        self._log = log
        self._tables: Tablebase | None = None
        self._logged: set[str] = set()

    def close(self) -> None:
        """Close the files until they are asked again; a thread that reads one may finish."""
        self._tables = None

    def find(self, question: Question, until: float) -> Suggestion | None:
        """Return nothing if files are missing, hold no distances or are read too slowly: the engine then searches."""
        tables = self._tables  # another thread may close them
        if tables is None:
            tables = self._tables = Tablebase(self._config.paths, self._config.max_pieces)
        report = tables.report(question.board, lambda: time.monotonic() >= until)
        for problem in tables.new_problems():
            if problem not in self._logged:
                self._log.warning("table.unusable", problem=problem)
                self._logged.add(problem)
        return None if report is None or not report.has_distances else self._choose(report)

    def _choose(self, report: TableReport) -> Suggestion:
        """Return the best move; several for the engine to choose from in draws and with `move_quality: suggest`."""
        if report.wdl == _DRAW or self._config.move_quality is TableQuality.SUGGEST:
            return Suggestion(tuple(report.worth_searching()), wdl=report.wdl, choice=True)
        return Suggestion(tuple(report.best()), wdl=report.wdl)
