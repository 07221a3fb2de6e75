"""The review of a game: what an engine says, after the game, of each of its positions.

Kept are the scores and lines; accuracy and mistakes follow from them (`lichessbot.games.review`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lichessbot.storage.database import Statement
from lichessbot.storage.tables import deleted, replaced

SELECT_REVIEW: Final = "SELECT game_id, reviewed_at, engine, nodes FROM reviews WHERE game_id = ?"
SELECT_POSITIONS: Final = "SELECT ply, score_cp, line FROM reviewed_positions WHERE game_id = ? ORDER BY ply"


@dataclass(frozen=True, slots=True)
class ReviewedPosition:
    """The position after `ply` moves. `score_cp` is White's view, with mates as in `evaluations`.

    `line` is the principal variation in UCI notation, empty if the game is over on the board.
    """

    ply: int
    score_cp: int
    line: str = ""


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """The review of one game by an engine that searched `nodes` in each position; `reviewed_at` is wall time."""

    game_id: str
    reviewed_at: float
    engine: str
    nodes: int
    positions: Sequence[ReviewedPosition] = ()


def reviewed(review: ReviewRecord) -> Sequence[Statement]:
    """Return the statements that record a review, in place of an earlier one of the same game."""
    rows = [(review.game_id, it.ply, it.score_cp, it.line) for it in review.positions]
    return (
        replaced(
            "reviews", game_id=review.game_id, reviewed_at=review.reviewed_at, engine=review.engine, nodes=review.nodes
        ),
        deleted("reviewed_positions", game_id=review.game_id),
        ("INSERT INTO reviewed_positions (game_id, ply, score_cp, line) VALUES (?, ?, ?, ?)", rows),
    )
