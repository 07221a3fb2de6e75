"""The training of a net: what is learnt in which order, how fast, when to stop, and how to go on after a break.

The squared difference is minimised between the share of the point a net promises the side to move and what came of the
position: the score of the search, or a blend of it with the game's result. The net that errs least on the games held
out is the one that is kept. (chessprogramming wiki: NNUE; Loshchilov, Hutter: SGDR)
"""

from __future__ import annotations

import hashlib
import json
import time
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import cos, pi
from pathlib import Path

from engine.nnue import net_file
from engine.nnue.net_file import InvalidNet, Net
from engine.training.data import Data
from engine.training.features import hand_written_scores, loss_of_scores, shuffled
from engine.training.float_net import SCALE, FloatNet

UNITS_CP = range(100, 801, 20)
WARM_UP = 0.03                     # of all steps: the rate grows from nothing, while Adam gets to know the slopes
LAST_RATE = 0.02                   # of the rate, at the end


@dataclass(frozen=True)
class Settings:
    """How a net is trained; a training is only resumed with the same."""

    hidden: int = 256              # size of one view
    buckets: int = 8               # sets of output weights, chosen by the number of men
    epochs: float = 4.0            # how often each position is seen, every other time with the files from h to a
    batch: int = 8192              # positions a step
    rate: float = 0.001            # of Adam: about so much each weight moves a step
    decay: float = 0.1             # times the rate: the share of itself that each weight loses a step
    trust: float = 1.0             # weight of the search's score in the target; the game's result has the rest
    hindsight: float = 0.3         # weight of later scores of the same game in a position's own, see `features.py`
    unit_cp: int = 280             # centipawns of the search's score that are one logistic unit
    checks: int = 16               # how often the loss on the held-out games is looked at
    patience: int = 8              # checks without a better loss that end the training
    seed: int = 1
    threads: int = 2


@dataclass(frozen=True)
class Check:
    """Mean squared errors after so many steps: of the training since the check before, and of the held-out games."""

    step: int
    learnt: float
    held_out: float


class Training:
    """A training in progress."""

    def __init__(self, data: Data, settings: Settings, first: Net | None = None) -> None:
        """Begins with the weights of the net `first`, or random ones. Raises InvalidNet if it is of another shape."""
        self.data, self.settings, self.first = data, settings, first
        self.net = FloatNet(settings.hidden, settings.buckets, settings.threads, settings.seed)
        self.net.aim(settings.trust, settings.unit_cp)
        if first is not None:
            _check_same_shape(first, settings)
            self.net.rows()[0][:] = memoryview(dequantise(first))
        self.best = array("f", self.net.rows()[0])
        self.checks: list[Check] = []
        self.step = 0
        self.seconds = 0.0                     # spent so far
        self._pool = ThreadPoolExecutor(settings.threads)
        self._held_out_order = array("i", range(0, 2 * data.held_out_count, 2))
        self._epoch, self._order = -1, array("i")

    @property
    def steps_an_epoch(self) -> int:
        return -(-self.data.training_count // self.settings.batch)

    @property
    def steps(self) -> int:
        """Of the whole training."""
        return max(1, round(self.settings.epochs * self.steps_an_epoch))

    def seen(self, step: int) -> int:
        """How many positions have been learnt from after so many steps, however often each."""
        epochs, steps = divmod(step, self.steps_an_epoch)
        return epochs * self.data.training_count + min(steps * self.settings.batch, self.data.training_count)

    def run(self, on_step: Callable[[], None] = lambda: None) -> Iterator[Check]:
        """Train on to the end, or until it gets no better; yields each check."""
        every = max(1, self.steps // self.settings.checks)
        error, since = 0.0, self.step
        started = time.monotonic() - self.seconds
        while self.step < self.steps and not self.is_stuck():
            error += self._learn()
            self.seconds = time.monotonic() - started
            on_step()
            if self.step % every == 0 or self.step == self.steps:
                yield self._check(error / (self.step - since))
                error, since = 0.0, self.step

    def is_stuck(self) -> bool:
        """Is the best check too long ago?"""
        losses = [check.held_out for check in self.checks]
        return bool(losses) and len(losses) - 1 - losses.index(min(losses)) >= self.settings.patience

    def loss(self, weights: array[float]) -> float:
        """The mean squared error of these weights on the held-out games."""
        row = self.net.rows()[0]
        kept = array("f", row)
        row[:] = memoryview(weights)
        order = self._held_out_order
        error = self._spread(self.data.held_out, order, 0, len(order), False)
        row[:] = memoryview(kept)
        return error / len(order)

    def _check(self, learnt: float) -> Check:
        weights = array("f", self.net.rows()[0])
        check = Check(self.step, learnt, self.loss(weights))
        if all(check.held_out < other.held_out for other in self.checks):
            self.best = weights
        self.checks.append(check)
        return check

    def _learn(self) -> float:
        """One batch; returns its mean squared error."""
        settings = self.settings
        epoch, place = divmod(self.step, self.steps_an_epoch)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, shuffled(self.data.training_count, settings.seed, epoch)
        begin = place * settings.batch
        end = min(begin + settings.batch, self.data.training_count)
        error = self._spread(self.data.training, self._order, begin, end, True)
        self.step += 1
        rate = settings.rate * rate_at(self.step / self.steps)

        def move(part: tuple[int, int]) -> None:
            self.net.step(*part, self.step, 1 / (end - begin), rate, settings.decay)

        list(self._pool.map(move, shares(0, self.net.size, settings.threads)))
        return error / (end - begin)

    def _spread(self, words: array[int], order: array[int], begin: int, end: int, learning: bool) -> float:
        """The sum of the errors over a part of the order, a share for each thread."""

        def errors(lane: int, part: tuple[int, int]) -> float:
            return float(self.net.errors(words, order, *part, lane, learning))

        return sum(self._pool.map(errors, range(self.settings.threads), shares(begin, end, self.settings.threads)))

    # --- Going on after a break ------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write all that is needed to go on, whole or not at all."""
        unfinished = path.with_name(f"{path.name}.part")
        with unfinished.open("wb") as file:
            progress = {"step": self.step, "seconds": self.seconds, "checks": [asdict(check) for check in self.checks]}
            file.write(json.dumps(self._identity() | progress).encode() + b"\n")
            for row in (*self.net.rows(), self.best):
                file.write(row)
        unfinished.replace(path)

    def resume(self, path: Path) -> bool:
        """Go on from what was saved; False, and nothing changed, if that is not there or of another training."""
        if not path.exists():
            return False
        with path.open("rb") as file:
            saved = json.loads(file.readline())
            if {key: saved.get(key) for key in self._identity()} != self._identity():
                return False
            self.step, self.seconds = saved["step"], saved["seconds"]
            self.checks = [Check(**check) for check in saved["checks"]]
            for row in (*self.net.rows(), memoryview(self.best)):
                row[:] = memoryview(array("f", file.read(4 * self.net.size)))
        return True

    def _identity(self) -> dict[str, object]:
        first = hashlib.sha256(net_file.encode(self.first)).hexdigest() if self.first is not None else None
        return {"settings": asdict(self.settings), "data": self.data.origin, "first": first}


def _check_same_shape(net: Net, settings: Settings) -> None:
    """Raises InvalidNet."""
    for option, found, expected in (
        ("--hidden", net.hidden, settings.hidden),
        ("--buckets", net.buckets, settings.buckets),
    ):
        if found != expected:
            raise InvalidNet(f"{net.name} cannot begin this net: it has {option} {found}, expected {expected}")


def hand_written_loss(data: Data, settings: Settings) -> tuple[float, int]:
    """What the hand-written evaluation errs on the held-out games, and the centipawns with which it errs least."""
    words = data.held_out
    scores = hand_written_scores(words)
    losses = {unit: loss_of_scores(words, scores, unit, settings.trust, settings.unit_cp) for unit in UNITS_CP}
    unit = min(losses, key=losses.__getitem__)
    return losses[unit], unit


def shares(begin: int, end: int, count: int) -> list[tuple[int, int]]:
    """The range cut in so many parts."""
    cuts = [begin + (end - begin) * number // count for number in range(count + 1)]
    return list(pairwise(cuts))


def rate_at(through: float) -> float:
    """The share of the rate that applies when so much of the training is done: up quickly, then down along a cosine."""
    return min(1.0, through / WARM_UP) * (LAST_RATE + (1 - LAST_RATE) * (1 + cos(pi * through)) / 2)


def quantise(weights: array[float], settings: Settings, name: str) -> Net:
    """The net of integers nearest to these weights."""
    bias = net_file.FEATURES * settings.hidden
    output = bias + settings.hidden
    output_bias = output + 2 * settings.hidden * settings.buckets
    clamp, unit = net_file.CLAMP, net_file.OUTPUT_UNIT
    return Net(
        name=name,
        feature_weights=array("h", (round(clamp * weight) for weight in weights[:bias])),
        feature_bias=array("h", (round(clamp * weight) for weight in weights[bias:output])),
        output_weights=array("h", (round(unit * weight) for weight in weights[output:output_bias])),
        output_bias=array("i", (round(clamp * unit * weight) for weight in weights[output_bias:])),
        scale=SCALE,
    )


def dequantise(net: Net) -> array[float]:
    """The inverse of `quantise`, but for the rounding. Of a net with a larger scale the outermost weights are cut."""
    clamp, unit = net_file.CLAMP, net_file.OUTPUT_UNIT * SCALE / net.scale
    most = net_file.OUTPUT_WEIGHT_LIMIT / net_file.OUTPUT_UNIT
    weights = array("f", (weight / clamp for weight in net.feature_weights))
    weights.extend(weight / clamp for weight in net.feature_bias)
    weights.extend(max(-most, min(weight / unit, most)) for weight in net.output_weights)
    weights.extend(weight / (clamp * unit) for weight in net.output_bias)
    return weights
