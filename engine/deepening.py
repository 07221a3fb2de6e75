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
class Iteration:
    """What one finished depth found. `score` is in centipawns for the side to move, mates as `score.py` has them."""

    depth: int
    selective_depth: int
    score: int
    nodes: int
    time_ms: int
    variation: tuple[int, ...]


def deepen(
    search: Search, clock: Clock, limits: Limits, only_move: bool, report: Callable[[Iteration], None]
) -> tuple[int, ...]:
    """The principal variation of the deepest search the limits allow; empty if not even depth 1 found a move.

    A depth that was cut short still counts if it found a better first move before.
    """
    best: tuple[int, ...] = ()
    score = 0
    on_clock = limits.depth is None and limits.nodes is None and not limits.infinite
    for depth in range(1, min(limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
        score, best = _search_depth(search, depth, score, best)
        if search.was_stopped():
            break
        report(Iteration(depth, search.deepest(), score, search.node_count(), clock.elapsed_ms(), best))
        if clock.too_late_for_another_depth() or (on_clock and (only_move or _is_proven_mate(score, depth))):
            break
    return best


def _search_depth(
    search: Search, depth: int, expected: int, best: tuple[int, ...]
) -> tuple[int, tuple[int, ...]]:
    """Score and variation of one depth: a narrow window around the expected score, widened as often as it fails."""
    alpha, beta = -INFINITE, INFINITE
    margin = params.ASPIRATION_WINDOW
    if depth >= params.ASPIRATION_DEPTH and mate_distance(expected) is None:
        alpha, beta = expected - margin, expected + margin
    while True:
        score = search.run(depth, alpha, beta)
        best = tuple(search.principal_variation()) or best
        if search.was_stopped() or alpha < score < beta or (alpha, beta) == (-INFINITE, INFINITE):
            return score, best
        margin *= 2
        if score <= alpha:
            alpha = max(-INFINITE, score - margin)
        else:
            beta = min(INFINITE, score + margin)
        if margin > 1000:
            alpha, beta = -INFINITE, INFINITE


def _is_proven_mate(score: int, depth: int) -> bool:
    """Is there a forced mate that a deeper search would only find again?"""
    moves = mate_distance(score)
    return moves is not None and depth >= 2 * abs(moves)
