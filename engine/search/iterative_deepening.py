"""Iterative deepening: search one ply deeper each time until a limit is reached; each search orders the next.

Reports by callback. (chessprogramming wiki: Iterative Deepening, Aspiration Windows)
"""

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from threading import Event
from typing import NamedTuple

from engine.core import params
from engine.core.score import INFINITE, MAX_PLY, mate_distance
from engine.search.search import Search
from engine.search.time_manager import Limits, TimeManager, soft_percent

MAX_DEPTH = MAX_PLY - 1
REPORT_ROOT_MOVES_AFTER_MS = 3000          # of a search


class Bound(StrEnum):
    """How a score relates to the true one; the values are UCI's words."""

    EXACT = "exact"
    LOWER = "lowerbound"           # the true score is at least this
    UPPER = "upperbound"           # at most this


class Line(NamedTuple):
    """A variation and its score, as in `score.py`: centipawns for the side to move, or a mate."""

    score: int
    variation: tuple[int, ...]
    bound: Bound = Bound.EXACT


class Iteration(NamedTuple):
    """The result of one line at one depth, the best line being number 1; not final if the score is a bound."""

    number: int
    line: Line
    depth: int
    selective_depth: int
    nodes: int
    time_ms: int


class Task(NamedTuple):
    """The root moves to search, the number of lines to report, and the limits.

    `complete`: `moves` holds all legal moves. `patient`: use all the time, even if the move is clear.
    """

    moves: list[int]
    complete: bool
    lines: int
    limits: Limits
    patient: bool = False


class IterativeDeepening:
    """One search from depth 1 to the deepest that the limits allow."""

    def __init__(
        self,
        search: Search,
        time_manager: TimeManager,
        task: Task,
        on_iteration: Callable[[Iteration], None],
        on_root_move: Callable[[int, int, int], None],
    ) -> None:
        """`on_root_move(depth, move, number)` is called for each root move of a long search; number 1 is the first."""
        self._search = search
        self._time_manager = time_manager
        self._task = task
        self._on_iteration = on_iteration
        self._on_root_move = on_root_move
        self._depth = 0
        self._steady_depths = 0            # in a row with the same best move

    def run(self) -> tuple[int, ...]:
        """Return the principal variation of the deepest search; empty if not even depth 1 found a move.

        An unfinished depth counts if it found a better move.
        """
        def on_root_move(move: int, number: int) -> None:
            self._on_root_move(self._depth, move, number)

        self._search.report_root_moves(on_root_move, REPORT_ROOT_MOVES_AFTER_MS)
        try:
            return self._deepen()
        finally:
            self._search.report_root_moves(None, 0)      # the search may be used again

    def _deepen(self) -> tuple[int, ...]:
        best: list[Line] = []
        for depth in range(1, min(self._task.limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
            self._depth = depth
            before = best
            finished = self._search_depth(before)
            stopped = self._search.was_stopped()
            known = {line.variation[0] for line in finished}
            missing = [line for line in before if line.variation[0] not in known] if stopped else []
            best = [*finished, *missing][: self._task.lines]
            for number, line in enumerate(best, 1):
                self._report(number, line, depth if number <= len(finished) else depth - 1)
            if stopped:
                break
            self._time_manager.is_done = self._is_time_up(before, best) or _is_clear(self._task, best[0].score, depth)
            if self._time_manager.is_done and not self._time_manager.pondering:
                break
        return best[0].variation if best else ()

    def _is_time_up(self, before: list[Line], best: list[Line]) -> bool:
        """Return whether it is too late to begin another depth."""
        if self._task.lines > 1 or not before:
            return self._time_manager.too_late_for_another_depth()
        steady = best[0].variation[0] == before[0].variation[0]
        self._steady_depths = self._steady_depths + 1 if steady else 0
        drop = before[0].score - best[0].score
        share = self._search.best_move_share()
        return self._time_manager.too_late_for_another_depth(soft_percent(self._steady_depths, drop, share))

    def _search_depth(self, before: list[Line]) -> list[Line]:
        """Return the lines finished at one depth, best first; each search leaves out the first moves of better lines.

        If the search is stopped in the first line, that counts if it found a move.
        """
        task, search = self._task, self._search
        lines: list[Line] = []
        for number in range(min(task.lines, len(task.moves))):
            taken = {line.variation[0] for line in lines}
            expected = next((line for line in before if line.variation[0] not in taken), None)
            left = [move for move in task.moves if move not in taken]
            found = expected.variation[:1] if expected is not None else ()
            search.restrict_root(left, task.complete and not taken, *found)
            line = search_line(search, self._depth, expected, partial(self._report, number + 1, depth=self._depth))
            if line.variation and (number == 0 or not search.was_stopped()):
                lines.append(line)
            if search.was_stopped():
                break
        return sorted(lines, key=lambda line: -line.score)

    def _report(self, number: int, line: Line, depth: int) -> None:
        search = self._search
        selective_depth = max(search.deepest(), depth)     # a depth that has just begun may have seen fewer plies
        self._on_iteration(
            Iteration(number, line, depth, selective_depth, search.node_count(), self._time_manager.elapsed_ms())
        )


def run_helper(search: Search, task: Task, number: int, begin: Event) -> None:
    """Search beside the main thread, from `begin` on until stopped; results are shared through the transposition table.

    Every second helper is one ply ahead, so that the threads differ. (chessprogramming wiki: Lazy SMP)
    """
    begin.wait()
    search.restrict_root(task.moves, task.complete)
    line: Line | None = None
    for depth in range(1 + number % 2, MAX_DEPTH + 1):
        line = search_line(search, depth, line, lambda line: None)
        if search.was_stopped():
            break


def search_line(search: Search, depth: int, expected: Line | None, on_bound: Callable[[Line], None]) -> Line:
    """Search one line with a narrow window around the expected score, widened each time the score is outside.

    `on_bound` is called with each score outside the window. If the search is stopped, the line has what was found so
    far: a move, or only an upper bound for the expected one. Its variation is empty if nothing was found.
    (chessprogramming wiki: Aspiration Windows)
    """
    alpha, beta = -INFINITE, INFINITE
    margin = params.ASPIRATION_WINDOW
    known = expected.variation if expected is not None else ()
    if expected is not None and depth >= params.ASPIRATION_DEPTH and mate_distance(expected.score) is None:
        alpha, beta = expected.score - margin, expected.score + margin
    variation: tuple[int, ...] = ()
    upper: int | None = None           # what the score is at most, if the last window was above it
    while True:
        score = search.run(depth, alpha, beta)
        found = tuple(search.principal_variation())
        if search.was_stopped() and not found and upper is not None:
            return Line(upper, variation or known, Bound.UPPER)
        variation = found or variation
        if search.was_stopped():
            return Line(search.root_score, variation, Bound.LOWER)
        if alpha < score < beta or (alpha, beta) == (-INFINITE, INFINITE):
            return Line(score, variation)
        on_bound(Line(score, variation or known, Bound.UPPER if score <= alpha else Bound.LOWER))
        margin += margin * params.ASPIRATION_GROWTH // 100
        upper = score if score <= alpha else None
        if score <= alpha:
            alpha = max(-INFINITE, score - margin)
        else:
            beta = min(INFINITE, score + margin)
        if margin > params.ASPIRATION_LIMIT:
            alpha, beta = -INFINITE, INFINITE


def _is_clear(task: Task, score: int, depth: int) -> bool:
    """Return whether a deeper search would not change the move.

    True for a mate as short as asked for and, if only time limits the search, for any proven mate, for the only legal
    move, and in a game for the only move allowed.
    """
    limits = task.limits
    moves = mate_distance(score)
    if limits.mate_in is not None and moves is not None and 0 < moves <= limits.mate_in:
        return True
    on_clock = limits.depth is None and limits.nodes is None and limits.mate_in is None
    if task.patient or not on_clock or limits.infinite or task.lines > 1:
        return False
    in_game = limits.white_time_ms is not None or limits.black_time_ms is not None
    no_choice = len(task.moves) == 1 and (task.complete or in_game)
    return no_choice or (moves is not None and depth >= 2 * abs(moves))
