# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""King and pawn against king: a table of every position, won or drawn, found by retrograde analysis.

White has the pawn, on the files a to d: other positions are mirrored into these by the caller. A position is a number:
side to move 1 bit, White's king 6, Black's king 6, the pawn's file 2 and rank 3. (chessprogramming wiki: KPK)
"""

import cython
from cython.cimports.engine.core.attacks import KING_ATTACKS, PAWN_ATTACKS
from cython.cimports.engine.core.bitboard import bit, lsb, u64
from cython.cimports.engine.core.pieces import BLACK, WHITE

if not cython.compiled:
    VERDICT = bytearray(196608)

UNKNOWN = cython.declare(cython.int, 0)
IMPOSSIBLE = cython.declare(cython.int, 1)
DRAWN = cython.declare(cython.int, 2)
WON = cython.declare(cython.int, 3)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def index_of(side: cython.int, white: cython.int, black: cython.int, pawn: cython.int) -> cython.int:
    """Return the index of a position."""
    return ((((pawn >> 3) - 1) * 4 + (pawn & 3)) * 2 + side) * 4096 + white * 64 + black


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def at_once(side: cython.int, white: cython.int, black: cython.int, pawn: cython.int) -> cython.int:
    """Return the result of a position that needs no search, else UNKNOWN."""
    guarded: u64 = KING_ATTACKS[white] | PAWN_ATTACKS[WHITE * 64 + pawn]
    if (bit(white) | KING_ATTACKS[white]) & bit(black) or (bit(white) | bit(black)) & bit(pawn):
        return IMPOSSIBLE
    if side == WHITE:
        if PAWN_ATTACKS[WHITE * 64 + pawn] & bit(black):
            return IMPOSSIBLE
        queen: cython.int = pawn + 8
        taken: cython.bint = KING_ATTACKS[black] & ~KING_ATTACKS[white] & bit(queen & 63) != 0
        queens: cython.bint = queen >= 56 and queen != white and queen != black and not taken
        return WON if queens else UNKNOWN
    free: u64 = KING_ATTACKS[black] & ~guarded
    if free & bit(pawn):
        return DRAWN               # the pawn is lost
    return UNKNOWN if free & ~bit(pawn) else DRAWN     # stalemate: a lone pawn never mates


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def white_to_move(white: cython.int, black: cython.int, pawn: cython.int) -> cython.int:
    """Return WON if some move wins, DRAWN if all draw, else UNKNOWN."""
    unknown: cython.bint = False
    verdict: cython.int
    moves: u64 = KING_ATTACKS[white] & ~KING_ATTACKS[black] & ~bit(pawn)
    while moves:
        verdict = VERDICT[index_of(BLACK, lsb(moves), black, pawn)]
        if verdict == WON:
            return WON
        unknown |= verdict == UNKNOWN
        moves &= moves - 1
    step: cython.int = pawn + 8
    if step < 56 and step != white and step != black:
        verdict = VERDICT[index_of(BLACK, white, black, step)]
        if verdict == WON:
            return WON
        unknown |= verdict == UNKNOWN
        if pawn < 16 and step + 8 != white and step + 8 != black:
            verdict = VERDICT[index_of(BLACK, white, black, step + 8)]
            if verdict == WON:
                return WON
            unknown |= verdict == UNKNOWN
    return UNKNOWN if unknown else DRAWN


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def black_to_move(white: cython.int, black: cython.int, pawn: cython.int) -> cython.int:
    """Return DRAWN if some move draws, WON if all lose, else UNKNOWN."""
    unknown: cython.bint = False
    moves: u64 = KING_ATTACKS[black] & ~KING_ATTACKS[white] & ~PAWN_ATTACKS[WHITE * 64 + pawn]
    while moves:
        verdict: cython.int = VERDICT[index_of(WHITE, white, lsb(moves), pawn)]
        if verdict == DRAWN:
            return DRAWN
        unknown |= verdict == UNKNOWN
        moves &= moves - 1
    return UNKNOWN if unknown else WON


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sweep(pawn: cython.int, first: cython.bint) -> cython.bint:
    """Try to resolve every unknown position with the pawn on this square; return whether any was resolved."""
    settled: cython.bint = False
    side: cython.int
    white: cython.int
    black: cython.int
    for side in range(2):
        for white in range(64):
            for black in range(64):
                index: cython.int = index_of(side, white, black, pawn)
                if VERDICT[index] != UNKNOWN:
                    continue
                verdict: cython.int = UNKNOWN
                if first:
                    verdict = at_once(side, white, black, pawn)
                elif side == WHITE:
                    verdict = white_to_move(white, black, pawn)
                else:
                    verdict = black_to_move(white, black, pawn)
                if verdict != UNKNOWN:
                    VERDICT[index] = verdict
                    settled = True
    return settled


def _fill() -> None:
    """Resolve the squares of the pawn from the seventh rank down, as the pawn only moves up."""
    rank: cython.int
    file: cython.int
    for rank in range(6, 0, -1):
        for file in range(4):
            pawn: cython.int = rank * 8 + file
            sweep(pawn, True)
            while sweep(pawn, False):
                pass


def is_won(side: cython.int, strong_king: cython.int, weak_king: cython.int, pawn: cython.int) -> cython.bint:
    """Return whether White, with a pawn on the files a to d, wins with `side` to move."""
    if not cython.compiled and not any(VERDICT):
        _fill()                    # takes plain Python some seconds, so only where it is needed
    return VERDICT[index_of(side, strong_king, weak_king, pawn)] == WON


if cython.compiled:
    _fill()


def kpk_counts() -> dict[str, int]:
    """Return how many positions are impossible, drawn and won."""
    is_won(WHITE, 0, 2, 8)         # plain Python has not computed them before
    index: cython.int
    counts = {"impossible": 0, "drawn": 0, "won": 0}
    for index in range(196608):
        verdict: cython.int = VERDICT[index]
        name = "impossible" if verdict == IMPOSSIBLE else "won" if verdict == WON else "drawn"
        counts[name] += 1
    return counts
