"""Board representation and the rules: squares, moves, positions, move generation, scores, parameters.

Must not know: what a position is worth, how it is searched, and every file format.
"""

__all__ = [
    "attacks",
    "bitboard",
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
    "zobrist",
]
