# cython: language_level=3, boundscheck=False, wraparound=False
"""The formulas of what is searched less or not at all: margins in centipawns, reductions in plies. No recursion."""

from math import log

import cython
from cython.cimports.engine.core.params import (
    FUTILITY_BASE,
    FUTILITY_MARGIN,
    LATE_MOVE_HISTORY,
    MOVE_COUNT_BASE,
    NULL_MOVE_DIVISOR,
    NULL_MOVE_REDUCTION,
    NULL_MOVE_SURPLUS,
    REVERSE_FUTILITY_MARGIN,
    SINGULAR_MARGIN,
)

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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def reverse_futility_margin(depth: cython.int, improving: cython.bint) -> cython.int:
    """How far above beta a static evaluation must be to be believed `depth` plies ahead. Never raises."""
    return REVERSE_FUTILITY_MARGIN * (depth - improving)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def null_move_reduction(depth: cython.int, surplus: cython.int) -> cython.int:
    """How many plies less the reply to a pass is searched, `surplus` centipawns above beta. Never raises."""
    extra: cython.int = surplus // NULL_MOVE_SURPLUS
    return NULL_MOVE_REDUCTION + depth // NULL_MOVE_DIVISOR + (extra if extra < 3 else 3)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def singular_bar(table_score: cython.int, depth: cython.int) -> cython.int:
    """The score that all other moves must stay below for the table's move to be singular. Never raises."""
    return table_score - SINGULAR_MARGIN * depth


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def quiet_move_limit(depth: cython.int, improving: cython.bint) -> cython.int:
    """How many moves are tried before the remaining quiet ones are given up. Never raises."""
    limit: cython.int = MOVE_COUNT_BASE + depth * depth
    return limit if improving else limit // 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def futility_margin(depth: cython.int) -> cython.int:
    """How much a quiet move may be hoped to gain in so many plies. Never raises."""
    return FUTILITY_BASE + FUTILITY_MARGIN * depth


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def late_move_reduction(depth: cython.int, move_number: cython.int, worth: cython.int) -> cython.int:
    """How many plies less a late move is searched at first; `worth` is what history says of it. Never raises."""
    if depth > 63:
        depth = 63
    if move_number > 63:
        move_number = 63
    return LATE_MOVE_REDUCTION[depth * 64 + move_number] - worth // LATE_MOVE_HISTORY
