# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What the pieces on the board attack, their own side's squares included: theirs are guarded, the others threatened."""

import cython
from cython.cimports.engine.core.attacks import KING_ATTACKS, KNIGHT_ATTACKS, bishop_attacks, rook_attacks
from cython.cimports.engine.core.bitboard import lsb, u64
from cython.cimports.engine.core.pieces import BISHOP, KINDS, KNIGHT, PAWN, QUEEN, ROOK
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.evaluation.pawns import pawn_attacks


def attacked_by(position: Position, colour: cython.int) -> u64:
    """Every square that a piece of that colour attacks."""
    first: cython.int = colour * KINDS
    occupied: u64 = position.occupied
    attacked: u64 = pawn_attacks(position.pieces[first + PAWN], colour) | KING_ATTACKS[position.king_square(colour)]
    left: u64 = position.pieces[first + KNIGHT]
    while left:
        attacked |= KNIGHT_ATTACKS[lsb(left)]
        left &= left - 1
    left = position.pieces[first + BISHOP] | position.pieces[first + QUEEN]
    while left:
        attacked |= bishop_attacks(lsb(left), occupied)
        left &= left - 1
    left = position.pieces[first + ROOK] | position.pieces[first + QUEEN]
    while left:
        attacked |= rook_attacks(lsb(left), occupied)
        left &= left - 1
    return attacked


def squares_attacked(position: Position, colour: int) -> int:
    """`attacked_by` for Python callers."""
    return attacked_by(position, colour)
