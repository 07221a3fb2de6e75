# cython: language_level=3, boundscheck=False, wraparound=False
"""The formulas of what is searched less or not at all: margins in centipawns, reductions in plies. No recursion."""

from math import log

import cython

from engine import params

if cython.compiled:
    from cython.cimports.engine.params import NULL_MOVE_DIVISOR, NULL_MOVE_REDUCTION, REVERSE_FUTILITY_MARGIN

    LATE_MOVE_REDUCTION = cython.declare(cython.int[4096])
else:
    from engine.params import NULL_MOVE_DIVISOR, NULL_MOVE_REDUCTION, REVERSE_FUTILITY_MARGIN

    LATE_MOVE_REDUCTION = [0] * 4096      # [depth * 64 + move number]


def _fill() -> None:
    depth: cython.int
    number: cython.int
    for depth in range(1, 64):
        for number in range(1, 64):
            plies = params.LATE_MOVE_BASE + params.LATE_MOVE_SLOPE * log(depth) * log(number)
            LATE_MOVE_REDUCTION[depth * 64 + number] = int(plies / 100)


_fill()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def null_move_reduction(depth: cython.int) -> cython.int:
    """How many plies less the reply to a pass is searched. Never raises."""
    return NULL_MOVE_REDUCTION + depth // NULL_MOVE_DIVISOR


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def reverse_futility_margin(depth: cython.int) -> cython.int:
    """How far above beta a static evaluation must be to be believed `depth` plies ahead. Never raises."""
    return REVERSE_FUTILITY_MARGIN * depth


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def late_move_reduction(depth: cython.int, move_number: cython.int) -> cython.int:
    """How many plies less a late quiet move is searched at first: never so many that nothing is left. Never raises."""
    if depth > 63:
        depth = 63
    if move_number > 63:
        move_number = 63
    plies: cython.int = LATE_MOVE_REDUCTION[depth * 64 + move_number]
    return plies if plies < depth - 1 else depth - 2
