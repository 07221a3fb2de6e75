"""Knows the rules of chess: squares, moves, positions, FEN, legal moves, exchanges and draws; also the scale of scores.

Must not know: what a position is worth, how it is searched, and every file format.
Offers each module. `params` holds the tunable numbers of evaluation, search and clock.
"""

__all__ = [
    "attacks",
    "bitboard",
    "checks",
    "draws",
    "fen",
    "move",
    "movegen",
    "params",
    "perft",
    "pieces",
    "position",
    "score",
    "see",
    "threats",
    "zobrist",
]
