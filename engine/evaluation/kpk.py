# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""King and pawn against king: every won position, found by retrograde analysis of whole sets of squares.

White has the pawn, on the files a to d: other positions are mirrored into these by the caller. For each side to move,
square of the pawn and square of White's king, a set holds the squares of Black's king with which White wins.
(chessprogramming wiki: KPK)
"""

import cython
from cython.cimports.engine.core.attacks import KING_ATTACKS, PAWN_ATTACKS
from cython.cimports.engine.core.bitboard import ALL_SQUARES, beside, bit, lsb, popcount, u64
from cython.cimports.engine.core.pieces import BLACK, WHITE

if not cython.compiled:
    WON = [0] * 3072


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def index_of(side: cython.int, white: cython.int, pawn: cython.int) -> cython.int:
    """Return the index of a set."""
    return (((pawn >> 3) - 1) * 4 + (pawn & 3)) * 128 + side * 64 + white


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def around(squares: u64) -> u64:
    """Return all squares one step of a king away."""
    row: u64 = squares | beside(squares)
    return beside(squares) | row << 8 & ALL_SQUARES | row >> 8


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def white_to_move(white: cython.int, pawn: cython.int) -> u64:
    """Return with which squares of Black's king White is known to win by a move of the pawn or the king."""
    step: cython.int = pawn + 8
    won: u64 = 0
    if step != white and step >= 56:
        safe: u64 = ALL_SQUARES if KING_ATTACKS[white] & bit(step) else ALL_SQUARES & ~KING_ATTACKS[step]
        won = safe & ~bit(step)
    elif step != white:
        won = WON[index_of(BLACK, white, step)]
        if pawn < 16 and step + 8 != white:
            won |= WON[index_of(BLACK, white, step + 8)] & ~bit(step)
    moves: u64 = KING_ATTACKS[white] & ~bit(pawn)
    while moves:
        won |= WON[index_of(BLACK, lsb(moves), pawn)]
        moves &= moves - 1
    return won & ~(bit(white) | KING_ATTACKS[white] | bit(pawn) | PAWN_ATTACKS[WHITE * 64 + pawn])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def black_to_move(white: cython.int, pawn: cython.int) -> u64:
    """Return the squares from which Black's king can move, and each of its moves is known to lose."""
    free: u64 = ALL_SQUARES & ~(KING_ATTACKS[white] | PAWN_ATTACKS[WHITE * 64 + pawn])
    escapes: u64 = free & ~WON[index_of(WHITE, white, pawn)]       # also the pawn, if it is not protected
    lost: u64 = around(free & ~bit(pawn)) & ~around(escapes)       # a lone pawn never mates: no move is a stalemate
    return lost & ~(bit(white) | KING_ATTACKS[white] | bit(pawn))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sweep(pawn: cython.int) -> cython.bint:
    """Add what is won in one move more with the pawn on this square; return whether anything was added."""
    added: cython.bint = False
    side: cython.int
    white: cython.int
    for side in range(2):
        for white in range(64):
            if white != pawn:
                won: u64 = white_to_move(white, pawn) if side == WHITE else black_to_move(white, pawn)
                added |= won != WON[index_of(side, white, pawn)]
                WON[index_of(side, white, pawn)] = won
    return added


def _fill() -> None:
    """From the seventh rank down, as the pawn only moves up."""
    rank: cython.int
    file: cython.int
    for rank in range(6, 0, -1):
        for file in range(4):
            while sweep(rank * 8 + file):
                pass


def is_won(side: cython.int, strong_king: cython.int, weak_king: cython.int, pawn: cython.int) -> cython.bint:
    """Return whether White, with a pawn on the files a to d, wins with `side` to move."""
    if not cython.compiled and not any(WON):
        _fill()                    # takes plain Python a moment, so only where it is needed
    return WON[index_of(side, strong_king, pawn)] & bit(weak_king) != 0


if cython.compiled:
    _fill()


def won_positions() -> int:
    """Return how many positions are won."""
    is_won(WHITE, 0, 2, 8)         # plain Python has not computed them before
    return sum([popcount(WON[index]) for index in range(3072)])
