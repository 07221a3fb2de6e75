"""Iterative deepening: ever deeper searches, each ordering the next, until a limit is reached.

Reports upwards by callback. (chessprogramming wiki: Iterative Deepening, Aspiration Windows)
"""

from collections.abc import Callable
from dataclasses import dataclass

from engine import params
from engine.clock import Clock, Limits
from engine.score import mate_distance, scale
from engine.search import Search

INFINITE = scale()["INFINITE"]
MAX_DEPTH = scale()["MAX_PLY"] - 1


@dataclass(frozen=True)
class Line:
    """A variation and its score: centipawns for the side to move, mates as `score.py` has them."""

    score: int
    variation: tuple[int, ...]


@dataclass(frozen=True)
class Iteration:
    """What one finished depth found for one line, the best being number 1."""

    number: int
    line: Line
    depth: int
    selective_depth: int
    nodes: int
    time_ms: int


@dataclass(frozen=True)
class Task:
    """What is searched: the moves to choose from, and how many lines to show. `complete`: no legal move is missing."""

    moves: list[int]
    complete: bool
    lines: int
    limits: Limits


def deepen(search: Search, clock: Clock, task: Task, report: Callable[[Iteration], None]) -> tuple[int, ...]:
    """The principal variation of the deepest search the limits allow; empty if not even depth 1 found a move.

    A depth that was cut short still counts if it found a better first move before.
    """
    limits = task.limits
    best: list[Line] = []
    for depth in range(1, min(limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
        before, best = best, _search_depth(search, depth, task, best)
        shown = best if not search.was_stopped() else [line for line in best[:1] if line not in before]
        for number, line in enumerate(shown, 1):
            report(Iteration(number, line, depth, search.deepest(), search.node_count(), clock.elapsed_ms()))
        if search.was_stopped():
            break
        if clock.too_late_for_another_depth() or _is_decided(task, best[0].score, depth):
            break
    return best[0].variation if best else ()


def assist(search: Search, task: Task, number: int) -> None:
    """Deepen beside the main search until stopped: all that is found reaches it through the shared table.

    Every second helper is a ply ahead, so that not all threads do the same. (chessprogramming wiki: Lazy SMP)
    """
    search.restrict_root(task.moves, task.complete)
    line: Line | None = None
    for depth in range(1 + number % 2, MAX_DEPTH + 1):
        line = _search_line(search, depth, line)
        if search.was_stopped():
            break


def _search_depth(search: Search, depth: int, task: Task, before: list[Line]) -> list[Line]:
    """The best lines at one depth, each searched among the moves that head no better line."""
    lines: list[Line] = []
    for number in range(min(task.lines, len(task.moves))):
        expected = before[number] if number < len(before) else None
        taken = {line.variation[0] for line in lines}
        left = [move for move in task.moves if move not in taken]
        search.restrict_root(left, task.complete and not taken)
        line = _search_line(search, depth, expected)
        if search.was_stopped() and (number > 0 or not line.variation):
            return before if number == 0 else [lines[0], *before[1:]]
        lines.append(line)
        if search.was_stopped():
            return [line, *before[1:]]
    return sorted(lines, key=lambda line: -line.score)


def _search_line(search: Search, depth: int, expected: Line | None) -> Line:
    """Score and variation of one line: a narrow window around the expected score, widened as often as it fails.

    The variation is empty if the search was stopped before a move was found to be good enough; what it found before
    the stop counts.
    """
    alpha, beta = -INFINITE, INFINITE
    margin = params.ASPIRATION_WINDOW
    if expected is not None and depth >= params.ASPIRATION_DEPTH and mate_distance(expected.score) is None:
        alpha, beta = expected.score - margin, expected.score + margin
    variation: tuple[int, ...] = ()
    while True:
        score = search.run(depth, alpha, beta)
        variation = tuple(search.principal_variation()) or variation
        if search.was_stopped():
            return Line(search.best_root_score(), variation)
        if alpha < score < beta or (alpha, beta) == (-INFINITE, INFINITE):
            return Line(score, variation)
        margin *= 2
        if score <= alpha:
            alpha = max(-INFINITE, score - margin)
        else:
            beta = min(INFINITE, score + margin)
        if margin > params.ASPIRATION_LIMIT:
            alpha, beta = -INFINITE, INFINITE


def _is_decided(task: Task, score: int, depth: int) -> bool:
    """Would a deeper search change nothing? So for a mate as short as asked for, and, on the clock, for any proven
    mate and for the only legal move."""
    limits = task.limits
    moves = mate_distance(score)
    if limits.mate_in is not None and moves is not None and 0 < moves <= limits.mate_in:
        return True
    on_clock = limits.depth is None and limits.nodes is None and limits.mate_in is None
    if not on_clock or limits.infinite or limits.ponder or task.lines > 1:
        return False
    return len(task.moves) == 1 or (moves is not None and depth >= 2 * abs(moves))
