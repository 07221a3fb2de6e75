"""The textbook searches side by side, and one of them as a player with a style."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from threading import Thread
from time import process_time
from typing import TypeVar

from engine.accuracy import Score
from engine.board import Board
from engine.core.score import mate_distance
from engine.facade import Bound, Engine, Limits, SearchReport
from engine.lessons.plain import PlainSearch
from engine.lessons.styles import Style
from engine.search.time_manager import TimeManager, deadlines_on_us

T = TypeVar("T")
LONGEST_WAIT_S = 0.2               # a Ctrl-C just before a wait is noticed after it
MAX_DEPTH = 60                     # of the plain searches; none gets there but by forced moves


class Method(StrEnum):
    """How a position is searched, from the oldest idea to all of them together."""

    MINIMAX = "minimax"
    NEGAMAX = "negamax"
    ALPHA_BETA = "alpha-beta"
    ORDERED = "alpha-beta, ordered"
    DEEPENED = "ordered, deepened"
    QUIESCENT = "with quiescence"
    ENGINE = "the engine"


DEEPENED = (Method.DEEPENED, Method.QUIESCENT)
ORDERED = (Method.ORDERED, *DEEPENED)


@dataclass(frozen=True)
class Outcome:
    """The result of a search, and what a comparison asks: nodes and seconds of processor time.

    `white_score` is None if the time ran out before a value was known.
    """

    white_score: Score | None
    line: tuple[str, ...]
    nodes: int = 0
    seconds: float = 0.0


def white_view(report: SearchReport, turn: str) -> Score:
    """Return a report's evaluation from White's view; `turn` is the side to move."""
    return Score(report.score_cp, report.mate_in).of(turn)


def _white_score(score: int, turn: str, style: Style | None) -> Score:
    """Return a score of the side to move from White's view. For a style that seeks to be mated, being mated is good."""
    mate = mate_distance(score)
    if mate is not None and style is not None and style.mate < 0:
        mate = -mate
    return (Score(score) if mate is None else Score(mate=mate)).of(turn)


def search(board: Board, method: Method, depth: int, style: Style | None = None, seconds: float = 1e6) -> Outcome:
    """Search a position to this depth, within a time limit."""
    if method is Method.ENGINE:
        return _search_by_engine(board, depth, seconds)
    plain = _plain(board, method, style, TimeManager(hard_us=int(seconds * 1e6)))

    def run() -> int:
        if method is Method.MINIMAX:
            return int(plain.run_minimax(depth)) * (1 if board.turn == "white" else -1)
        if method is Method.NEGAMAX:
            return int(plain.run_negamax(depth))
        if method in DEEPENED:
            for plies in range(1, depth):
                plain.run_alpha_beta(plies)
        return int(plain.run_alpha_beta(depth))

    started = process_time()
    score = interruptible(run, plain.stop)
    elapsed = process_time() - started
    stopped = plain.was_stopped()
    line = () if stopped else tuple(map(board.spell, plain.variation()))
    white_score = None if stopped else _white_score(score, board.turn, style)
    return Outcome(white_score, line, plain.node_count(), elapsed)


def _plain(board: Board, method: Method, style: Style | None, clock: TimeManager) -> PlainSearch:
    terms = None if style is None else style.terms()
    return PlainSearch(board.position, terms, clock, method in ORDERED, method is Method.QUIESCENT)


def _search_by_engine(board: Board, depth: int, seconds: float) -> Outcome:
    engine = Engine()
    engine.set_position(board)
    started = process_time()
    thinking = engine.begin(Limits(depth=depth, move_time_ms=int(seconds * 1000)))
    report = interruptible(thinking.run, thinking.stop).report
    elapsed = process_time() - started
    if report is None or report.depth < depth or report.bound is not Bound.EXACT:
        return Outcome(None, (), report.nodes if report else 0, elapsed)
    return Outcome(white_view(report, board.turn), report.pv, report.nodes, elapsed)


def interruptible(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """Return the work's result, computed in a thread: compiled code does not see Ctrl-C. `stop` must end it soon."""
    results: list[T] = []
    thread = Thread(target=lambda: results.append(work()), name="search")
    try:
        thread.start()
        while thread.is_alive():
            thread.join(LONGEST_WAIT_S)
    except KeyboardInterrupt:
        stop()  # the end of the program waits for the thread
        raise
    return results[0]


class StyledThinking:
    """A plain search as a player: deepens with a style's evaluation until its limits or `stop` end it."""

    def __init__(self, board: Board, style: Style, limits: Limits) -> None:
        """Start the clock."""
        self._board = board.copy()
        self._style = style
        self._limits = limits
        self._clock = TimeManager(*deadlines_on_us(board, limits, 0))
        self._search = _plain(self._board, Method.QUIESCENT, style, self._clock)

    def stop(self) -> None:
        """Stop the search; callable from any thread."""
        self._search.stop()

    def run(self) -> Outcome:
        """Return the deepest finished search; its line is empty only if no move is legal."""
        legal = self._board.legal_moves()
        best = Outcome(None, tuple(legal[:1]))
        if not legal:
            return best
        for depth in range(1, min(self._limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
            score = self._search.run_alpha_beta(depth)
            if self._search.was_stopped():
                break
            line = tuple(map(self._board.spell, self._search.variation()))
            best = Outcome(_white_score(score, self._board.turn, self._style), line)
            if self._clock.too_late_for_another_depth() or mate_distance(score) is not None:
                break
        return best
