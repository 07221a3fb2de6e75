"""Fits the model of `engine/outcome.py` to records, and shows how well it foretells the games held out.

The likeliest model is sought number by number: a step that helps is doubled, one that does not is halved and turned
round. Won and lost games are the same games seen from either side, so every position counts as its leader sees it.
(chessprogramming wiki: Automated Tuning; Hooke, Jeeves: Direct search)
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from math import inf, log

from engine.search.wdl import WdlModel
from engine.selfplay.records import Result
from engine.training.data import WORDS, Data
from engine.training.features import recorded_scores
from engine.training.plot import Axes, Curve, svg

LIMIT_CP = 1500                    # beyond, self-play stops games itself: what came of them proves nothing
STEP_CP = 10                       # scores so near to each other count as one
FIRST = WdlModel(150.0, 0.0, 150.0, 0.0, 1000.0)
FIRST_STEP_CP, LAST_STEP_CP = 32.0, 0.25
WORTH_A_STEP = 1e-7                # nats a position
TINY = 1e-9                        # no outcome is impossible
BINS = 20

Cell = tuple[float, int]           # the leader's score in centipawns, men on the board
Counts = Mapping[Cell, list[int]]  # of the positions won, drawn and lost by the leader


@dataclass(frozen=True)
class WdlFit:
    """A fitted model, and by how many nats a position it was surprised: by what it learnt from, and by the rest."""

    model: WdlModel
    training: float
    held_out: float


def count(words: array[int]) -> Counts:
    """Packed records by score and men; those with scores beyond LIMIT_CP are left out."""
    found: defaultdict[Cell, list[int]] = defaultdict(lambda: [0, 0, 0])
    for score, occupied, last in zip(recorded_scores(words), words[::WORDS], words[WORDS - 1 :: WORDS], strict=True):
        if abs(score) > LIMIT_CP:
            continue
        white_leads = (score < 0) == bool(last >> 24 & 1)
        result = last >> 16 & 3
        cell = (abs(score) // STEP_CP * STEP_CP + STEP_CP / 2, occupied.bit_count())
        found[cell][Result.WHITE_WON - result if white_leads else result] += 1
    return dict(found)


def cross_entropy(model: WdlModel, counts: Counts) -> float:
    """The mean negative logarithm of what the model thought of the results that came."""
    total, positions = 0.0, 0
    for (score, men), seen in counts.items():
        total -= sum(
            number * log(max(share, TINY)) for number, share in zip(seen, model.shares(score, men), strict=True)
        )
        positions += sum(seen)
    return total / max(1, positions)


def fit(data: Data) -> WdlFit:
    """The likeliest model."""
    learnt = count(data.training)
    numbers = list(astuple(FIRST))
    steps = [FIRST_STEP_CP] * len(numbers)
    least = cross_entropy(FIRST, learnt)
    while max(map(abs, steps)) >= LAST_STEP_CP:
        for index, step in enumerate(steps):
            tried = [*numbers[:index], numbers[index] + step, *numbers[index + 1 :]]
            model = WdlModel(*tried)
            found = cross_entropy(model, learnt) if model.is_sound() else inf
            if found < least - WORTH_A_STEP:
                numbers, least, steps[index] = tried, found, 2 * step
            else:
                steps[index] = -step / 2
    model = WdlModel(*numbers)
    return WdlFit(model, least, cross_entropy(model, count(data.held_out)))


def lines(fitted: WdlFit) -> list[str]:
    """The lines of `engine/params.py` that make the model the engine's own."""
    model = fitted.model
    return [
        f"WDL_EVEN = {model.even_cp:g}",
        f"WDL_EVEN_MEN = {model.even_men_cp:g}",
        f"WDL_SPREAD = {model.spread_cp:g}",
        f"WDL_SPREAD_MEN = {model.spread_men_cp:g}",
        f"WDL_LIMIT = {model.limit_cp:g}",
    ]


# --- Calibration -----------------------------------------------------------------------------------------------------


def calibration(model: WdlModel, counts: Counts, outcome: int) -> list[tuple[float, float]]:
    """How often an outcome (0 a win of the leader, 1 a draw, 2 a loss) came, by how likely it was held to be.

    The points of a perfect model lie on the diagonal.
    """
    bins = [[0.0, 0.0, 0.0] for _ in range(BINS)]      # positions, shares foretold, results that came
    for (score, men), seen in counts.items():
        foretold = model.shares(score, men)[outcome]
        total = bins[min(int(foretold * BINS), BINS - 1)]
        total[0] += sum(seen)
        total[1] += foretold * sum(seen)
        total[2] += seen[outcome]
    return [(foretold / positions, came / positions) for positions, foretold, came in bins if positions]


def picture(fitted: WdlFit, data: Data) -> str:
    """The calibration over the games held out, as SVG."""
    counts = count(data.held_out)
    curves = [
        Curve("as foretold", "#999999", [(0.0, 0.0), (1.0, 1.0)]),
        Curve("leader wins", "#2ca02c", calibration(fitted.model, counts, 0)),
        Curve("draw", "#1f77b4", calibration(fitted.model, counts, 1)),
        Curve("leader loses", "#d62728", calibration(fitted.model, counts, 2)),
    ]
    positions = sum(map(sum, counts.values()))
    title = f"Outcomes foretold and seen, {positions:,} positions of games held out"
    return svg(title, curves, Axes("held to be so likely", logarithmic=False))
