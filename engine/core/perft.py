# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Leaf counts of the tree of legal moves: the classic proof of a move generator. (chessprogramming wiki: Perft)"""

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.movegen import generate
from cython.cimports.engine.core.position import Position


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _leaves(position: Position, depth: cython.int, bulk: cython.bint) -> u64:
    """Never raises. `bulk` counts the last ply's moves without making them."""
    if depth == 0:
        return 1
    moves = cython.declare(cython.int[288])
    end: cython.int = generate(position, moves, 0, False)
    if bulk and depth == 1:
        return end
    total: u64 = 0
    index: cython.int
    for index in range(end):
        position.make(moves[index])
        total += _leaves(position, depth - 1, bulk)
        position.unmake(moves[index])
    return total


def perft(position: Position, depth: int, bulk: bool = True) -> int:
    """How many ways the next `depth` plies can be played. Without `bulk` every leaf is made, for timing `make`."""
    plies: cython.int = depth
    in_bulk: cython.bint = bulk
    total: u64
    with cython.nogil:
        total = _leaves(position, plies, in_bulk)
    return total
