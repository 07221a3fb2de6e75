# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Squares to numbers, as the Syzygy format has it: positions that mirror each other share one.

All functions take the squares of the men in the order of the file and may change them. Men that are numbered together
are a combination of squares: the k-th square of an ascending group adds C(square, k), counted without the squares of
the groups before. (chessprogramming wiki: Combinatorial Number System)
"""

import cython
from cython.cimports.engine.core.attacks import KING_ATTACKS
from cython.cimports.engine.core.bitboard import bit, u64

if not cython.compiled:
    TRIANGLE = [0] * 64
    BELOW = [0] * 64
    KINGS = [0] * 640
    CHOOSE = [0] * 448

# TRIANGLE: b1 c1 d1 c2 d2 d3 are 0 to 5, the diagonal a1 b2 c3 d4 6 to 9.
# BELOW: the 28 squares below the long diagonal, b1 c1 ... h1 c2 ... h7.
# KINGS: [triangle * 64 + square], the 462 placements of two kings. CHOOSE: [k * 64 + n], n over k.


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def above_diagonal(square: cython.int) -> cython.int:
    """Positive above the diagonal a1-h8, negative below, 0 on it."""
    return (square >> 3) - (square & 7)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def flipped(square: cython.int) -> cython.int:
    """Mirrored at the diagonal a1-h8."""
    return (square >> 3 | square << 3) & 63


def mirror(squares: cython.p_int, men: cython.int, leading: cython.int) -> cython.void:
    """Turn the board until the first man is on a1-d1-d4, and the first leading one off the diagonal below it.
    """
    turn: cython.int = (7 if squares[0] & 4 else 0) ^ (56 if squares[0] & 32 else 0)
    man: cython.int
    for man in range(men):
        squares[man] ^= turn
    man = 0
    while man < leading and above_diagonal(squares[man]) == 0:
        man += 1
    if man < leading and above_diagonal(squares[man]) > 0:
        for man in range(men):
            squares[man] = flipped(squares[man])


def three_pieces(squares: cython.p_int) -> cython.int:
    """The number of three different men, mirrored: 0 to 31331."""
    first: cython.int = squares[0]
    second: cython.int = squares[1] - (squares[1] > first)
    third: cython.int = squares[2] - (squares[2] > first) - (squares[2] > squares[1])
    if above_diagonal(first) != 0:
        return (TRIANGLE[first] * 63 + second) * 62 + third
    base: cython.int = 6 * 63 * 62
    if above_diagonal(squares[1]) != 0:
        return base + ((first >> 3) * 28 + BELOW[squares[1]]) * 62 + third
    base += 4 * 28 * 62
    # On the diagonal a square is as good as its rank.
    first >>= 3
    rank: cython.int = squares[1] >> 3
    second = rank - (rank > first)
    if above_diagonal(squares[2]) != 0:
        return base + (first * 7 + second) * 28 + BELOW[squares[2]]
    base += 4 * 7 * 28
    third = squares[2] >> 3
    third -= (third > first) + (third > rank)
    return base + (first * 7 + second) * 6 + third


def two_kings(squares: cython.p_int) -> cython.int:
    """The number of two kings, mirrored: 0 to 461, or -1 if they stand side by side."""
    return KINGS[TRIANGLE[squares[0]] * 64 + squares[1]]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def pawn_rank(square: cython.int) -> cython.int:
    """A pawn's place in the search for the leading one: outer files first, then lower ranks."""
    file: cython.int = square & 7
    if file > 3:
        file = 7 - file
    return 6 * file + (square >> 3) - 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def pawn_order(square: cython.int) -> cython.int:
    """The number of a square for pawns beside the leading one: inner files first, then higher ranks."""
    file: cython.int = square & 7
    beyond: cython.int = file > 3
    if beyond:
        file = 7 - file
    return 47 - 12 * file - 2 * ((square >> 3) - 1) - beyond


def lead_pawn(squares: cython.p_int, pawns: cython.int) -> cython.int:
    """Put the leading pawn first; returns its file, 0 to 3."""
    man: cython.int
    for man in range(1, pawns):
        if pawn_rank(squares[man]) < pawn_rank(squares[0]):
            squares[0], squares[man] = squares[man], squares[0]
    file: cython.int = squares[0] & 7
    return 7 - file if file > 3 else file


def leading_pawns(squares: cython.p_int, men: cython.int, pawns: cython.int) -> u64:
    """The number of the pawns of one side, the leading one first; mirrors the board to its half."""
    man: cython.int
    place: cython.int
    if squares[0] & 4:
        for man in range(men):
            squares[man] ^= 7
    for man in range(1, pawns):
        for place in range(man + 1, pawns):
            if pawn_order(squares[man]) < pawn_order(squares[place]):
                squares[man], squares[place] = squares[place], squares[man]
    number: u64 = 0
    square: cython.int = (squares[0] & 7) + 8
    while square < squares[0]:
        number += CHOOSE[(pawns - 1) * 64 + pawn_order(square)]
        square += 8
    for man in range(1, pawns):
        number += CHOOSE[(pawns - man) * 64 + pawn_order(squares[man])]
    return number


def combination(squares: cython.p_int, start: cython.int, size: cython.int, shift: cython.int) -> u64:
    """The number of the `size` equal men from `start` on, those before them standing.

    `shift` is 8 for pawns, for which the first rank does not count.
    """
    man: cython.int
    place: cython.int
    before: cython.int
    number: u64 = 0
    for man in range(start, start + size):
        for place in range(man + 1, start + size):
            if squares[place] < squares[man]:
                squares[man], squares[place] = squares[place], squares[man]
        before = 0
        for place in range(start):
            before += squares[man] > squares[place]
        number += CHOOSE[(man - start + 1) * 64 + squares[man] - before - shift]
    return number


def _fill() -> None:
    """The four tables."""
    n: cython.int
    k: cython.int
    for n in range(64):
        CHOOSE[n] = 1
        for k in range(1, 7):
            CHOOSE[k * 64 + n] = CHOOSE[k * 64 + n - 1] + CHOOSE[(k - 1) * 64 + n - 1] if n else 0
    below = [square for square in range(64) if above_diagonal(square) < 0]
    corner = [square for square in below if square & 7 < 4]
    corner += [0, 9, 18, 27]
    for n in range(64):
        TRIANGLE[n] = corner.index(n) if n in corner else 0
        BELOW[n] = below.index(n) if n in below else 0
    _fill_kings(corner)


def _fill_kings(corner: list) -> None:
    """Two kings of which the first is in the corner; both on the diagonal come last."""
    square: cython.int
    place: cython.int
    number: cython.int = 0
    for on_diagonal in (False, True):
        for place in range(10):
            for square in range(64):
                first: cython.int = corner[place]
                if not on_diagonal:
                    KINGS[place * 64 + square] = -1
                if (bit(first) | KING_ATTACKS[first]) & bit(square) or (place > 5 and above_diagonal(square) > 0):
                    continue
                if (place > 5 and above_diagonal(square) == 0) == on_diagonal:
                    KINGS[place * 64 + square] = number
                    number += 1


_fill()
