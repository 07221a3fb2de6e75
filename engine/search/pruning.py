# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The formulas of what is searched less or not at all: margins in centipawns, reductions in plies. No recursion."""

from math import log

import cython
from cython.cimports.engine.core.material import has_pieces
from cython.cimports.engine.core.move import is_tactical
from cython.cimports.engine.core.params import (
    CAPTURE_EXCHANGE_MARGIN,
    EXCHANGE_PRUNING_DEPTH,
    FUTILITY_BASE,
    FUTILITY_DEPTH,
    FUTILITY_MARGIN,
    LATE_MOVE_COUNT,
    LATE_MOVE_DEPTH,
    LATE_MOVE_HISTORY,
    MOVE_COUNT_BASE,
    MOVE_COUNT_DEPTH,
    NULL_MOVE_DIVISOR,
    NULL_MOVE_REDUCTION,
    NULL_MOVE_SURPLUS,
    QUIET_EXCHANGE_MARGIN,
    REVERSE_FUTILITY_MARGIN,
    SINGULAR_MARGIN,
)
from cython.cimports.engine.core.see import exchange_wins
from cython.cimports.engine.search.move_picker import MovePicker
from cython.cimports.engine.search.search_stack import SearchStack

from engine.core import params

LATE_MOVE_REDUCTION = cython.declare(cython.int[4096])     # [depth * 64 + move number]
if not cython.compiled:
    LATE_MOVE_REDUCTION = [0] * 4096


def _fill() -> None:
    depth: cython.int
    number: cython.int
    for depth in range(1, 64):
        for number in range(1, 64):
            plies = params.LATE_MOVE_BASE + params.LATE_MOVE_SLOPE * log(depth) * log(number)
            LATE_MOVE_REDUCTION[depth * 64 + number] = int(plies / 100)


_fill()


def reverse_futility_margin(depth: cython.int, improving: cython.bint) -> cython.int:
    """How far above beta a static evaluation must be to be believed `depth` plies ahead."""
    return REVERSE_FUTILITY_MARGIN * (depth - improving)


def null_move_reduction(depth: cython.int, surplus: cython.int) -> cython.int:
    """How many plies less the reply to a pass is searched, `surplus` centipawns above beta."""
    extra: cython.int = surplus // NULL_MOVE_SURPLUS
    return NULL_MOVE_REDUCTION + depth // NULL_MOVE_DIVISOR + (extra if extra < 3 else 3)


def singular_bar(table_score: cython.int, depth: cython.int) -> cython.int:
    """The score that all other moves must stay below for the table's move to be singular."""
    return table_score - SINGULAR_MARGIN * depth


def quiet_move_limit(depth: cython.int, improving: cython.bint) -> cython.int:
    """How many moves are tried before the remaining quiet ones are given up."""
    limit: cython.int = MOVE_COUNT_BASE + depth * depth
    return limit if improving else limit // 2


def futility_margin(depth: cython.int) -> cython.int:
    """How much a quiet move may be hoped to gain in so many plies."""
    return FUTILITY_BASE + FUTILITY_MARGIN * depth


def late_move_reduction(depth: cython.int, move_number: cython.int, worth: cython.int) -> cython.int:
    """How many plies less a late move is searched at first; `worth` is what history says of it."""
    if depth > 63:
        depth = 63
    if move_number > 63:
        move_number = 63
    return LATE_MOVE_REDUCTION[depth * 64 + move_number] - worth // LATE_MOVE_HISTORY


@cython.final
@cython.cclass
class MovePruning:
    """Of one thread's search. The move in question is the one the picker gave last, `stack.worth` what it is worth."""

    def __init__(self, stack: SearchStack, picker: MovePicker) -> None:
        self.position = stack.position
        self.stack = stack
        self.picker = picker

    def is_hopeless(
        self, move: cython.int, number: cython.int, alpha: cython.int, depth: cython.int, ply: cython.int
    ) -> cython.bint:
        """Is a move, some other having saved us from mate, not worth making at all?

        A quiet check is spared: it may be mate.
        (chessprogramming wiki: Futility Pruning, Late Move Pruning)
        """
        if not has_pieces(self.position, self.position.side_to_move):
            return False
        if is_tactical(move):
            return (
                depth <= EXCHANGE_PRUNING_DEPTH
                and self.picker.is_losing(ply)
                and not exchange_wins(self.position, move, -CAPTURE_EXCHANGE_MARGIN * depth)
            )
        is_late: cython.bint = depth <= MOVE_COUNT_DEPTH and number > quiet_move_limit(depth, self.stack.improving[ply])
        if not is_late and not self.is_weak(number, alpha, depth, ply, move):
            return False
        if self.position.gives_check(move):
            return False
        if is_late:
            self.picker.only_checks(ply)       # all quiet moves left are as late
        return True

    def is_weak(
        self, number: cython.int, alpha: cython.int, depth: cython.int, ply: cython.int, move: cython.int
    ) -> cython.bint:
        """Does the evaluation speak against a quiet move, or what it puts en prise?"""
        left: cython.int = depth - late_move_reduction(depth, number, self.stack.worth[ply])
        if left < 1:
            left = 1
        hopes_to_reach: cython.int = self.stack.static_eval(ply) + futility_margin(left)
        if not self.stack.in_check[ply] and left <= FUTILITY_DEPTH and hopes_to_reach <= alpha:
            return True
        return left <= EXCHANGE_PRUNING_DEPTH and not exchange_wins(self.position, move, -QUIET_EXCHANGE_MARGIN * left)

    def reduction(
        self, move: cython.int, number: cython.int, depth: cython.int, ply: cython.int, on_pv: cython.bint
    ) -> cython.int:
        """How many plies less a late move is searched at first.

        Ordering has put the good moves first, so the rest are looked at less deeply until one surprises.
        (chessprogramming wiki: Late Move Reductions)
        """
        if depth < LATE_MOVE_DEPTH or number <= LATE_MOVE_COUNT:
            return 0
        if is_tactical(move) and not self.picker.is_losing(ply):
            return 0
        plies: cython.int = late_move_reduction(depth, number, self.stack.worth[ply])
        plies += self.stack.cut_node[ply]
        plies += not self.stack.improving[ply]
        plies -= on_pv
        plies -= self.stack.in_check[ply]
        if plies > depth - 2:
            plies = depth - 2
        return plies if plies > 0 else 0
