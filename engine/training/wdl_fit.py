"""Fits the WDL model of `engine/search/wdl.py` to records, and draws how well it predicts the games held out.

The maximum likelihood is found parameter by parameter: a step that helps is doubled, another is halved and reversed.
Every position counts from the view of the side that is ahead. (chessprogramming wiki: Automated Tuning; Hooke, Jeeves:
Direct search)
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, log

from engine.search.wdl import WdlModel
from engine.selfplay.records import Result
from engine.training.data import WORDS, Data, last_words
from engine.training.features import black_to_move, recorded_scores, result_of
from engine.training.plot import Curve, svg

MAX_SCORE_CP = 1500                # self-play adjudicates beyond: those results prove nothing
STEP_CP = 10                       # scores are rounded to this
FIRST = WdlModel(150.0, 0.0, 150.0, 0.0, 1000.0)
FIRST_STEP_CP, LAST_STEP_CP = 32.0, 0.25
MIN_GAIN = 1e-7                    # of a step, in nats per position
TINY = 1e-9                        # smallest probability
BINS = 20

Cell = tuple[float, int]           # the score of the side ahead in centipawns, the number of pieces
Counts = Mapping[Cell, list[int]]  # positions won, drawn and lost by the side ahead


@dataclass(frozen=True)
class WdlFit:
    """A fitted model and its cross-entropy in nats per position, on the training and the held-out games."""

    model: WdlModel
    training: float
    held_out: float


def count(words: array[int]) -> Counts:
    """Count packed records by score and number of pieces, up to MAX_SCORE_CP."""
    found: defaultdict[Cell, list[int]] = defaultdict(lambda: [0, 0, 0])
    for score, occupied, last in zip(recorded_scores(words), words[::WORDS], last_words(words), strict=True):
        result = result_of(last)
        if abs(score) > MAX_SCORE_CP or result == Result.UNKNOWN:
            continue
        white_leads = (score < 0) == black_to_move(last)
        cell = (abs(score) // STEP_CP * STEP_CP + STEP_CP / 2, occupied.bit_count())
        found[cell][Result.WHITE_WON - result if white_leads else result] += 1
    return dict(found)


def cross_entropy(model: WdlModel, counts: Counts) -> float:
    """Return the mean negative logarithm of the probabilities that the model gave to the results."""
    total, positions = 0.0, 0
    for (score, pieces), seen in counts.items():
        total -= sum(
            number * log(max(share, TINY)) for number, share in zip(seen, model.shares(score, pieces), strict=True)
        )
        positions += sum(seen)
    return total / max(1, positions)


def fit(data: Data) -> WdlFit:
    """Return the most likely model."""
    counts = count(data.training)
    numbers = list(FIRST)
    steps = [FIRST_STEP_CP] * len(numbers)
    least = cross_entropy(FIRST, counts)
    while max(map(abs, steps)) >= LAST_STEP_CP:
        for index, step in enumerate(steps):
            tried = [*numbers[:index], numbers[index] + step, *numbers[index + 1 :]]
            model = WdlModel(*tried)
            found = cross_entropy(model, counts) if model.is_sound() else inf
            if found < least - MIN_GAIN:
                numbers, least, steps[index] = tried, found, 2 * step
            else:
                steps[index] = -step / 2
    model = WdlModel(*numbers)
    return WdlFit(model, least, cross_entropy(model, count(data.held_out)))


def lines(fitted: WdlFit) -> list[str]:
    """Return the lines of `engine/core/params.py` that hold the model."""
    model = fitted.model
    return [
        f"WDL_EVEN = {model.even_cp:g}",
        f"WDL_EVEN_PIECES = {model.even_pieces_cp:g}",
        f"WDL_SPREAD = {model.spread_cp:g}",
        f"WDL_SPREAD_PIECES = {model.spread_pieces_cp:g}",
        f"WDL_LIMIT = {model.limit_cp:g}",
    ]


def calibration(model: WdlModel, counts: Counts, outcome: int) -> list[tuple[float, float]]:
    """Return how often an outcome (0 win, 1 draw, 2 loss of the side ahead) occurred, by its predicted probability.

    The points of a perfect model lie on the diagonal.
    """
    bins = [[0.0, 0.0, 0.0] for _ in range(BINS)]      # positions, sum of probabilities, times that it occurred
    for (score, pieces), seen in counts.items():
        predicted = model.shares(score, pieces)[outcome]
        total = bins[min(int(predicted * BINS), BINS - 1)]
        total[0] += sum(seen)
        total[1] += predicted * sum(seen)
        total[2] += seen[outcome]
    return [(predicted / positions, occurred / positions) for positions, predicted, occurred in bins if positions]


def picture(fitted: WdlFit, data: Data) -> str:
    """Draw the calibration on the held-out games as SVG."""
    counts = count(data.held_out)
    curves = [
        Curve("perfect", "#999999", [(0.0, 0.0), (1.0, 1.0)]),
        Curve("win", "#2ca02c", calibration(fitted.model, counts, 0)),
        Curve("draw", "#1f77b4", calibration(fitted.model, counts, 1)),
        Curve("loss", "#d62728", calibration(fitted.model, counts, 2)),
    ]
    positions = sum(map(sum, counts.values()))
    title = f"WDL predicted and observed for the side ahead, {positions:,} held-out positions"
    return svg(title, curves, "predicted probability")
