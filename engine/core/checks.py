# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Which legal moves give check. Castling counts as no check. (chessprogramming wiki: Check, Discovered Check)"""

import cython
from cython.cimports.engine.core.attacks import KNIGHT_ATTACKS, PAWN_ATTACKS, bishop_attacks, rook_attacks
from cython.cimports.engine.core.bitboard import bit, lsb, u64
from cython.cimports.engine.core.move import (
    CASTLING,
    EN_PASSANT,
    flag_of,
    from_square,
    is_promotion,
    promoted_kind,
    to_square,
)
from cython.cimports.engine.core.pieces import BISHOP, KIND_OF, KINDS, KING, KNIGHT, PAWN, QUEEN, ROOK
from cython.cimports.engine.core.position import Position


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def find_squares(position: Position, squares: cython.p_ulonglong) -> cython.void:
    """Set for each kind of piece, pawn to king, the squares from which it would attack the enemy king."""
    them: cython.int = position.side_to_move ^ 1
    king: cython.int = lsb(position.pieces[them * KINDS + KING])
    squares[PAWN] = PAWN_ATTACKS[them * 64 + king]
    squares[KNIGHT] = KNIGHT_ATTACKS[king]
    squares[BISHOP] = bishop_attacks(king, position.occupied)
    squares[ROOK] = rook_attacks(king, position.occupied)
    squares[QUEEN] = squares[BISHOP] | squares[ROOK]
    squares[KING] = 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_check(position: Position, move: cython.int, squares: cython.p_ulonglong) -> cython.bint:
    """Return whether a legal move gives check, given what `find_squares` has found."""
    origin: u64 = bit(from_square(move))
    kind: cython.int = promoted_kind(move) if is_promotion(move) else KIND_OF[position.board[from_square(move)]]
    if squares[kind] & bit(to_square(move)):
        return True
    # Else only a line that the move opens can lead to the king.
    if not squares[QUEEN] & origin and flag_of(move) != EN_PASSANT:
        return False
    return flag_of(move) != CASTLING and opens_a_line(position, move, kind)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def opens_a_line(position: Position, move: cython.int, kind: cython.int) -> cython.bint:
    """Return whether a slider attacks the enemy king after the move, which makes its piece one of this kind."""
    us: cython.int = position.side_to_move
    king: cython.int = lsb(position.pieces[(us ^ 1) * KINDS + KING])
    target: u64 = bit(to_square(move))
    occupied: u64 = (position.occupied ^ bit(from_square(move))) | target
    if flag_of(move) == EN_PASSANT:
        occupied ^= bit(to_square(move) ^ 8)
    queens: u64 = position.pieces[us * KINDS + QUEEN] | (target if kind == QUEEN else 0)
    diagonal: u64 = position.pieces[us * KINDS + BISHOP] | queens | (target if kind == BISHOP else 0)
    straight: u64 = position.pieces[us * KINDS + ROOK] | queens | (target if kind == ROOK else 0)
    diagonal &= occupied
    straight &= occupied
    return bishop_attacks(king, occupied) & diagonal != 0 or rook_attacks(king, occupied) & straight != 0


def gives_check(position: Position, move: cython.int) -> cython.bint:
    """Return whether a legal move gives check, directly or discovered; castling counts as none."""
    squares = cython.declare(cython.ulonglong[6])
    find_squares(position, squares)
    return is_check(position, move, squares)


def keep_checks(position: Position, moves: cython.p_int, start: cython.int, end: cython.int) -> cython.int:
    """Keep only the moves of moves[start:end] that give check; return their new end."""
    squares = cython.declare(cython.ulonglong[6])
    find_squares(position, squares)
    kept: cython.int = start
    index: cython.int
    for index in range(start, end):
        if is_check(position, moves[index], squares):
            moves[kept] = moves[index]
            kept += 1
    return kept
