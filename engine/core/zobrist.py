# cython: language_level=3
"""Random keys whose XOR identifies a position. (chessprogramming wiki: Zobrist Hashing)

The random numbers are seeded, so that every run is reproducible.
"""

import random

import cython

if not cython.compiled:
    PIECE_KEY = [0] * 832          # [piece * 64 + square]; 0 for NO_PIECE, which is the last
    CASTLING_KEY = [0] * 16        # [castling rights]
    EN_PASSANT_KEY = [0] * 65      # [en passant square]; the last, "none", is 0

NUMBERS = random.Random("lichessbot")


def _fill() -> None:
    index: cython.int
    for index in range(768):
        PIECE_KEY[index] = NUMBERS.getrandbits(64)
    for index in range(1, 16):
        CASTLING_KEY[index] = NUMBERS.getrandbits(64)
    for index in range(64):
        EN_PASSANT_KEY[index] = NUMBERS.getrandbits(64)


BLACK_KEY = NUMBERS.getrandbits(64)
_fill()
