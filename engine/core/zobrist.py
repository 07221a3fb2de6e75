# cython: language_level=3
"""Random keys whose XOR identifies a position. (chessprogramming wiki: Zobrist Hashing)

The random numbers are seeded, so that every run is reproducible.
"""

import random

import cython
from cython.cimports.engine.core.bitboard import ALL_SQUARES
from cython.cimports.engine.core.pieces import NO_PIECE, NO_SQUARE

if not cython.compiled:
    PIECE_KEY = [0] * ((NO_PIECE + 1) * 64)    # [piece * 64 + square]; 0 for NO_PIECE, which is the last
    CASTLING_KEY = [0] * 16        # [castling rights]
    EN_PASSANT_KEY = [0] * (NO_SQUARE + 1)     # [en passant square]; the last, "none", is 0

    def mix64(number: int) -> int:
        """Return a hash of 64 bits, 0 for 0. (the finalizer of splitmix64: Steele, Lea, Flood 2014)"""
        number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & ALL_SQUARES
        number = (number ^ number >> 27) * 0x94D049BB133111EB & ALL_SQUARES
        return number ^ number >> 31

NUMBERS = random.Random("lichessbot")


def _fill() -> None:
    index: cython.int
    for index in range(NO_PIECE * 64):
        PIECE_KEY[index] = NUMBERS.getrandbits(64)
    for index in range(1, 16):
        CASTLING_KEY[index] = NUMBERS.getrandbits(64)
    for index in range(NO_SQUARE):
        EN_PASSANT_KEY[index] = NUMBERS.getrandbits(64)


BLACK_KEY = NUMBERS.getrandbits(64)
_fill()
