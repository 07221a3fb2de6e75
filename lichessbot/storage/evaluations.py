"""Evaluations as one number, as the records keep them: centipawns, and a mate as 100,000 less the moves to it."""

from typing import Final

_MATE_CP: Final = 100_000
_MATE_FROM_CP: Final = 90_000


def mate_cp(moves: int) -> int:
    """Return a mate in this many moves; if we are mated, they are negative, or 0 if the mate is on the board."""
    return _MATE_CP - moves if moves > 0 else -_MATE_CP - moves


def mate_in(score_cp: int) -> int | None:
    """Return the moves to mate, negative if we are mated; None if the evaluation is no mate."""
    if abs(score_cp) < _MATE_FROM_CP:
        return None
    return _MATE_CP - score_cp if score_cp > 0 else -_MATE_CP - score_cp


def score_text(score_cp: int) -> str:
    """Return an evaluation in pawns, such as +0.35, or a mate such as #-3."""
    mate = mate_in(score_cp)
    return f"{score_cp / 100:+.2f}" if mate is None else f"#{mate}"
