"""Fit the weights of a variant's evaluation to games of the engine against itself.

    python -m engine.training.variant_tuner GAMES.jsonl [--variant NAME ...] [--output variant_weights.py]

GAMES.jsonl is what `python -m tests.benchmarks.variants --opponent self --record` writes. By a position's evaluation, a
logistic curve predicts the result of its game; how steep it is is fitted first. The weights are those that are most
likely by the games and by what they were before: a weight strays from there by its prior at most, unless many games say
so. The positions of a game share its result, so each counts only in part. A tenth of the games are held out.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

from engine.board import Board
from engine.evaluation.evaluate import phase_of
from engine.evaluation.variant_evaluation import SIZES, VariantEvaluation, first
from engine.evaluation.variant_terms import evaluation_of
from engine.evaluation.variant_weights import VALUES
from engine.variants.variant import VARIANTS, find_variant

PRIOR_CP = {"squares": 15.0, "material": 60.0, "own": 60.0, "passed": 30.0, "king_attack": 30.0}
OTHER_PRIOR_CP = 10.0
EPOCHS = 12
STEP_CP = 0.6
SHARE = 0.15                       # of a position's likelihood that counts
SKIPPED_PLIES = 6                  # at the beginning of a game
HELD_OUT = 10                      # one of so many games
UNITS_CP = tuple(range(80, 900, 20))       # centipawns of one logistic unit that are tried

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Sample:
    """A quiet position: how often each weight counts for White, the phase from 0 to 1, and White's result."""

    features: tuple[tuple[int, int], ...]
    phase: float
    result: float


def games_of(path: Path, variant: str) -> Iterator[tuple[Board, list[str], float]]:
    """Yield the starts of the games, their moves, and White's results."""
    for line in path.read_text().splitlines():
        game = json.loads(line)
        found = find_variant(game["variant"])
        if found is not None and found.key == variant and game["end"] != "too long":
            white_score = game["score"] if game["white"] else 1 - game["score"]
            yield Board(game["start"], variant=variant), game["moves"].split(), white_score


def samples_of(board: Board, moves: list[str], result: float, evaluation: VariantEvaluation) -> Iterator[Sample]:
    """Yield the quiet positions of one game."""
    for ply, move in enumerate(moves):
        packed = board.parse(move)
        if ply >= SKIPPED_PLIES and not board.is_check() and not packed & 0xC000:
            phase, full = phase_of(board.position)
            counts = evaluation.features(board.position, board.position.state()["extra"])
            yield Sample(tuple(counts), phase / full, result)
        board.push(move)


class Fit:
    """The weights of one variant, midgame values then endgame values."""

    def __init__(self, values: Mapping[str, Pairs]) -> None:
        self.before = [0.0] * (2 * COUNT)
        self.prior = [OTHER_PRIOR_CP] * (2 * COUNT)
        for name, size in SIZES.items():
            start = first(name)
            for index in range(start, start + size):
                self.prior[index] = self.prior[COUNT + index] = PRIOR_CP.get(name, OTHER_PRIOR_CP)
            for offset, (midgame, endgame) in enumerate(values.get(name, ())):
                self.before[start + offset], self.before[COUNT + start + offset] = midgame, endgame
        self.weights = list(self.before)

    def score(self, sample: Sample) -> float:
        weights, phase = self.weights, sample.phase
        return sum(
            count * (weights[index] * phase + weights[COUNT + index] * (1 - phase)) for index, count in sample.features
        )

    def loss(self, samples: list[Sample], unit_cp: float) -> float:
        """Return the mean cross-entropy of the results."""
        total = 0.0
        for sample in samples:
            chance = min(max(logistic(self.score(sample) / unit_cp), 1e-6), 1 - 1e-6)
            total -= sample.result * log(chance) + (1 - sample.result) * log(1 - chance)
        return total / max(1, len(samples))

    def run(self, samples: list[Sample], unit_cp: float, rng: random.Random) -> None:
        """Adapt the weights to the samples, in ever smaller steps (AdaGrad)."""
        sums = [1e-9] * (2 * COUNT)
        for _ in range(EPOCHS):
            rng.shuffle(samples)
            for sample in samples:
                error = SHARE * (logistic(self.score(sample) / unit_cp) - sample.result) / unit_cp
                for index, count in sample.features:
                    for place, part in ((index, sample.phase), (COUNT + index, 1 - sample.phase)):
                        pull = (self.weights[place] - self.before[place]) / self.prior[place] ** 2 / len(samples)
                        slope = error * count * part + pull
                        sums[place] += slope * slope
                        self.weights[place] -= STEP_CP * self.prior[place] / 4 * slope / sums[place] ** 0.5

    def values(self) -> dict[str, Pairs]:
        """Return the weights by term, without terms and ends of terms that are zero."""
        found = {}
        for name, size in SIZES.items():
            start = first(name)
            pairs = [(round(self.weights[i]), round(self.weights[COUNT + i])) for i in range(start, start + size)]
            while pairs and pairs[-1] == (0, 0):
                pairs.pop()
            if pairs:
                found[name] = tuple(pairs)
        return found


COUNT = sum(SIZES.values())


def logistic(value: float) -> float:
    return 1 / (1 + exp(-max(-40.0, min(value, 40.0))))


def tune(variant: str, path: Path) -> dict[str, Pairs] | None:
    """Return fitted weights, or None if they do not predict the games held out better; print how well they do."""
    rng = random.Random(variant)
    evaluation = evaluation_of(variant)
    training: list[Sample] = []
    held_out: list[Sample] = []
    games = list(games_of(path, variant))
    for number, (board, moves, result) in enumerate(games):
        (held_out if number % HELD_OUT == 0 else training).extend(samples_of(board, moves, result, evaluation))
    fit = Fit(VALUES[variant])
    unit_cp = min(UNITS_CP, key=lambda unit: fit.loss(training[::5], unit))
    before = fit.loss(held_out, unit_cp)
    fit.run(training, unit_cp, rng)
    after = fit.loss(held_out, unit_cp)
    print(
        f"{variant}: {len(games)} games, {len(training)} positions, {unit_cp} cp a unit, "
        f"loss on {len(held_out)} held out {before:.4f} -> {after:.4f}",
        flush=True,
    )
    return fit.values() if after < before else None


def module_text(values: Mapping[str, Mapping[str, Pairs]]) -> str:
    """Return the module `variant_weights.py` with these values."""
    lines = [
        '"""The weights of the variants\' evaluations, midgame and endgame centipawns.',
        "",
        "Each row has the weights of a term in `variant_evaluation.py`; the rest of a row is zero. Written by",
        "`python -m engine.training.variant_tuner`.",
        '"""',
        "",
        "Pairs = tuple[tuple[int, int], ...]",
        "",
        "VALUES: dict[str, dict[str, Pairs]] = {",
    ]
    for variant, terms in values.items():
        lines.append(f'    "{variant}": {{')
        for name, pairs in terms.items():
            lines.append(f'        "{name}": (')
            lines += [f"            {', '.join(map(str, pairs[at : at + 8]))}," for at in range(0, len(pairs), 8)]
            lines.append("        ),")
        lines.append("    },")
    return "\n".join([*lines, "}", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path)
    parser.add_argument("--variant", nargs="+", default=list(VARIANTS), choices=list(VARIANTS), metavar="NAME")
    parser.add_argument("--output", type=Path, default=Path("variant_weights.py"))
    options = parser.parse_args()
    fitted = {variant: tune(variant, options.games) for variant in options.variant}
    values = {variant: fitted.get(variant) or Fit(VALUES[variant]).values() for variant in VARIANTS}
    options.output.write_text(module_text(values))
    return 0


if __name__ == "__main__":
    sys.exit(main())
