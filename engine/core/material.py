# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Which pieces are left: enough to mate, or too few to pass safely."""

import cython
from cython.cimports.engine.core.bitboard import DARK_SQUARES, popcount, u64
from cython.cimports.engine.core.pieces import BISHOP, KINDS, KING, KNIGHT, PAWN, QUEEN, ROOK
from cython.cimports.engine.core.position import Position


def is_insufficient_material(position: Position) -> cython.bint:
    """Return whether neither side can mate: bare kings, one minor piece, or bishops on one square colour only.
    """
    heavy: u64 = (
        position.pieces[PAWN] | position.pieces[ROOK] | position.pieces[QUEEN]
        | position.pieces[KINDS + PAWN] | position.pieces[KINDS + ROOK] | position.pieces[KINDS + QUEEN]
    )
    if heavy:
        return False
    knights: u64 = position.pieces[KNIGHT] | position.pieces[KINDS + KNIGHT]
    bishops: u64 = position.pieces[BISHOP] | position.pieces[KINDS + BISHOP]
    if knights:
        return popcount(knights | bishops) == 1
    return not bishops & DARK_SQUARES or not bishops & ~DARK_SQUARES


def has_pieces(position: Position, colour: cython.int) -> cython.bint:
    """Return whether a side has more than king and pawns."""
    first: cython.int = colour * KINDS
    return position.colours[colour] != position.pieces[first + PAWN] | position.pieces[first + KING]


def has_one_piece(position: Position, colour: cython.int) -> cython.bint:
    """Return whether a side has at most one piece besides king and pawns: zugzwang is then likely."""
    first: cython.int = colour * KINDS
    pieces: u64 = position.colours[colour] ^ position.pieces[first + PAWN] ^ position.pieces[first + KING]
    return not pieces & (pieces - 1)


def cannot_be_won(position: Position) -> bool:
    """Return `is_insufficient_material`, for Python callers."""
    return is_insufficient_material(position)
