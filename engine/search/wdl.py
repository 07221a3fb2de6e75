"""The WDL model behind UCI_ShowWDL: from a score and the pieces left to the chances of win, draw and loss.

The chance to win grows with the score along a logistic curve, for either side; the rest is drawn. The curve depends on
the number of pieces, since with fewer pieces a pawn ahead is drawn more often. Large scores are compressed, since the
next pawn then matters less. `lichessbot-engine records --wdl` fits the numbers, which stand in `params.py`, to games of
standard chess. The model does not hold for variants, in which far fewer games are drawn.
(chessprogramming wiki: Pawn Advantage, Win Percentage, and Elo)
"""

from math import exp
from typing import NamedTuple

from engine.core import params
from engine.core.score import winner

HALF_BOARD = 16                    # pieces
MIN_LIMIT_CP, MAX_LIMIT_CP = 200.0, 10_000.0


class Wdl(NamedTuple):
    """Chances of the side to move in thousandths; together 1000."""

    win: int
    draw: int
    loss: int


class WdlModel(NamedTuple):
    """The numbers of the model, in centipawns. Scores are compressed so that none exceeds `limit_cp`.

    With 16 pieces on the board a compressed score of `even_cp` wins half the games, and `spread_cp` is one logistic
    unit. With 32 pieces both are larger by `even_pieces_cp` and `spread_pieces_cp`, with none smaller by as much.
    """

    even_cp: float
    even_pieces_cp: float
    spread_cp: float
    spread_pieces_cp: float
    limit_cp: float

    def shares(self, score_cp: float, pieces: int) -> tuple[float, float, float]:
        """Return the probabilities of a win, a draw and a loss."""
        part = (pieces - HALF_BOARD) / HALF_BOARD
        even, spread = self.even_cp + self.even_pieces_cp * part, self.spread_cp + self.spread_pieces_cp * part
        compressed = score_cp / (1 + abs(score_cp) / self.limit_cp)
        win, loss = _logistic((compressed - even) / spread), _logistic((-compressed - even) / spread)
        return win, 1 - win - loss, loss

    def is_sound(self) -> bool:
        """Return whether the model gives probabilities for any number of pieces and has a sensible limit."""
        is_positive = self.even_cp > abs(self.even_pieces_cp) and self.spread_cp > abs(self.spread_pieces_cp)
        return is_positive and MIN_LIMIT_CP <= self.limit_cp <= MAX_LIMIT_CP


OURS = WdlModel(params.WDL_EVEN, params.WDL_EVEN_PIECES, params.WDL_SPREAD, params.WDL_SPREAD_PIECES, params.WDL_LIMIT)


def wdl_of(score: int, pieces: int) -> Wdl:
    """Return the chances for a score of the search of standard chess; mates and tablebase wins are certain."""
    decided = winner(score)
    if decided:
        return Wdl(1000, 0, 0) if decided > 0 else Wdl(0, 0, 1000)
    win, _, loss = (round(1000 * share) for share in OURS.shares(score, pieces))
    return Wdl(win, 1000 - win - loss, loss)


def _logistic(logits: float) -> float:
    return 1 / (1 + exp(-max(-40.0, min(logits, 40.0))))
