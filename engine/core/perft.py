# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Perft: count the leaves of the tree of legal moves, to test the move generator. (chessprogramming wiki: Perft)"""

from collections.abc import Callable, Iterator

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.movegen import MAX_MOVES, generate
from cython.cimports.engine.core.position import Position

from engine.core.movegen import legal_moves

PORTION_PLIES = 4                  # a portion takes a fraction of a second
MOST_PLIES = 100                   # far fewer than a position can unmake, far more than anybody can wait for


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _leaves(position: Position, depth: cython.int, bulk: cython.bint) -> u64:
    """`bulk` counts the last ply's moves without making them."""
    if depth == 0:
        return 1
    moves = cython.declare(cython.int[MAX_MOVES])
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


def check_depth(depth: int) -> None:
    """Raise ValueError for a depth that is negative or would overflow the stack."""
    if not 0 <= depth <= MOST_PLIES:
        raise ValueError(f"perft: expected a depth from 0 to {MOST_PLIES}, found {depth}")


def perft(position: Position, depth: int, bulk: bool = True) -> int:
    """Return the number of leaves at `depth` plies, at most MOST_PLIES. Raises ValueError.

    Without `bulk` every leaf is made, which times `make`.
    """
    check_depth(depth)
    plies: cython.int = depth
    in_bulk: cython.bint = bulk
    total: u64
    with cython.nogil:
        total = _leaves(position, plies, in_bulk)
    return total


def portions(
    position: Position,
    depth: int,
    count: Callable[[Position, int], int] = perft,
    moves: Callable[[Position], list[int]] = legal_moves,
) -> Iterator[int]:
    """Yield numbers that add up to `perft`, so that the caller can be interrupted between them.

    Between yields, moves are made on `position`; it is restored after the last one. Variants count and move in their
    own way. Raises ValueError.
    """
    check_depth(depth)
    if depth <= PORTION_PLIES:
        yield count(position, depth)
        return
    for move in moves(position):
        position.push(move)
        yield from portions(position, depth - 1, count, moves)
        position.pop(move)
