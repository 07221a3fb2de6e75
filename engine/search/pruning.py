# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Pruning and reductions of nodes and moves: margins in centipawns, reductions in plies.

Must not know the recursion. The numbers are in `params.py`.
"""

from math import log

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.move import NO_MOVE, is_tactical
from cython.cimports.engine.core.params import (
    CAPTURE_EXCHANGE_MARGIN,
    EXCHANGE_PRUNING_DEPTH,
    FUTILITY_BASE,
    FUTILITY_DEPTH,
    FUTILITY_MARGIN,
    HINDSIGHT_MARGIN,
    HINDSIGHT_REDUCTION,
    INTERNAL_REDUCTION_DEPTH,
    LATE_MOVE_BASE,
    LATE_MOVE_COUNT,
    LATE_MOVE_DEPTH,
    LATE_MOVE_HISTORY,
    LATE_MOVE_SLOPE,
    MOVE_COUNT_BASE,
    MOVE_COUNT_DEPTH,
    MOVE_COUNT_NOT_IMPROVING,
    MOVE_COUNT_SLOPE,
    NULL_MOVE_REDUCTION,
    NULL_MOVE_REDUCTION_SLOPE,
    NULL_MOVE_SURPLUS,
    NULL_MOVE_SURPLUS_LIMIT,
    QUIET_EXCHANGE_MARGIN,
    REDUCE_BAD_CAPTURE,
    REDUCE_CUT_NODE,
    REDUCE_LESS_IF_FORCED,
    REDUCE_LESS_ON_PV,
    REDUCE_LESS_ON_TT_PV,
    REDUCE_NOT_IMPROVING,
    REDUCE_TT_TACTICAL,
    REVERSE_FUTILITY_DEPTH,
    REVERSE_FUTILITY_IMPROVING,
    REVERSE_FUTILITY_MARGIN,
    SINGULAR_MARGIN,
)
from cython.cimports.engine.core.score import NO_SCORE, is_decided
from cython.cimports.engine.search.move_picker import MovePicker
from cython.cimports.engine.search.search_stack import SearchStack
from cython.cimports.engine.search.transposition import entry_move

LOG_PRODUCT = cython.declare(cython.int[4096])     # [depth * 64 + move number]: the logarithms' product, times 1024
if not cython.compiled:
    LOG_PRODUCT = [0] * 4096
    SKIP_NOTHING, SKIP_MOVE, SKIP_QUIETS = range(3)     # what `Pruning.to_skip` returns


def _fill() -> None:
    depth: cython.int
    number: cython.int
    for depth in range(1, 64):
        for number in range(1, 64):
            LOG_PRODUCT[depth * 64 + number] = int(1024 * log(depth) * log(number))


_fill()


def internal_reduction(entry: u64, depth: cython.int) -> cython.int:
    """Return 1 to reduce a deep node for which the table has no move, else 0.

    (chessprogramming wiki: Internal Iterative Reductions)
    """
    return depth >= INTERNAL_REDUCTION_DEPTH and (entry == 0 or entry_move(entry) == NO_MOVE)


def null_move_reduction(depth: cython.int, surplus: cython.int) -> cython.int:
    """Return the reduction after a null move of an evaluation `surplus` centipawns above beta."""
    extra: cython.int = surplus * 1024 // NULL_MOVE_SURPLUS
    if extra > NULL_MOVE_SURPLUS_LIMIT:
        extra = NULL_MOVE_SURPLUS_LIMIT
    return NULL_MOVE_REDUCTION + NULL_MOVE_REDUCTION_SLOPE * depth + extra >> 10


def fail_high_score(score: cython.int, beta: cython.int, depth: cython.int) -> cython.int:
    """Return a score above beta moved towards beta, the more the lower the depth: the surplus is uncertain."""
    if is_decided(score) or is_decided(beta):
        return score
    return (score * depth + beta) // (depth + 1)


def singular_beta(tt_score: cython.int, depth: cython.int) -> cython.int:
    """Return the score that all other moves must stay below for the table's move to be singular."""
    return tt_score - (SINGULAR_MARGIN * depth >> 4)


def move_count_limit(depth: cython.int, improving: cython.bint) -> cython.int:
    """Return the number of moves after which quiet moves are pruned."""
    limit: cython.int = MOVE_COUNT_BASE + MOVE_COUNT_SLOPE * depth * depth
    return limit >> 10 if improving else limit * MOVE_COUNT_NOT_IMPROVING >> 20


def futility_margin(depth: cython.int) -> cython.int:
    """Return the most that a quiet move is expected to gain in `depth` plies."""
    return FUTILITY_BASE + FUTILITY_MARGIN * depth


def late_move_reduction(depth: cython.int, move_number: cython.int, history_score: cython.int) -> cython.int:
    """Return the reduction of a late move with this history score, in 1/1024 ply."""
    if depth > 63:
        depth = 63
    if move_number > 63:
        move_number = 63
    slope: cython.int = LATE_MOVE_SLOPE * LOG_PRODUCT[depth * 64 + move_number] >> 10
    return LATE_MOVE_BASE + slope - history_score * 1024 // LATE_MOVE_HISTORY


@cython.final
@cython.cclass
class Pruning:
    """Pruning and reductions of one thread. A move is the last one from the picker, its history score on the stack."""

    def __init__(self, stack: SearchStack, picker: MovePicker) -> None:
        self.rules = stack.rules
        self.stack = stack
        self.picker = picker

    def to_skip(
        self, move: cython.int, number: cython.int, alpha: cython.int, depth: cython.int, ply: cython.int
    ) -> cython.int:
        """Return SKIP_MOVE to skip a move, SKIP_QUIETS to skip it and the quiet moves after it, or SKIP_NOTHING.

        Requires a score better than being mated, and that zugzwang is unlikely. Quiet checks are never skipped.
        (chessprogramming wiki: Futility Pruning, Late Move Pruning)
        """
        if is_tactical(move):
            if depth > EXCHANGE_PRUNING_DEPTH or not self.picker.is_bad_capture(ply):
                return SKIP_NOTHING
            return SKIP_NOTHING if self.rules.exchange_wins(move, -CAPTURE_EXCHANGE_MARGIN * depth) else SKIP_MOVE
        is_late: cython.bint = depth <= MOVE_COUNT_DEPTH and number > move_count_limit(depth, self.stack.improving[ply])
        if not is_late and not self.is_futile_or_losing(move, number, alpha, depth, ply):
            return SKIP_NOTHING
        if self.rules.is_forcing(move):
            return SKIP_NOTHING
        return SKIP_QUIETS if is_late else SKIP_MOVE       # the quiet moves after a late one are late too

    def is_futile_or_losing(
        self, move: cython.int, number: cython.int, alpha: cython.int, depth: cython.int, ply: cython.int
    ) -> cython.bint:
        """Return whether a quiet move is futile by the static evaluation, or loses material."""
        new_depth: cython.int = depth - (late_move_reduction(depth, number, self.stack.history_score[ply]) >> 10)
        if new_depth < 1:
            new_depth = 1
        optimistic: cython.int = self.stack.static_eval(ply) + futility_margin(new_depth)
        if not self.stack.forced[ply] and new_depth <= FUTILITY_DEPTH and optimistic <= alpha:
            return True
        least: cython.int = -QUIET_EXCHANGE_MARGIN * new_depth
        return new_depth <= EXCHANGE_PRUNING_DEPTH and not self.rules.exchange_wins(move, least)

    def reduction(
        self, move: cython.int, number: cython.int, depth: cython.int, ply: cython.int, on_pv: cython.bint
    ) -> cython.int:
        """Return by how many plies to reduce a late move; it is searched again if it beats alpha.

        (chessprogramming wiki: Late Move Reductions)
        """
        if depth < LATE_MOVE_DEPTH or number <= LATE_MOVE_COUNT:
            return 0
        is_bad_capture: cython.bint = self.picker.is_bad_capture(ply)
        if is_tactical(move) and not is_bad_capture:
            return 0
        parts: cython.int = late_move_reduction(depth, number, self.stack.history_score[ply])      # of 1/1024 ply
        if is_bad_capture:
            parts += REDUCE_BAD_CAPTURE
        if self.stack.cut_node[ply]:
            parts += REDUCE_CUT_NODE
        if not self.stack.improving[ply]:
            parts += REDUCE_NOT_IMPROVING
        if self.stack.tt_tactical[ply]:
            parts += REDUCE_TT_TACTICAL
        if on_pv:
            parts -= REDUCE_LESS_ON_PV
        if self.stack.tt_pv[ply]:
            parts -= REDUCE_LESS_ON_TT_PV
        if self.stack.forced[ply]:
            parts -= REDUCE_LESS_IF_FORCED
        plies: cython.int = parts >> 10
        if plies > depth - 2:
            plies = depth - 2
        return plies if plies > 0 else 0

    def is_reverse_futile(
        self, refined: cython.int, beta: cython.int, depth: cython.int, ply: cython.int
    ) -> cython.bint:
        """Return whether the evaluation is so far above beta that a few plies will not change that.

        `refined` is what `SearchStack.refined_evaluation` returned. (chessprogramming wiki: Reverse Futility Pruning)
        """
        if depth > REVERSE_FUTILITY_DEPTH or is_decided(refined):
            return False
        margin: cython.int = REVERSE_FUTILITY_MARGIN * depth
        if self.stack.improving[ply]:
            margin -= REVERSE_FUTILITY_IMPROVING
        return refined - margin >= beta

    def hindsight_reduction(self, depth: cython.int, ply: cython.int) -> cython.int:
        """Return 1 if the previous move was reduced and then lost evaluation: its reply needs less depth. Else 0."""
        if ply == 0 or depth < 2 or self.stack.reductions[ply - 1] < HINDSIGHT_REDUCTION:
            return 0
        before: cython.int = self.stack.static_eval(ply - 1)
        return before != NO_SCORE and before + self.stack.static_eval(ply) > HINDSIGHT_MARGIN
