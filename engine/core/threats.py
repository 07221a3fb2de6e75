# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""How each piece stands to the others: whether it is defended, and what attacks it.

A network has weights for each of these threats, see `evaluation/net_file.py`:

    threat = 2 * (its least attacker: none 0, pawn 1, knight or bishop 2, rook, queen or king 3) + (is it defended?)

Pins count for nothing, and pieces do not attack through others.
"""

import cython
from cython.cimports.engine.core.attacks import major_attacks, minor_attacks, pawn_attacks
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.pieces import BISHOP, KINDS, KING, KNIGHT, PAWN, QUEEN, ROOK

if not cython.compiled:
    THREATS = 8
    THREAT_BITS = 3                # 1 << THREAT_BITS == THREATS

    def threat_at(bits: list[int], first: int, square: int) -> int:
        """Return the threat of the piece on this square, 0 to THREATS - 1."""
        return sum((bits[first + index] >> square & 1) << index for index in range(THREAT_BITS))


def set_threats(pieces: cython.p_ulonglong, occupied: u64, bits: cython.p_ulonglong, first: cython.int) -> cython.void:
    """Set, for each bit of a threat, the squares of the pieces whose threat has it, the lowest bit at `bits[first]`.

    `pieces` has the squares of each piece, White's pawns to king and then Black's.
    """
    by_pawn: u64 = 0
    by_minor: u64 = 0
    by_major: u64 = 0
    defended: u64 = 0
    side: cython.int
    for side in range(2):
        pawn: cython.int = side * KINDS
        ours: u64 = pieces[pawn + PAWN] | pieces[pawn + KNIGHT] | pieces[pawn + BISHOP]
        ours |= pieces[pawn + ROOK] | pieces[pawn + QUEEN] | pieces[pawn + KING]
        theirs: u64 = occupied ^ ours
        pawns: u64 = pawn_attacks(pieces[pawn + PAWN], side)
        minors: u64 = minor_attacks(pieces, pawn, occupied)
        majors: u64 = major_attacks(pieces, pawn, occupied)
        by_pawn |= theirs & pawns
        by_minor |= theirs & minors
        by_major |= theirs & majors
        defended |= ours & (pawns | minors | majors)
    by_minor &= ~by_pawn
    by_major &= ~(by_pawn | by_minor)
    bits[first] = defended
    bits[first + 1] = by_pawn | by_major
    bits[first + 2] = by_minor | by_major
