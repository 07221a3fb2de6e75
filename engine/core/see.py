# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Static exchange evaluation: the material won by the captures on one square. (chessprogramming wiki: SEE)

Both sides capture with their least valuable piece for as long as it pays. Pins are ignored.
"""

import cython
from cython.cimports.engine.core.attacks import (
    KING_ATTACKS,
    KNIGHT_ATTACKS,
    PAWN_ATTACKS,
    bishop_attacks,
    rook_attacks,
)
from cython.cimports.engine.core.bitboard import bit, lsb, u64
from cython.cimports.engine.core.move import (
    CASTLING,
    EN_PASSANT,
    flag_of,
    from_square,
    is_capture,
    is_promotion,
    promoted_kind,
    to_square,
)
from cython.cimports.engine.core.params import EXCHANGE_VALUE
from cython.cimports.engine.core.pieces import (
    BISHOP,
    KIND_OF,
    KINDS,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
)
from cython.cimports.engine.core.position import Position


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def first_gain(position: Position, move: cython.int) -> cython.int:
    """Return what the move itself captures and promotes to, in centipawns."""
    gain: cython.int = 0
    if is_capture(move):           # en passant too: its empty target counts as a pawn
        gain = EXCHANGE_VALUE[KIND_OF[position.board[to_square(move)]]]
    if is_promotion(move):
        gain += EXCHANGE_VALUE[promoted_kind(move)] - EXCHANGE_VALUE[PAWN]
    return gain


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def least_valuable(position: Position, side: cython.int, attackers: u64) -> cython.int:
    """Return the kind of the least valuable attacker of `side`, which has at least one."""
    kind: cython.int = PAWN
    while not attackers & position.pieces[side * KINDS + kind]:
        kind += 1
    return kind


def exchange_wins(position: Position, move: cython.int, threshold: cython.int) -> cython.bint:
    """Return whether the move wins at least `threshold` centipawns after all captures on its square.

    `balance` is the material of the side that just captured, minus its threshold, assuming that its piece is
    recaptured: as soon as that is not negative, no recapture can change the answer.
    """
    if flag_of(move) == CASTLING:
        return threshold <= 0
    target: cython.int = to_square(move)
    balance: cython.int = first_gain(position, move) - threshold
    if balance < 0:
        return False
    kind: cython.int = promoted_kind(move) if is_promotion(move) else KIND_OF[position.board[from_square(move)]]
    balance -= EXCHANGE_VALUE[kind]
    if balance >= 0:
        return True
    us: cython.int = position.side_to_move
    occupied: u64 = (position.occupied ^ bit(from_square(move))) | bit(target)
    if flag_of(move) == EN_PASSANT:
        occupied ^= bit(target ^ 8)
    queens: u64 = position.pieces[QUEEN] | position.pieces[KINDS + QUEEN]
    diagonal: u64 = position.pieces[BISHOP] | position.pieces[KINDS + BISHOP] | queens
    straight: u64 = position.pieces[ROOK] | position.pieces[KINDS + ROOK] | queens
    attackers: u64 = (
        (PAWN_ATTACKS[64 + target] & position.pieces[PAWN])
        | (PAWN_ATTACKS[target] & position.pieces[KINDS + PAWN])
        | (KNIGHT_ATTACKS[target] & (position.pieces[KNIGHT] | position.pieces[KINDS + KNIGHT]))
        | (KING_ATTACKS[target] & (position.pieces[KING] | position.pieces[KINDS + KING]))
        | (bishop_attacks(target, occupied) & diagonal)
        | (rook_attacks(target, occupied) & straight)
    )
    side: cython.int = us ^ 1
    while True:
        attackers &= occupied
        ours: u64 = attackers & position.colours[side]
        if not ours:
            return side != us
        kind = least_valuable(position, side, ours)
        if kind == KING and attackers & position.colours[side ^ 1]:
            return side != us      # the king may not capture what is defended
        occupied ^= bit(lsb(ours & position.pieces[side * KINDS + kind]))
        if kind in (PAWN, BISHOP, QUEEN):
            attackers |= bishop_attacks(target, occupied) & diagonal
        if kind in (ROOK, QUEEN):
            attackers |= rook_attacks(target, occupied) & straight
        balance = -balance - 1 - EXCHANGE_VALUE[kind]
        if balance >= 0:
            return side == us
        side ^= 1
