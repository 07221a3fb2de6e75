"""The fit of an evaluation that is linear in its weights: random batches, Adam, a falling step, held-out games.

It minimises the squared error between the expected score of an evaluation and the target: the game's result, blended
with the search score. (chessprogramming wiki: Texel's Tuning, Gradient Descent, Adam)
"""

from __future__ import annotations

import json
import random
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from math import cos, inf, isnan, pi, sqrt
from pathlib import Path

from engine.evaluation import weights
from engine.selfplay import records
from engine.training import data
from engine.training.linear_samples import LinearSamples
from engine.training.samples import Samples
from engine.training.statistics import UNITS_CP
from engine.whole_file import write_whole

BATCH = 16384
FIRST_DECAY, SECOND_DECAY = 0.9, 0.999             # Adam's decay of mean gradients and of their squares
TINY = 1e-10


@dataclass(frozen=True)
class TunerSettings:
    """The settings of a fit; a saved fit continues only with the same ones."""

    epochs: int = 12
    step_cp: float = 1.5
    trust: float = 0.4                             # weight of the search score in the target; the result has the rest
    pull: float = 6e-9                             # penalty per squared centipawn away from the first value
    seed: int = 1


@dataclass
class FitProgress:
    """The state of a fit."""

    settings: TunerSettings
    unit: float
    positions: int
    start: list[float]
    values: list[float]
    mean: list[float]
    square: list[float]
    pulls: list[float]             # of each value, as `pull` in the settings
    epoch: int = 0
    steps: int = 0
    losses: list[tuple[float, float]] = field(default_factory=list)        # per epoch: training, held out
    best: list[float] = field(default_factory=list)        # the values with the smallest loss held out
    best_loss: float = inf
    best_epoch: int = 0            # 0: those at the start

    @classmethod
    def begin(cls, settings: TunerSettings, unit: float, positions: int) -> FitProgress:
        """Start from the present weights of the hand-written evaluation."""
        start = _present_values()
        return cls.begin_at(start, settings, unit, positions, [settings.pull] * len(start))

    @classmethod
    def begin_at(
        cls, start: list[float], settings: TunerSettings, unit: float, positions: int, pulls: list[float]
    ) -> FitProgress:
        """Start from these values: each weight's midgame value, then its endgame value."""
        zeros = [0.0] * len(start)
        return cls(settings, unit, positions, start, list(start), zeros, list(zeros), pulls)

    @classmethod
    def load(cls, path: Path) -> FitProgress:
        """Read a state. Raises InvalidRecord or OSError."""
        try:
            content = json.loads(path.read_text(errors="replace"))
            settings = TunerSettings(**content.pop("settings"))
            losses = [(train, held_out) for train, held_out in content.pop("losses")]
            progress = cls(settings=settings, losses=losses, **content)
            progress._check()
            return progress
        except (ValueError, TypeError, KeyError, AttributeError):
            raise records.InvalidRecord(f"{path} is damaged: remove it to start over") from None

    def _check(self) -> None:
        """Refuse what no fit has: compiled code does not look at lengths. Raises ValueError or TypeError."""
        lists = (self.start, self.values, self.mean, self.square, self.pulls, self.best or self.start)
        numbers = (*chain(*lists), self.unit, self.epoch, self.steps, self.best_loss, self.best_epoch)
        if len(set(map(len, lists))) != 1 or any(map(isnan, numbers)) or self.unit <= 0:
            raise ValueError

    def save(self, path: Path) -> None:
        write_whole(path, [json.dumps(asdict(self)).encode()])

    def continues(self, settings: TunerSettings, positions: int) -> bool:
        """Return whether a fit of the present weights with these settings and this many positions goes on from here."""
        return (self.settings, self.positions, self.start) == (settings, positions, _present_values())


def _present_values() -> list[float]:
    return [float(part) for pairs in weights.default_values().values() for pair in pairs for part in pair]


def load(paths: Sequence[Path], newest: int) -> tuple[Samples, Samples]:
    """Return the samples to learn from and those held out, of the positions of games alone, as `data.load` does.

    The engine's weights are zero while this runs. Raises InvalidRecord.
    """
    found = data.load(paths, newest, only_played=True)
    if found.is_of_variant:
        raise records.InvalidRecord(
            "the games are of a variant, expected standard chess; variants are fitted by "
            "`python -m engine.training.variant_tuner`"
        )
    return _samples(found.training), _samples(found.held_out)


def _samples(words: array[int]) -> Samples:
    count = len(words) // data.WORDS
    samples = Samples(count)
    try:
        for record in range(count):
            samples.add(words, record)
    finally:
        samples.restore()
    return samples


def best_unit(samples: LinearSamples) -> float:
    """Return the centipawns per logistic unit with which the search scores predict the results best."""
    return float(min(UNITS_CP, key=samples.loss_of_scores))


class Fit:
    """A fit under way."""

    def __init__(self, training: LinearSamples, held_out: LinearSamples, progress: FitProgress) -> None:
        self._training, self._held_out, self.progress = training, held_out, progress

    def run(self, path: Path | None = None) -> Iterator[str]:
        """Run the remaining epochs; save the state in `path`, if any, and yield a line after each."""
        settings = self.progress.settings
        if not self.progress.best:
            self._keep_best(self.held_out_loss())
        while self.progress.epoch < settings.epochs:
            train = self._epoch()
            held_out = self.held_out_loss()
            self.progress.epoch += 1
            self.progress.losses.append((train, held_out))
            self._keep_best(held_out)
            if path is not None:
                self.progress.save(path)
            yield f"epoch {self.progress.epoch}/{settings.epochs}: loss {train:.6f}, held out {held_out:.6f}"

    def _keep_best(self, held_out: float) -> None:
        if held_out < self.progress.best_loss:
            self.progress.best, self.progress.best_loss = list(self.progress.values), held_out
            self.progress.best_epoch = self.progress.epoch

    def held_out_loss(self) -> float:
        """Return the mean squared error of the present values on the held-out games."""
        progress = self.progress
        return self._held_out.loss(array("d", progress.values), progress.settings.trust, progress.unit)

    def _epoch(self) -> float:
        """Use every sample once; return the mean loss."""
        progress = self.progress
        order = list(range(len(self._training)))
        random.Random(f"{progress.settings.seed} {progress.epoch}").shuffle(order)
        total = 0.0
        for first in range(0, len(order), BATCH):
            batch = array("i", order[first : first + BATCH])
            gradient = array("d", bytes(8 * len(progress.values)))
            values = array("d", progress.values)
            total += self._training.gradient(batch, values, gradient, progress.settings.trust, progress.unit)
            self._step([part / len(batch) for part in gradient], first / len(order))
        return total / len(order)

    def _step(self, gradient: list[float], through: float) -> None:
        """Move each value by Adam, with a step that falls along a cosine."""
        progress, settings = self.progress, self.progress.settings
        progress.steps += 1
        step = settings.step_cp * (1 + cos(pi * (progress.epoch + through) / settings.epochs)) / 2
        first = 1 - FIRST_DECAY**progress.steps
        second = 1 - SECOND_DECAY**progress.steps
        for index, value in enumerate(progress.values):
            part = gradient[index] + 2 * progress.pulls[index] * (value - progress.start[index])
            mean = FIRST_DECAY * progress.mean[index] + (1 - FIRST_DECAY) * part
            square = SECOND_DECAY * progress.square[index] + (1 - SECOND_DECAY) * part * part
            progress.mean[index], progress.square[index] = mean, square
            progress.values[index] = value - step * (mean / first) / (sqrt(square / second) + TINY)


def named(values: Sequence[float]) -> dict[str, list[tuple[int, int]]]:
    """Return the values by term, rounded; the mean of a piece's square table moves into its material value."""
    rounded = list(values)
    for kind, name in enumerate(("pawn", "knight", "bishop", "rook", "queen")):
        first = 2 * weights.TERMS[f"{name}_squares"].first
        on_board = range(4, 28) if name == "pawn" else range(32)
        for half in range(2):
            mean = sum(rounded[first + 2 * square + half] for square in on_board) / len(on_board)
            rounded[2 * (weights.TERMS["material"].first + kind) + half] += mean
            for square in on_board:
                rounded[first + 2 * square + half] -= mean
    pairs = [(round(rounded[index]), round(rounded[index + 1])) for index in range(0, len(rounded), 2)]
    return {name: pairs[term.first : term.first + term.size] for name, term in weights.TERMS.items()}


def module_text(values: dict[str, list[tuple[int, int]]], origin: str) -> str:
    """Return the text of `engine/evaluation/tuned.py`; `origin` says where the values come from."""
    lines = [f'"""The values of the weights in `weights.py`, midgame and endgame centipawns.\n\n{origin}\n"""', ""]
    lines.append("VALUES: dict[str, tuple[tuple[int, int], ...]] = {")
    for name, pairs in values.items():
        in_line = 4 if name.endswith("squares") else 8
        lines.append(f'    "{name}": (')
        for first in range(0, len(pairs), in_line):
            lines.append("        " + " ".join(f"({a}, {b})," for a, b in pairs[first : first + in_line]))
        lines.append("    ),")
    return "\n".join([*lines, "}", ""])
