"""How a game will probably end, from the score of a search and the men left: the model behind UCI_ShowWDL.

Either side wins with a chance that grows with its score along a logistic curve, and what is left is drawn. The curve
depends on the men on the board: a pawn ahead is drawn more often the fewer there are. And the further ahead a side is,
the less another pawn says: some leads are of the kind that does not win. The numbers stand in `params.py`;
`lichessbot-engine records --wdl` fits them. (chessprogramming wiki: Pawn Advantage, Win Percentage, and Elo)
"""

from dataclasses import dataclass
from math import exp

from engine.core import params
from engine.core.score import winner

HALF_BOARD = 16                    # men
LEAST_LIMIT_CP, MOST_LIMIT_CP = 200.0, 10_000.0


@dataclass(frozen=True)
class Wdl:
    """Chances in a thousand, together 1000, of whoever is to move."""

    win: int
    draw: int
    loss: int


@dataclass(frozen=True)
class WdlModel:
    """In centipawns. A small score counts as what it is, a boundless one as `limit_cp`.

    With half the men on the board a score that counts as `even_cp` is as likely won as not, and `spread_cp` is one
    logistic unit; with all of them both are larger by what `_men_cp` says, with none smaller by as much.
    """

    even_cp: float
    even_men_cp: float
    spread_cp: float
    spread_men_cp: float
    limit_cp: float

    def shares(self, score_cp: float, men: int) -> tuple[float, float, float]:
        """The probabilities of a win, a draw and a loss."""
        part = (men - HALF_BOARD) / HALF_BOARD
        even, spread = self.even_cp + self.even_men_cp * part, self.spread_cp + self.spread_men_cp * part
        counted = score_cp / (1 + abs(score_cp) / self.limit_cp)
        win, loss = _logistic((counted - even) / spread), _logistic((-counted - even) / spread)
        return win, 1 - win - loss, loss

    def is_sound(self) -> bool:
        """Does it give probabilities for any number of men, with a limit that matters?"""
        steady = self.even_cp > abs(self.even_men_cp) and self.spread_cp > abs(self.spread_men_cp)
        return steady and LEAST_LIMIT_CP <= self.limit_cp <= MOST_LIMIT_CP


OURS = WdlModel(params.WDL_EVEN, params.WDL_EVEN_MEN, params.WDL_SPREAD, params.WDL_SPREAD_MEN, params.WDL_LIMIT)


def wdl_of(score: int, men: int) -> Wdl:
    """What a score, as `score.py` has it, means with so many men on the board; mates and known wins are certain."""
    decided = winner(score)
    if decided:
        return Wdl(1000, 0, 0) if decided > 0 else Wdl(0, 0, 1000)
    win, _, loss = (round(1000 * share) for share in OURS.shares(score, men))
    return Wdl(win, 1000 - win - loss, loss)


def _logistic(logits: float) -> float:
    return 1 / (1 + exp(-max(-40.0, min(logits, 40.0))))
