"""How good the moves of a finished game were: scores, winning chances, and the mistakes by name.

Pure. The formulas and thresholds are those of Lichess (lila: `WinPercent.scala`, `Advice.scala`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import exp
from typing import Final

from lichessbot.rehearsal.rules.enums import Color

_CHANCES_PER_CP: Final = 0.00368208
_MOST_CP: Final = 1000              # scores beyond count as this much: the game is decided either way
_DECIDED_CP: Final = 999            # beyond it, a mate gained or lost changes little
_NEARLY_DECIDED_CP: Final = 700


class Judgement(Enum):
    """The names of mistakes, their marks, and the loss of winning chances from which each applies."""

    BLUNDER = ("blunder", "??", 0.3)
    MISTAKE = ("mistake", "?", 0.2)
    INACCURACY = ("inaccuracy", "?!", 0.1)

    @property
    def word(self) -> str:
        return self.value[0]

    @property
    def glyph(self) -> str:
        return self.value[1]

    @property
    def least_loss(self) -> float:
        return self.value[2]


@dataclass(frozen=True)
class Score:
    """The score of a position from White's view: centipawns, or full moves to mate (negative: White is mated).

    On the board that shows the mate, `mate` is 1 or -1 for the side that gave it.
    """

    cp: int | None = None
    mate: int | None = None

    def of(self, color: Color) -> "Score":
        """Return the score from the view of `color`."""
        if color is Color.WHITE:
            return self
        return Score(None if self.cp is None else -self.cp, None if self.mate is None else -self.mate)

    def __str__(self) -> str:
        return f"#{self.mate}" if self.cp is None else f"{self.cp / 100:+.2f}"


DRAWN: Final = Score(0)


def winning_chances(score: Score) -> float:
    """Return White's winning chances, from -1 to 1."""
    if score.mate is not None:
        return 1.0 if score.mate > 0 else -1.0
    cp = max(-_MOST_CP, min(_MOST_CP, score.cp or 0))
    return 2 / (1 + exp(-_CHANCES_PER_CP * cp)) - 1


def judge(before: Score, after: Score, mover: Color) -> Judgement | None:
    """Return the name of the mistake that `mover` made between two positions; None if it was none."""
    was, now = before.of(mover), after.of(mover)
    if was.cp is not None and now.cp is not None:
        loss = winning_chances(was) - winning_chances(now)
        return next((judgement for judgement in Judgement if loss >= judgement.least_loss), None)
    if was.mate is None and now.mate is not None and now.mate < 0:
        return _of_decided(-(was.cp or 0))
    if was.mate is not None and was.mate > 0 and (now.mate is None or now.mate < 0):
        return _of_decided(now.cp or 0)
    return None


def _of_decided(cp: int) -> Judgement:
    """Return how much a mate gained or lost matters beside a score of `cp` for the side that profits anyway."""
    if cp > _DECIDED_CP:
        return Judgement.INACCURACY
    return Judgement.MISTAKE if cp > _NEARLY_DECIDED_CP else Judgement.BLUNDER


def average_loss_cp(scores: Sequence[Score], movers: Sequence[Color], color: Color) -> int:
    """Return by how many centipawns the moves of `color` were worse than the best, on average; mates count 1000."""
    losses = [
        max(0, _bounded_cp(before.of(color)) - _bounded_cp(after.of(color)))
        for before, after, mover in zip(scores, scores[1:], movers, strict=False)
        if mover is color
    ]
    return round(sum(losses) / len(losses)) if losses else 0


def _bounded_cp(score: Score) -> int:
    if score.mate is not None:
        return _MOST_CP if score.mate > 0 else -_MOST_CP
    return max(-_MOST_CP, min(_MOST_CP, score.cp or 0))
