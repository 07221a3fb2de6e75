"""Fit the weights of a variant's evaluation to games of the engine against itself.

    python -m engine.training.variant_tuner GAMES.jsonl [--variant NAME ...] [--output variant_weights.py]

GAMES.jsonl is what `python -m tests.benchmarks.variants --opponent self --record` writes. The fit is that of `tuner.py`
to the results of the games: the weights are the most likely ones by the games and by their values before. A weight
moves little farther than its prior from its value before, unless many games say so. The positions of a game share its
result, so each counts only in part. A tenth of the games are held out.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.board import Board
from engine.core.move import is_tactical
from engine.evaluation.evaluate import phase_of
from engine.evaluation.variant_evaluation import SIZES, VariantEvaluation, first_weight
from engine.evaluation.variant_terms import evaluation_of
from engine.evaluation.variant_weights import VALUES
from engine.training.linear_samples import LinearSamples
from engine.training.tuner import Fit, FitProgress, TunerSettings, best_unit
from engine.variants.variant import VARIANTS, find_variant
from engine.whole_file import write_whole

PRIOR_CP = {"squares": 15.0, "material": 60.0, "own": 60.0, "passed": 30.0, "king_attack": 30.0}
OTHER_PRIOR_CP = 10.0
SHARE = 0.15                       # of a position's likelihood that counts
SETTINGS = TunerSettings(epochs=20, step_cp=3.0, trust=0.0)
SKIPPED_PLIES = 6                  # at the beginning of a game
HELD_OUT = 10                      # every tenth game

Pairs = tuple[tuple[int, int], ...]


def games_of(path: Path, variant: str) -> Iterator[tuple[Board, list[str], float]]:
    """Yield the starts of the games, their moves, and White's results."""
    for line in path.read_text().splitlines():
        game = json.loads(line)
        found = find_variant(game["variant"])
        if found is not None and found.key == variant and game["end"] != "too long":
            white_score = game["score"] if game["white"] else 1 - game["score"]
            yield Board(game["start"], variant=variant), game["moves"].split(), white_score


def add_game(
    samples: LinearSamples, board: Board, moves: list[str], result: float, evaluation: VariantEvaluation
) -> None:
    """Add the quiet positions of a game."""
    for ply, move in enumerate(moves):
        packed = board.parse(move)
        if ply >= SKIPPED_PLIES and not board.is_check() and not is_tactical(packed):
            position, extra = board.position, board.position.state()["extra"]
            phase, full = phase_of(position)
            score = evaluation.python_evaluate(position, extra)
            features = evaluation.features(position, extra)
            samples.add_features(features, phase / full, score if board.turn == "white" else -score, round(2 * result))
        board.push(move)


def values_of(terms: Mapping[str, Pairs]) -> list[float]:
    """Return each weight's midgame value and then its endgame value; those not named are zero."""
    values = [0.0] * (2 * sum(SIZES.values()))
    for name, pairs in terms.items():
        for index, pair in enumerate(pairs, first_weight(name)):
            values[2 * index : 2 * index + 2] = pair
    return values


def terms_of(values: list[float]) -> dict[str, Pairs]:
    """Return the weights by term, rounded, without terms and ends of terms that are zero."""
    found = {}
    for name, size in SIZES.items():
        weights = range(first_weight(name), first_weight(name) + size)
        pairs = [(round(values[2 * index]), round(values[2 * index + 1])) for index in weights]
        while pairs and pairs[-1] == (0, 0):
            pairs.pop()
        if pairs:
            found[name] = tuple(pairs)
    return found


def pulls(positions: int) -> list[float]:
    """Return the penalty of each value per squared centipawn of distance from where it began."""
    priors = [PRIOR_CP.get(name, OTHER_PRIOR_CP) for name, size in SIZES.items() for _ in range(2 * size)]
    return [1 / (4 * prior * prior * SHARE * positions) for prior in priors]


def tune(variant: str, path: Path) -> dict[str, Pairs]:
    """Return the weights, perhaps the old ones, that predict the games held out best; print how well they do."""
    evaluation = evaluation_of(variant)
    games = list(games_of(path, variant))
    room = sum(len(moves) for _, moves, _ in games)
    training, held_out = LinearSamples(room), LinearSamples(room)
    for number, (board, moves, result) in enumerate(games):
        add_game(held_out if number % HELD_OUT == 0 else training, board, moves, result, evaluation)
    if not len(training) or not len(held_out):
        raise ValueError(f"{path}: {len(games)} games of {variant} are too few; --variant leaves it out")
    start = values_of(VALUES[variant])
    unit = best_unit(training)
    fit = Fit(training, held_out, FitProgress.begin_at(start, SETTINGS, unit, len(training), pulls(len(training))))
    before = fit.held_out_loss()
    for line in fit.run():
        print(f"{variant}: {line}", flush=True)
    print(
        f"{variant}: {len(games)} games, {len(training)} positions, {unit:.0f} cp a unit, loss on {len(held_out)} "
        f"held out {before:.5f} -> {fit.progress.best_loss:.5f} (epoch {fit.progress.best_epoch})",
        flush=True,
    )
    return terms_of(fit.progress.best)


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
    weights = {variant: terms_of(values_of(VALUES[variant])) for variant in VARIANTS}
    try:
        for variant in options.variant:
            weights[variant] = tune(variant, options.games)
            write_whole(options.output, [module_text(weights).encode()])
    except OSError as error:
        parser.error(f"{error.filename}: {error.strerror}")
    except ValueError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
