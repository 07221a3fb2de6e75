# cython: language_level=3, boundscheck=False, wraparound=False
"""Fill the position's piece-square table: what a piece is worth on each square, material included.

Packed midgame and endgame scores, from White's view.
"""

import cython
from cython.cimports.engine.core.position import PHASE, PIECE_SQUARE
from cython.cimports.engine.evaluation.weights import MATERIAL, SQUARES, WEIGHTS

from engine.core import params


def weight_of_square(kind: cython.int, square: cython.int) -> cython.int:
    """The place in `weights.py` of what the square, seen by its owner, is worth to that kind."""
    file: cython.int = square & 7
    return SQUARES + kind * 32 + (square >> 3) * 4 + (file if file < 4 else 7 - file)


def fill() -> None:
    """Compute the tables from the weights: at import, and whenever the weights change."""
    piece: cython.int
    square: cython.int
    for piece in range(12):
        kind = piece % 6
        PHASE[piece] = params.PHASE_VALUE[kind]
        for square in range(64):
            worth: cython.int = WEIGHTS[weight_of_square(kind, square if piece < 6 else square ^ 56)]
            if kind < 5:
                worth += WEIGHTS[MATERIAL + cython.cast(cython.int, kind)]
            PIECE_SQUARE[piece * 64 + square] = worth if piece < 6 else -worth


fill()
