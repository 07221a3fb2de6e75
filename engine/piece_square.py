# cython: language_level=3, boundscheck=False, wraparound=False
"""What a piece is worth on each square, material included: packed midgame and endgame scores, White's view."""

import cython

from engine import params

if cython.compiled:
    from cython.cimports.engine.score import pack
else:
    from engine.score import pack

    PIECE_SQUARE = [0] * 768       # [piece * 64 + square], negative for Black's pieces
    PHASE = [0] * 12               # [piece]


def _fill() -> None:
    piece: cython.int
    square: cython.int
    for piece in range(12):
        kind = piece % 6
        PHASE[piece] = params.PHASE_VALUE[kind]
        for square in range(64):
            rank = square >> 3 if piece < 6 else 7 - (square >> 3)
            file = min(square & 7, 7 - (square & 7))
            midgame = params.MIDGAME_VALUE[kind] + params.MIDGAME_RANKS[kind][rank] + params.MIDGAME_FILES[kind][file]
            endgame = params.ENDGAME_VALUE[kind] + params.ENDGAME_RANKS[kind][rank] + params.ENDGAME_FILES[kind][file]
            PIECE_SQUARE[piece * 64 + square] = pack(midgame, endgame) if piece < 6 else pack(-midgame, -endgame)


_fill()
