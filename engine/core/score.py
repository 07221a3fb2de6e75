# cython: language_level=3
"""The scale of scores: centipawns for the side to move; mates and tablebase wins are counted in plies from the root.

A packed score holds a midgame and an endgame value in one integer, so that one addition moves both: the midgame
value in the low 16 bits (signed), the endgame value above. Each must stay within +-32767.

Compiled, what the search uses is C declared in `score.pxd`; these are the plain versions.
"""

import cython

if not cython.compiled:
    MAX_PLY = 128                  # plies from the root that a search may reach

    DRAW = 0
    MATE = 32000                   # being mated at the root would be -MATE
    LONGEST_MATE = MATE - MAX_PLY  # any score at or beyond this is a forced mate
    TABLEBASE_WIN = 30000          # a tablebase win at the root
    LONGEST_WIN = TABLEBASE_WIN - MAX_PLY  # any score at or beyond this is a mate or a tablebase win
    INFINITE = 32001
    NO_SCORE = 32002               # "this technique has no answer"

    def pack(midgame: int, endgame: int) -> int:
        """Return both values packed into one integer."""
        return endgame * 65536 + midgame

    def midgame_of(packed: int) -> int:
        """Return the midgame value: the low 16 bits, read as signed."""
        return ((packed + 0x8000) & 0xFFFF) - 0x8000

    def endgame_of(packed: int) -> int:
        """Return the endgame value: the rest without the midgame value."""
        return (packed + 0x8000) >> 16

    def mated_in(ply: int) -> int:
        """Return the score of being mated `ply` plies from the root; nearer mates are worse."""
        return -MATE + ply

    def tablebase_win_in(ply: int) -> int:
        """Return the score of a tablebase win `ply` plies from the root; nearer wins are better."""
        return TABLEBASE_WIN - ply

    def is_decided(score: int) -> bool:
        """Return whether the score is a forced mate or a tablebase win for either side."""
        return score >= LONGEST_WIN or score <= -LONGEST_WIN

    def to_tt(score: int, ply: int) -> int:
        """Return the score for the transposition table: mates and wins count from the stored position, not the root."""
        return score + ply if score >= LONGEST_WIN else score - ply if score <= -LONGEST_WIN else score

    def from_tt(score: int, ply: int) -> int:
        """Return the score of one from the transposition table: the inverse of `to_tt`."""
        return score - ply if score >= LONGEST_WIN else score + ply if score <= -LONGEST_WIN else score


def mate_distance(score: int) -> int | None:
    """Return the full moves to mate, negative if the side to move is mated; None if the score is no mate."""
    if score >= LONGEST_MATE:
        return (MATE - score + 1) // 2
    if score <= -LONGEST_MATE:
        return -((MATE + score + 1) // 2)
    return None


def winner(score: int) -> int:
    """Return 1 if the side to move has a forced mate or a tablebase win, -1 if the other side has one, else 0."""
    return (score >= LONGEST_WIN) - (score <= -LONGEST_WIN)
