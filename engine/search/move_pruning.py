# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Which moves of a node are not worth making, and which are searched less deeply at first.

Ordering has put the good moves first; what is judged here are the others. The margins are in `pruning.py`.
"""

import cython
from cython.cimports.engine.core.move import is_tactical
from cython.cimports.engine.core.movegen import gives_check
from cython.cimports.engine.core.params import (
    CAPTURE_EXCHANGE_MARGIN,
    EXCHANGE_PRUNING_DEPTH,
    FUTILITY_DEPTH,
    LATE_MOVE_COUNT,
    LATE_MOVE_DEPTH,
    MOVE_COUNT_DEPTH,
    QUIET_EXCHANGE_MARGIN,
)
from cython.cimports.engine.core.see import exchange_wins
from cython.cimports.engine.search.move_picker import Picker
from cython.cimports.engine.search.pruning import futility_margin, late_move_reduction, quiet_move_limit
from cython.cimports.engine.search.search_stack import Line


@cython.final
@cython.cclass
class Selection:
    """Of one thread's search. The move in question is the one the picker gave last, `line.worth` what it is worth."""

    def __init__(self, line: Line, picker: Picker) -> None:
        self.position = line.position
        self.line = line
        self.picker = picker

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_hopeless(
        self, move: cython.int, number: cython.int, alpha: cython.int, depth: cython.int, ply: cython.int
    ) -> cython.bint:
        """Is a move, some other having saved us from mate, not worth making at all? Never raises.

        A quiet check is spared: it may be mate.
        (chessprogramming wiki: Futility Pruning, Late Move Pruning)
        """
        if not self.position.has_pieces(self.position.side_to_move):
            return False
        if is_tactical(move):
            return (
                depth <= EXCHANGE_PRUNING_DEPTH
                and self.picker.is_losing(ply)
                and not exchange_wins(self.position, move, -CAPTURE_EXCHANGE_MARGIN * depth)
            )
        is_late: cython.bint = depth <= MOVE_COUNT_DEPTH and number > quiet_move_limit(depth, self.line.improving[ply])
        if not is_late and not self.is_weak(number, alpha, depth, ply, move):
            return False
        if gives_check(self.position, move):
            return False
        if is_late:
            self.picker.only_checks(ply)       # all quiet moves left are as late
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_weak(
        self, number: cython.int, alpha: cython.int, depth: cython.int, ply: cython.int, move: cython.int
    ) -> cython.bint:
        """Does the evaluation speak against a quiet move, or what it puts en prise? Never raises."""
        left: cython.int = depth - late_move_reduction(depth, number, self.line.worth[ply])
        if left < 1:
            left = 1
        hopes_to_reach: cython.int = self.line.static_eval(ply) + futility_margin(left)
        if not self.line.in_check[ply] and left <= FUTILITY_DEPTH and hopes_to_reach <= alpha:
            return True
        return left <= EXCHANGE_PRUNING_DEPTH and not exchange_wins(self.position, move, -QUIET_EXCHANGE_MARGIN * left)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def reduction(
        self, move: cython.int, number: cython.int, depth: cython.int, ply: cython.int, on_pv: cython.bint
    ) -> cython.int:
        """How many plies less a late move is searched at first. Never raises.

        Ordering has put the good moves first, so the rest are looked at less deeply until one surprises.
        (chessprogramming wiki: Late Move Reductions)
        """
        if depth < LATE_MOVE_DEPTH or number <= LATE_MOVE_COUNT:
            return 0
        if is_tactical(move) and not self.picker.is_losing(ply):
            return 0
        plies: cython.int = late_move_reduction(depth, number, self.line.worth[ply])
        plies += self.line.cut_node[ply]
        plies += not self.line.improving[ply]
        plies -= on_pv
        plies -= self.line.in_check[ply]
        if plies > depth - 2:
            plies = depth - 2
        return plies if plies > 0 else 0
