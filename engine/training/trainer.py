"""The training of a network: order of positions, learning rate, validation, early stopping, checkpoints.

It minimises the squared error between the expected score that the network predicts and the target: the search score,
blended with what came later in the game (`hindsight`) and with the result (`trust`). The weights with the lowest
validation loss are kept. (chessprogramming wiki: NNUE; Loshchilov, Hutter: SGDR)
"""

from __future__ import annotations

import hashlib
import json
import time
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from math import cos, pi
from pathlib import Path
from typing import BinaryIO

from engine.evaluation import net_file
from engine.evaluation.net_file import PLACES, THREATS, InvalidNet, Net
from engine.selfplay.records import InvalidRecord
from engine.training.data import Data
from engine.training.features import hand_written_scores, loss_of_scores, shuffled
from engine.training.float_net import SCALE, FloatNet
from engine.whole_file import write_whole

UNITS_CP = range(100, 801, 20)
WARM_UP = 0.03                     # share of the steps in which the rate grows from 0
LAST_RATE = 0.02                   # share of the rate at the end
UNTHREATENED = 1                   # the most frequent threat: defended, and attacked by nothing


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a training; a checkpoint is used only with the same ones, but for `threads`."""

    hidden: int = 256              # neurons per perspective
    buckets: int = 8               # outputs, chosen by the number of pieces
    epochs: float = 4.0            # passes over the positions, every other one mirrored left to right
    batch: int = 8192              # positions per step
    rate: float = 0.001            # learning rate of Adam
    decay: float = 0.1             # weight decay, times the rate
    trust: float = 1.0             # weight of the search score in the target; the game's result has the rest
    hindsight: float = 0.3         # weight of what came later in the game in each score, see `features.py`
    unit_cp: int = 280             # centipawns of the search score per logistic unit
    checks: int = 16               # validations
    patience: int = 8              # validations without a better loss that end the training
    seed: int = 1
    threads: int = 2


@dataclass(frozen=True)
class Check:
    """A validation: mean squared errors of the training since the one before, and of the held-out games."""

    step: int
    learnt: float
    held_out: float


class Training:
    """A training under way."""

    def __init__(self, data: Data, settings: TrainingSettings, first: Net | None = None) -> None:
        """Start from the weights of `first` or from random ones. Raises InvalidNet if `first` has another shape.

        A network of standard chess learns threats, that of a variant does not, whatever `first` knows.
        """
        self.data, self.settings, self.first = data, settings, first
        threats = 1 if data.is_of_variant else THREATS
        self.net = FloatNet(settings.hidden, settings.buckets, threats, settings.threads, settings.seed)
        self.net.set_target(settings.trust, settings.unit_cp)
        if first is not None:
            check_same_shape(first, settings)
            self.net.rows()[0][:] = memoryview(dequantise(with_threats(first, threats)))
        self.best = array("f", self.net.rows()[0].tobytes())
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
        """The steps of the whole training."""
        return max(1, round(self.settings.epochs * self.steps_an_epoch))

    def seen(self, step: int) -> int:
        """Return the number of positions trained on after `step` steps."""
        epochs, steps = divmod(step, self.steps_an_epoch)
        return epochs * self.data.training_count + min(steps * self.settings.batch, self.data.training_count)

    def run(self, on_step: Callable[[], None] = lambda: None) -> Iterator[Check]:
        """Train to the end or until the loss stops falling; yield each validation."""
        every = max(1, self.steps // self.settings.checks)
        error, since = 0.0, self.step
        started = time.monotonic() - self.seconds
        while self.step < self.steps and not self.has_plateaued():
            error += self._train_batch()
            self.seconds = time.monotonic() - started
            on_step()
            if self.step % every == 0 or self.step == self.steps:
                yield self._check(error / (self.step - since))
                error, since = 0.0, self.step

    def has_plateaued(self) -> bool:
        """Return whether the best validation is too long ago."""
        losses = [check.held_out for check in self.checks]
        return bool(losses) and len(losses) - 1 - losses.index(min(losses)) >= self.settings.patience

    def loss(self, weights: array[float]) -> float:
        """Return the mean squared error of these weights on the held-out games."""
        row = self.net.rows()[0]
        kept = array("f", row.tobytes())
        row[:] = memoryview(weights)
        order = self._held_out_order
        error = self._sum_errors(self.data.held_out, order, 0, len(order), False)
        row[:] = memoryview(kept)
        return error / len(order)

    def _check(self, learnt: float) -> Check:
        weights = array("f", self.net.rows()[0].tobytes())
        check = Check(self.step, learnt, self.loss(weights))
        if all(check.held_out < other.held_out for other in self.checks):
            self.best = weights
        self.checks.append(check)
        return check

    def _train_batch(self) -> float:
        """Train on one batch and return its mean squared error."""
        settings = self.settings
        epoch, place = divmod(self.step, self.steps_an_epoch)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, shuffled(self.data.training_count, settings.seed, epoch)
        begin = place * settings.batch
        end = min(begin + settings.batch, self.data.training_count)
        error = self._sum_errors(self.data.training, self._order, begin, end, True)
        self.step += 1
        rate = settings.rate * rate_at(self.step / self.steps)

        def move_common(part: tuple[int, int]) -> None:
            self.net.step_common(*part, self.step, 1 / (end - begin), rate)

        def move(part: tuple[int, int]) -> None:
            self.net.step(*part, self.step, 1 / (end - begin), rate, settings.decay)

        if self.net.threats > 1:
            list(self._pool.map(move_common, split_range(0, PLACES, settings.threads)))
        list(self._pool.map(move, split_range(0, self.net.size, settings.threads)))
        return error / (end - begin)

    def _sum_errors(self, words: array[int], order: array[int], begin: int, end: int, training: bool) -> float:
        """Return the sum of the squared errors over a range of the order, split between the threads."""

        def errors(lane: int, part: tuple[int, int]) -> float:
            return float(self.net.errors(words, order, *part, lane, training))

        return sum(self._pool.map(errors, range(self.settings.threads), split_range(begin, end, self.settings.threads)))

    # --- Checkpoints -----------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write a checkpoint, whole or not at all."""
        progress = {"step": self.step, "seconds": self.seconds, "checks": [asdict(check) for check in self.checks]}
        line = json.dumps(self._identity() | progress).encode() + b"\n"
        write_whole(path, (line, *self.net.rows(), memoryview(self.best)))

    def resume(self, path: Path) -> bool:
        """Continue from a checkpoint; return False if there is none of this training. Raises InvalidRecord."""
        if not path.exists():
            return False
        with path.open("rb") as file:
            try:
                return self._continue(file)
            except (ValueError, TypeError, KeyError, AttributeError):
                raise InvalidRecord(f"{path} is damaged: remove it to start over") from None

    def _continue(self, file: BinaryIO) -> bool:
        """Return whether the checkpoint is of this training. A damaged one raises the errors that `resume` lists."""
        saved = json.loads(file.readline())
        if {key: saved.get(key) for key in self._identity()} != self._identity():
            return False
        self.step, self.seconds = saved["step"], saved["seconds"]
        self.checks = [Check(**check) for check in saved["checks"]]
        for row in (*self.net.rows(), memoryview(self.best)):
            row[:] = memoryview(array("f", file.read(4 * len(row))))
        return True

    def _identity(self) -> dict[str, object]:
        first = hashlib.sha256(net_file.encode(self.first)).hexdigest() if self.first is not None else None
        settings = asdict(self.settings)
        del settings["threads"]                # they change the result only by rounding
        return {"settings": settings, "data": self.data.origin, "first": first}


def check_same_shape(net: Net, settings: TrainingSettings) -> None:
    """Check that a training can start from this network. Raises InvalidNet."""
    for option, found, expected in (
        ("--hidden", net.hidden, settings.hidden),
        ("--buckets", net.buckets, settings.buckets),
    ):
        if found != expected:
            raise InvalidNet(f"{net.name} cannot start this training: it has {option} {found}, expected {expected}")


def with_threats(net: Net, threats: int) -> Net:
    """Return the network with weights for `threats` threats, 1 or THREATS.

    Each threat of a piece begins with the weights of the piece. Without threats, a piece keeps those it has where it is
    defended and nothing attacks it.
    """
    if net.threats == threats:
        return net
    weights = array("b")
    for place in range(PLACES):
        row = place if net.threats == 1 else THREATS * place + UNTHREATENED
        weights.extend(threats * net.feature_weights[row * net.hidden : (row + 1) * net.hidden])
    return replace(net, feature_weights=weights)


def hand_written_loss(data: Data, settings: TrainingSettings) -> tuple[float, int]:
    """Return the loss of the hand-written evaluation on the held-out games, and its best centipawns per unit."""
    words = data.held_out
    scores = hand_written_scores(words)
    losses = {unit: loss_of_scores(words, scores, unit, settings.trust, settings.unit_cp) for unit in UNITS_CP}
    unit = min(losses, key=losses.__getitem__)
    return losses[unit], unit


def split_range(begin: int, end: int, count: int) -> list[tuple[int, int]]:
    """Split a range into `count` parts."""
    cuts = [begin + (end - begin) * number // count for number in range(count + 1)]
    return list(pairwise(cuts))


def rate_at(through: float) -> float:
    """Return the factor of the rate after this share of the training: a short rise, then a cosine."""
    return min(1.0, through / WARM_UP) * (LAST_RATE + (1 - LAST_RATE) * (1 + cos(pi * through)) / 2)


def quantise(weights: array[float], settings: TrainingSettings, name: str) -> Net:
    """Return the network of integers nearest to these weights."""
    output_bias = len(weights) - settings.buckets
    output = output_bias - 2 * settings.hidden * settings.buckets
    bias = output - settings.hidden
    clamp, unit = net_file.CLAMP, net_file.OUTPUT_UNIT
    return Net(
        name=name,
        feature_weights=array("b", (round(clamp * weight) for weight in weights[:bias])),
        feature_bias=array("h", (round(clamp * weight) for weight in weights[bias:output])),
        output_weights=array("h", (round(unit * weight) for weight in weights[output:output_bias])),
        output_bias=array("i", (round(clamp * unit * weight) for weight in weights[output_bias:])),
        scale=SCALE,
    )


def dequantise(net: Net) -> array[float]:
    """Return the weights of a network. Weights of one with a larger scale are clipped."""
    clamp, unit = net_file.CLAMP, net_file.OUTPUT_UNIT * SCALE / net.scale
    most = net_file.OUTPUT_WEIGHT_LIMIT / net_file.OUTPUT_UNIT
    weights = array("f", (weight / clamp for weight in net.feature_weights))
    weights.extend(weight / clamp for weight in net.feature_bias)
    weights.extend(max(-most, min(weight / unit, most)) for weight in net.output_weights)
    weights.extend(weight / (clamp * unit) for weight in net.output_bias)
    return weights
