# cython: language_level=3
"""Colours, kinds of piece, and pieces: a piece is `colour * KINDS + kind`, so 0-5 are White's and 6-11 Black's.

Compiled, the numbers are constants declared in `pieces.pxd`; these are the plain versions.
"""

import cython

if not cython.compiled:
    WHITE, BLACK = range(2)
    PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(6)
    KINDS = 6
    NO_PIECE = 2 * KINDS
    NO_SQUARE = 64
    KIND_OF = [0] * (NO_PIECE + 1) # [piece]; an empty square counts as a pawn

for _piece in range(NO_PIECE):
    KIND_OF[_piece] = _piece % KINDS

PIECE_LETTERS = "PNBRQKpnbrqk"     # [piece], as in FEN
