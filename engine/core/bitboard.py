# cython: language_level=3
"""Sets of squares as 64-bit numbers. a1 is square 0 and bit 0, b1 is 1, ..., h8 is 63.

Compiled, everything here is declared in `bitboard.pxd`, and in line; these are the plain versions.
"""

import cython

if not cython.compiled:
    u64 = int

    ALL_SQUARES = 0xFFFFFFFFFFFFFFFF
    FILE_A = 0x0101010101010101
    FILE_H = 0x8080808080808080
    RANK_3 = 0x0000000000FF0000
    RANK_6 = 0x0000FF0000000000
    RANKS_4_TO_6 = 0x0000FFFFFF000000
    RANKS_3_TO_5 = 0x000000FFFFFF0000
    END_RANKS = 0xFF000000000000FF
    RANK_8 = 0xFF00000000000000
    DARK_SQUARES = 0xAA55AA55AA55AA55
    CENTRAL_SQUARES = 0x0000001818000000       # d4, e4, d5, e5

    def popcount(squares: int) -> int:
        """Return the number of squares in the set."""
        return squares.bit_count()

    def lsb(squares: int) -> int:
        """Return the lowest square of a set, which must not be empty."""
        return (squares & -squares).bit_length() - 1

    def msb(squares: int) -> int:
        """Return the highest square of a set, which must not be empty."""
        return squares.bit_length() - 1

    def bit(square: int) -> int:
        """Return the set of one square."""
        return 1 << square

    def beside(squares: int) -> int:
        """Return the neighbours to the left and right."""
        return (squares & ~FILE_H) << 1 | (squares & ~FILE_A) >> 1

    def advance(squares: int, colour: int) -> int:
        """Return every square moved one step forward, as that colour sees it."""
        return squares >> 8 if colour else squares << 8 & ALL_SQUARES

    def ahead(squares: int, colour: int) -> int:
        """Return all squares in front, up to the last rank, as that colour sees it."""
        found = 0
        for _ in range(7):
            squares = advance(squares, colour)
            found |= squares
        return found

    def files_of(squares: int) -> int:
        """Return the whole files of the squares."""
        return ahead(squares, 0) | ahead(squares, 1) | squares


def square_name(square: int) -> str:
    """Return a square's name: 'e4' for 28."""
    return "abcdefgh"[square & 7] + "12345678"[square >> 3]


def parse_square(name: str) -> int:
    """Return the square with this name: 28 for 'e4'. Raises ValueError for any other text."""
    if len(name) != 2 or name[0] not in "abcdefgh" or name[1] not in "12345678":
        raise ValueError(f"not a square: {name!r}")
    return "abcdefgh".index(name[0]) + 8 * "12345678".index(name[1])
