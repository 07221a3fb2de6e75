"""Tunes numbers of the search by games: simultaneous perturbation stochastic approximation (SPSA).

In each pair of games, one player has every number moved by a step, up or down at random, and the other has each moved
the opposite way. The numbers then move a little towards the player that scored more. Steps and moves become smaller
during the run. A value between two integers is rounded up or down at random, so that moves smaller than 1 count too.

(Spall 1998: An Overview of the Simultaneous Perturbation Method; chessprogramming wiki: SPSA; Fishtest)
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import floor
from pathlib import Path

from engine.board import Board
from engine.selfplay.games import FixedNodesPlayer, SearchedMove
from engine.selfplay.match import balanced_opening, play_opening
from engine.selfplay.records import InvalidRecord
from engine.selfplay.worker_pool import Workers, run_parallel
from engine.training.plot import Curve, svg
from engine.training.tunable import Numbers, Parameter
from engine.whole_file import write_whole

STEP_DECAY, MOVE_DECAY = 0.101, 0.602              # exponents, from Spall
SLOW_START = 0.1                   # share of the pairs, added to those played: the first moves are smaller
EVEN = 2                           # half points of a pair
CURVE_POINTS = 200                 # of a whole run
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#17becf", "#7f7f7f")


@dataclass(frozen=True)
class SpsaPlan:
    """What is tuned, and how."""

    parameters: tuple[Parameter, ...]
    pairs: int
    nodes: int = 5000              # per move
    seed: int = 1
    step: float = 0.1              # of the last pair, as a share of a parameter's range
    rate: float = 0.004            # move of a value after the last pair for each half point above half, in steps

    def settings(self) -> dict[str, float]:
        """Return what may not change during a run."""
        return {"nodes": self.nodes, "seed": self.seed, "step": self.step, "rate": self.rate}

    def step_at(self, number: int) -> float:
        """Return the step of this pair, as a share of a parameter's range."""
        decay: float = (self.pairs / (number + 1)) ** STEP_DECAY
        return self.step * decay

    def move_at(self, number: int) -> float:
        """Return how far a parameter moves for each half point above half in this pair, as a share of its range."""
        delay = SLOW_START * self.pairs
        decay: float = ((delay + self.pairs) / (delay + number + 1)) ** MOVE_DECAY
        return self.rate * self.step**2 * decay / self.step_at(number)


@dataclass(frozen=True)
class Trial:
    """A pair of games between two sets of numbers."""

    number: int
    directions: tuple[int, ...]    # [parameter]: +1 or -1 for the first player
    first: dict[str, int]
    second: dict[str, int]
    nodes: int
    seed: int

    def play(self) -> int:
        """Return the half points of the first player. Only a tunable build can play."""
        first, second = TunedPlayer(self.first, self.nodes), TunedPlayer(self.second, self.nodes)
        rng = random.Random(f"spsa opening {self.seed} {self.number}")
        return play_opening(balanced_opening(rng, first, second), first, second)


class TunedPlayer(FixedNodesPlayer):
    """A player of a tunable build with numbers of its own."""

    def __init__(self, numbers: Mapping[str, int], nodes: int) -> None:
        super().__init__("", nodes)
        self._numbers = Numbers(numbers)

    def search(self, board: Board) -> SearchedMove:
        self._numbers.use()
        return super().search(board)


@dataclass
class Tuning:
    """The state of a run, as in its JSON file."""

    settings: dict[str, float]     # of its plan
    values: dict[str, float]
    pairs: int = 0
    curve: list[tuple[int, dict[str, float]]] = field(default_factory=list)

    @classmethod
    def begin(cls, plan: SpsaPlan) -> Tuning:
        values = {parameter.name: float(parameter.value) for parameter in plan.parameters}
        return cls(plan.settings(), values, 0, [(0, dict(values))])

    @classmethod
    def load(cls, path: Path) -> Tuning:
        """Read a state. Raises InvalidRecord or OSError."""
        try:
            content = json.loads(path.read_text())
            settings, values = (
                {str(name): float(value) for name, value in content[part].items()} for part in ("settings", "values")
            )
            return cls(settings, values, int(content["pairs"]), [(pairs, point) for pairs, point in content["curve"]])
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InvalidRecord(f"{path} is damaged: remove it to start over, or restore a copy") from None

    def save(self, path: Path) -> None:
        """Write the state whole or not at all."""
        write_whole(path, [json.dumps(asdict(self), indent=1).encode(), b"\n"])

    def options(self) -> str:
        """Return the options of the command that the run was begun with."""
        return " ".join(f"--{name} {value:.15g}" for name, value in self.settings.items())

    def rounded(self) -> dict[str, int]:
        return {name: round(value) for name, value in self.values.items()}

    def trial(self, plan: SpsaPlan, number: int) -> Trial:
        """Return the pair with this number, around the present values."""
        rng = random.Random(f"spsa {plan.seed} {number}")
        directions = tuple(rng.choice((-1, 1)) for _ in plan.parameters)
        first, second = {}, {}
        for parameter, direction in zip(plan.parameters, directions, strict=True):
            step, shift = direction * plan.step_at(number) * parameter.range, rng.random()
            value = self.values[parameter.name]
            first[parameter.name] = floor(parameter.clamped(value + step) + shift)
            second[parameter.name] = floor(parameter.clamped(value - step) + shift)
        return Trial(number, directions, first, second, plan.nodes, plan.seed)

    def learn(self, plan: SpsaPlan, trial: Trial, half_points: int) -> None:
        """Move every value towards the player that scored more."""
        move = plan.move_at(trial.number) * (half_points - EVEN)
        for parameter, direction in zip(plan.parameters, trial.directions, strict=True):
            value = self.values[parameter.name] + direction * move * parameter.range
            self.values[parameter.name] = parameter.clamped(value)
        self.pairs += 1
        if self.pairs % max(1, plan.pairs // CURVE_POINTS) == 0:
            self.curve.append((self.pairs, dict(self.values)))

    def picture(self, parameters: Sequence[Parameter]) -> str:
        """Draw, as SVG, the parameters that have moved farthest: their places between the bounds, 0 to 1."""

        def distance(parameter: Parameter) -> float:
            return abs(self.values[parameter.name] - parameter.value) / parameter.range

        farthest = sorted(parameters, key=distance, reverse=True)[: len(COLOURS)]
        curves = [
            Curve(
                f"{parameter.name}, {parameter.low} to {parameter.high}",
                colour,
                [(pairs, (values[parameter.name] - parameter.low) / parameter.range) for pairs, values in self.curve],
            )
            for parameter, colour in zip(farthest, COLOURS, strict=False)
        ]
        return svg("Parameters within their ranges", curves, "pairs")


def run(plan: SpsaPlan, tuning: Tuning, workers: Workers) -> Iterator[int]:
    """Play the pairs that are missing, several at a time; yield the half points of each after learning from it."""
    trials = (tuning.trial(plan, number) for number in range(tuning.pairs, plan.pairs))
    for trial, half_points in run_parallel(Trial.play, trials, workers):
        tuning.learn(plan, trial, half_points)
        yield half_points


def verify(plan: SpsaPlan, tuning: Tuning, pairs: int, workers: Workers) -> Iterator[int]:
    """Play the tuned numbers against those of `params.py`; yield the half points of the tuned ones in each pair.

    The openings are others than those that the numbers were tuned with.
    """
    played = max(plan.pairs, tuning.pairs)
    numbers = range(played, played + pairs)
    trials = (Trial(number, (), tuning.rounded(), {}, plan.nodes, plan.seed) for number in numbers)
    for _, half_points in run_parallel(Trial.play, trials, workers):
        yield half_points
