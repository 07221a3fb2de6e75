"""How good the moves of a game were, by the scores of its positions: win percentages, accuracy, mistakes by name.

Pure. Formulas and limits are those that Lichess publishes, so that its players can compare: WinPercent and
AccuracyPercent (https://lichess.org/page/accuracy; lila, `modules/analyse`, and scalachess, `eval`), and Advice for the
names of mistakes. They were fitted to Stockfish's centipawns. Sides are `white` and `black`, as in `Board`.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import pairwise
from math import exp
from typing import Final, NamedTuple

_SIDES: Final = ("white", "black")
_CHANCES_PER_CP: Final = 0.00368208
_MOST_CP: Final = 1000                  # scores beyond, and mates, count as this much: the game is decided either way
_DECIDED_CP: Final = 999                # beyond it, a mate gained or lost changes little
_NEARLY_DECIDED_CP: Final = 700
_CURVE: Final = (103.1668100711649, -0.04354415386753951, -3.166924740191411)   # from the loss in percent to accuracy
_BONUS: Final = 1.0                     # as the analysis is imperfect too
_WINDOWS_A_GAME: Final = 10
_WINDOW: Final = (2, 8)                 # the least and most positions of a window
_WEIGHT: Final = (0.5, 12.0)
_LEAST_HARMONIC: Final = 1.0            # one move of accuracy 0 must not make a game of 0


class Judgement(Enum):
    """The names of mistakes, their marks in PGN, and the loss of winning chances from which each applies."""

    BLUNDER = ("blunder", "??", 0.3)
    MISTAKE = ("mistake", "?", 0.2)
    INACCURACY = ("inaccuracy", "?!", 0.1)

    def __init__(self, word: str, glyph: str, least_loss: float) -> None:
        self.word, self.glyph, self.least_loss = word, glyph, least_loss


class Score(NamedTuple):
    """The score of a position from White's view: centipawns, or full moves to mate (negative: White is mated).

    On the board that shows the mate, `mate` is 1 or -1 for the side that gave it.
    """

    cp: int | None = None
    mate: int | None = None

    def of(self, side: str) -> "Score":
        """Return the score from the view of `side`."""
        if side == "white":
            return self
        return Score(None if self.cp is None else -self.cp, None if self.mate is None else -self.mate)

    def __str__(self) -> str:
        return f"#{self.mate}" if self.cp is None else f"{self.cp / 100:+.2f}"


DRAWN: Final = Score(0)


def winning_chances(score: Score) -> float:
    """Return White's winning chances, from -1 to 1."""
    return 2 / (1 + exp(-_CHANCES_PER_CP * bounded_cp(score))) - 1


def win_percent(score: Score) -> float:
    """Return White's winning chances in percent, 50 if the game is even."""
    return 50 + 50 * winning_chances(score)


def judge(before: Score, after: Score, mover: str) -> Judgement | None:
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


def move_accuracy(before: float, after: float) -> float:
    """Return the accuracy of a move, 0 to 100, by the mover's win percentages before and after it."""
    if after >= before:
        return 100.0
    scale, decay, shift = _CURVE
    return _within(0.0, scale * exp(decay * (before - after)) + shift + _BONUS, 100.0)


def game_accuracy(scores: Sequence[Score], begins: str = "white") -> Mapping[str, float] | None:
    """Return each side's accuracy in a game, 0 to 100, by the scores of all its positions; `begins` moves first.

    It is the mean of two means of the moves' accuracies: one weighted by how volatile the game was around the move,
    and the harmonic one. None if a side has not moved. Lichess takes 15 centipawns as the score of the first position.
    """
    from statistics import pstdev  # takes an engine 4 % of its start, and few games are reviewed

    wins = [win_percent(score) for score in scores]
    size = int(_within(_WINDOW[0], (len(wins) - 1) // _WINDOWS_A_GAME, _WINDOW[1]))
    if len(wins) <= size:
        return None
    windows = [wins[start : start + size] for start in range(len(wins) - size + 1)]
    around = [*windows[:1] * (size - 2), *windows]
    volatility = [_within(_WEIGHT[0], pstdev(window), _WEIGHT[1]) for window in around]
    weighed: dict[str, list[tuple[float, float]]] = {side: [] for side in _SIDES}
    first = _SIDES.index(begins)
    for ply, ((before, after), weight) in enumerate(zip(pairwise(wins), volatility, strict=True)):
        side = _SIDES[(first + ply) % 2]
        accuracy = move_accuracy(before, after) if side == "white" else move_accuracy(after, before)
        weighed[side].append((accuracy, weight))
    return {side: _mean_of_means(moves) for side, moves in weighed.items()}


def _mean_of_means(moves: Sequence[tuple[float, float]]) -> float:
    """Return the mean of the weighted and the harmonic mean of accuracies, given with their weights."""
    weighted = sum(accuracy * weight for accuracy, weight in moves) / sum(weight for _, weight in moves)
    harmonic = len(moves) / sum(1 / max(_LEAST_HARMONIC, accuracy) for accuracy, _ in moves)
    return (weighted + harmonic) / 2


def average_loss_cp(scores: Sequence[Score], movers: Sequence[str], side: str) -> int:
    """Return by how many centipawns the moves of `side` were worse than the best, on average; mates count 1000."""
    losses = [
        max(0, bounded_cp(before.of(side)) - bounded_cp(after.of(side)))
        for before, after, mover in zip(scores, scores[1:], movers, strict=False)
        if mover == side
    ]
    return round(sum(losses) / len(losses)) if losses else 0


def bounded_cp(score: Score) -> int:
    """Return the centipawns of a score, from -1000 to 1000; a mate counts as much."""
    if score.mate is not None:
        return _MOST_CP if score.mate > 0 else -_MOST_CP
    return max(-_MOST_CP, min(_MOST_CP, score.cp or 0))


def _within(least: float, value: float, most: float) -> float:
    return max(least, min(most, value))
