# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""A draw that is there for the taking: a move that leads back to a position of the line being searched.

Two positions between which a single piece has gone to and fro differ in the two keys of that piece, and in who is to
move. All such differences, of every piece between any two squares, stand in one table. (chessprogramming wiki: Upcoming
Repetition; M. Bacon: Detecting Upcoming Repetitions; the table here is a plain one with open addressing)
"""

import cython
from cython.cimports.engine.core.attacks import BETWEEN, KING_ATTACKS, KNIGHT_ATTACKS, bishop_attacks, rook_attacks
from cython.cimports.engine.core.bitboard import bit, u64
from cython.cimports.engine.core.pieces import (
    BISHOP,
    KIND_OF,
    KINDS,
    KING,
    KNIGHT,
    NO_PIECE,
    PAWN,
    QUEEN,
    ROOK,
)
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.zobrist import BLACK_KEY, PIECE_KEY

if not cython.compiled:
    DIFFERENCE = [0] * 8192        # 0: nothing stands here
    SQUARES = [0] * 8192           # one square and, times 64, the other

LAST = cython.declare(cython.int, 8191)             # slot; under half of them are taken


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def slot_of(difference: u64) -> cython.int:
    """Where the difference stands, or else the free slot where it would. Never raises."""
    slot: cython.int = difference & LAST
    while DIFFERENCE[slot] != 0 and DIFFERENCE[slot] != difference:
        slot = (slot + 1) & LAST
    return slot


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def reach(kind: cython.int, square: cython.int) -> u64:
    """The squares a piece reaches on an empty board. Never raises."""
    if kind == KNIGHT:
        return KNIGHT_ATTACKS[square]
    if kind == KING:
        return KING_ATTACKS[square]
    straight: u64 = rook_attacks(square, 0) if kind in (ROOK, QUEEN) else 0
    return straight | bishop_attacks(square, 0) if kind in (BISHOP, QUEEN) else straight


def _fill() -> int:
    """Enter every piece between every two squares; returns how many entries that makes."""
    count: cython.int = 0
    piece: cython.int
    one: cython.int
    other: cython.int
    for piece in range(2 * KINDS):
        if KIND_OF[piece] == PAWN:
            continue               # a pawn never goes back
        for one in range(64):
            for other in range(one + 1, 64):
                if reach(KIND_OF[piece], one) & bit(other):
                    difference: u64 = PIECE_KEY[piece * 64 + one] ^ PIECE_KEY[piece * 64 + other] ^ BLACK_KEY
                    slot: cython.int = slot_of(difference)
                    DIFFERENCE[slot] = difference
                    SQUARES[slot] = one + 64 * other
                    count += 1
    return count


ENTRIES = _fill()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def leads_back(position: Position, root_height: cython.int) -> cython.bint:
    """Can the side to move go back at once to a position that stood after the root? Never raises."""
    oldest: cython.int = position.height - position.halfmove_clock
    if oldest <= root_height:
        oldest = root_height + 1
    height: cython.int = position.height - 3
    while height >= oldest:
        slot: cython.int = slot_of(position.key ^ position.undo_key[height])
        if DIFFERENCE[slot] != 0:
            squares: cython.int = SQUARES[slot]
            one: cython.int = squares & 63
            piece: cython.int = position.board[one]
            if piece == NO_PIECE:
                piece = position.board[squares >> 6]
            is_ours: cython.bint = (piece >= KINDS) == (position.side_to_move != 0)
            if is_ours and not BETWEEN[one * 64 + (squares >> 6)] & position.occupied:
                return True
        height -= 2
    return False


def can_repeat(position: Position, root_height: int) -> bool:
    """`leads_back` for Python callers."""
    return leads_back(position, root_height)
