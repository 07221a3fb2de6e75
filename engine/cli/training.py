"""The commands that train evaluations: `selfplay`, `records`, `tune`, `train`, `match` and `learn`.

    lichessbot-engine selfplay shards --games 20000
    lichessbot-engine records shards
    lichessbot-engine tune shards                                  # writes tuned.py, for engine/evaluation/
    lichessbot-engine train shards -o nets/first.net
    lichessbot-engine match nets/first.net none
    lichessbot-engine learn loop --generations 5 --minutes 60      # all of it, in a loop

Each but `records` and `match` continues where it was interrupted. `engine/training/README.md` explains them.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from engine.cli.exclusive import exclusive
from engine.cli.parameters import (
    COUNT,
    FILE,
    FOLDER,
    POSITIVE,
    is_given,
    number,
    output_options,
    refuse_given,
    refuse_output,
    variant_option,
    work_alone,
    workers_option,
)
from engine.evaluation import net_file
from engine.evaluation.eval_file import KEYWORDS, SHIPPED, shipped_file
from engine.evaluation.eval_file import load as load_evaluation
from engine.evaluation.net_file import Net
from engine.progress import ProgressDisplay
from engine.selfplay import match as matches
from engine.selfplay import records as record_files
from engine.selfplay.selfplay import SelfplayPlan
from engine.selfplay.selfplay import run as run_selfplay
from engine.selfplay.sprt import MatchScore
from engine.selfplay.worker_pool import Workers
from engine.training import data, wdl_fit
from engine.training.export import card_path, curve_path, train_network
from engine.training.generations import LoopPlan, TrainingLoop
from engine.training.statistics import read_statistics
from engine.training.trainer import TrainingSettings, check_same_shape
from engine.training.tuner import Fit, FitProgress, TunerSettings, best_unit, load, module_text, named
from engine.whole_file import write_whole

PROGRESS = "progress.json"
MAX_POSITIONS = 50_000_000
PAIRS_PER_LINE = 10
SHARE = number(0, 1)
TREE = "Most positions to store of each search's tree as well; none in variants."
TRAINING_OPTIONS: dict[str, tuple[Any, str]] = {
    "hidden": (int, "Neurons of the hidden layer: a multiple of 32, at most 1024."),
    "buckets": (int, "Outputs, chosen by the number of pieces: 1 or 8."),
    "epochs": (number(0, 1000), "Times that each position is seen."),
    "batch": (POSITIVE, "Positions per step."),
    "rate": (SHARE, "Learning rate."),
    "decay": (SHARE, "Weight decay, as a share of the learning rate."),
    "trust": (SHARE, "Weight of the search score in the target; the game's result has the rest."),
    "hindsight": (SHARE, "Weight of what came later in the game in each score."),
    "unit_cp": (click.IntRange(1, 10_000), "Centipawns of a search score that make one logistic unit."),
    "checks": (POSITIVE, "Validations during the training."),
    "patience": (POSITIVE, "Validations without progress that end the training."),
    "seed": (POSITIVE, "Seed of the first weights and of the order of positions."),
    "threads": (click.IntRange(1, 1024), "Threads that compute."),
}


def training_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each setting of a training."""
    for setting in reversed(fields(TrainingSettings)):
        kind, text = TRAINING_OPTIONS[setting.name]
        name = f"--{setting.name.replace('_', '-')}"
        command = click.option(name, type=kind, default=setting.default, help=text)(command)
    return command


def _training_settings(options: dict[str, Any], first: Net | None = None) -> TrainingSettings:
    """Take the settings out of the options; those of the shape are by default the first network's.

    Raises InvalidNet for an impossible shape, or another than that network's, before hours of work.
    """
    if first is not None:
        for name in ("hidden", "buckets"):
            if not is_given(name):
                options[name] = getattr(first, name)
    settings = TrainingSettings(**{setting.name: options.pop(setting.name) for setting in fields(TrainingSettings)})
    net_file.check_shape(settings.hidden, settings.buckets)
    if first is not None:
        check_same_shape(first, settings)
    return settings


def _shards(folder: Path) -> list[Path]:
    """Return the shards of a folder. Raises InvalidRecord if there are none."""
    found = record_files.shards(folder)
    if not found:
        raise record_files.InvalidRecord(f"no shards in {folder}: `lichessbot-engine selfplay {folder}` makes some")
    return found


@click.command(short_help="Play games against itself and store their positions.")
@click.argument("folder", type=FOLDER)
@click.option("--games", type=POSITIVE, default=20_000, help="Games in all.")
@click.option("--nodes", type=POSITIVE, default=SelfplayPlan.nodes, help="Nodes per move.")
@click.option("--tree", type=COUNT, default=SelfplayPlan.tree, help=TREE)
@click.option("--net", default=SelfplayPlan.evaluation, metavar="FILE", help="Network; `none`: hand-written terms.")
@click.option("--seed", type=int, default=SelfplayPlan.seed, help="Another seed plays other games.")
@variant_option
@workers_option
def selfplay(
    folder: Path, games: int, nodes: int, tree: int, net: str, seed: int, variant: str, workers: Workers
) -> None:
    """Play games of the engine against itself and store their positions in FOLDER."""
    load_evaluation(net, variant)      # reports a bad file once, not in every process
    work_alone(folder)
    plan = SelfplayPlan(folder, seed, nodes=nodes, evaluation=net, variant=variant, tree=tree)
    missing = plan.missing(games)
    kept = len(plan.shards(games)) - len(missing)
    if kept and missing:
        print(f"{folder} already has {kept:,} of the shards, perhaps of other --nodes, --net or --tree; they are kept")
    with ProgressDisplay("self-play", len(missing), "shards") as display:
        for progress in run_selfplay(plan, games, workers):
            display.advance_to(progress.shards)
            display.log(str(progress))
    if not missing:
        print(
            f"{folder} already has {games:,} game{'s' * (games != 1)} with seed {seed}, perhaps of other --nodes or "
            "--net: nothing is played. For more games raise --games; for other ones choose another --seed or folder."
        )


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--wdl", type=FILE, metavar="SVG", help="Also fit win, draw and loss probabilities, and draw their fit.")
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def records(folder: Path, wdl: Path | None, force: bool) -> None:
    """Check every record in FOLDER and print statistics."""
    if wdl is not None:
        refuse_output(wdl, force)
    paths = _shards(folder)
    for line in read_statistics(paths).lines():
        print(line)
    if wdl is not None:
        _fit_wdl(paths, wdl)


def _fit_wdl(paths: Sequence[Path], target: Path) -> None:
    found = data.load(paths, MAX_POSITIONS)
    if found.is_of_variant:
        raise record_files.InvalidRecord("--wdl fits a model of standard chess, but the games are of a variant")
    fitted = wdl_fit.fit(found)
    write_whole(target, [wdl_fit.picture(fitted, found).encode()])
    print(f"cross-entropy {fitted.training:.4f} nats per position, held out {fitted.held_out:.4f}; {target} is written")
    print(f"for engine/core/params.py, from {found.training_count:,} positions of {found.games:,} games:")
    for line in wdl_fit.lines(fitted):
        print(line)


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--positions", type=POSITIVE, default=4_000_000, help="Positions of games to use, from the last shards.")
@click.option("--epochs", type=POSITIVE, default=TunerSettings.epochs, help="Times that each position is seen.")
@click.option("--step", type=number(0, 100), default=TunerSettings.step_cp, help="Step at the start, in centipawns.")
@click.option("--trust", type=SHARE, default=TunerSettings.trust, help=TRAINING_OPTIONS["trust"][1])
@click.option("--pull", type=SHARE, default=TunerSettings.pull, help="Penalty for leaving the current weights.")
@click.option("--seed", type=int, default=TunerSettings.seed, help="Seed of the order of positions.")
@output_options("tuned.py", "The module to write; in engine/evaluation/ the engine uses it.")
def tune(
    folder: Path,
    output: Path,
    force: bool,
    positions: int,
    epochs: int,
    step: float,
    trust: float,
    pull: float,
    seed: int,
) -> int:
    """Fit the hand-written evaluation to the records in FOLDER.

    The epoch with the smallest loss on the positions held out is written; if none is better than the present
    weights, nothing is, and the exit code is 1.
    """
    refuse_output(output, force)
    paths = _shards(folder)
    work_alone(folder)
    samples, held_out = load(paths, positions)
    print(f"{len(samples):,} positions to learn from, {len(held_out):,} held out", flush=True)
    settings = TunerSettings(epochs, step, trust, pull, seed)
    saved = folder / PROGRESS
    progress = FitProgress.load(saved) if saved.exists() else None
    if progress is None or not progress.continues(settings, len(samples)):
        progress = FitProgress.begin(settings, best_unit(samples), len(samples))
    fit = Fit(samples, held_out, progress)
    reached = f"after epoch {progress.epoch}" if progress.epoch else "at the start"
    print(f"one logistic unit is {progress.unit:.0f} centipawns; held-out loss {reached} {fit.held_out_loss():.6f}")
    with ProgressDisplay("fit", settings.epochs, "epochs") as display:
        display.advance_to(progress.epoch)
        for line in fit.run(saved):
            display.log(line)
            display.advance_to(progress.epoch)
    if not progress.best_epoch:
        print(f"no epoch is better than the present weights on the positions held out: {output} is not written")
        return 1
    origin = (
        f"Fitted on {datetime.now(UTC):%Y-%m-%d} to {len(samples):,} positions of our own games. The search score has "
        f"{settings.trust:.0%} of the target;\nepoch {progress.best_epoch} of {settings.epochs}; mean squared error "
        f"{progress.best_loss:.6f} on {len(held_out):,} positions held out.\nWritten by `lichessbot-engine tune`."
    )
    write_whole(output, [module_text(named(progress.best), origin).encode()])      # half a module is no engine
    print(f"epoch {progress.best_epoch} is written to {output}")
    return 0


@click.command()
@click.argument("folder", type=FOLDER)
@output_options(None, "The network to write; card and curve go beside it.")
@click.option("--begin", metavar="NET", help="Network to start from, or `<shipped>`; its shape is the default.")
@click.option("--newest", type=POSITIVE, default=MAX_POSITIONS, help="Positions to use, from the last shards.")
@training_options
def train(folder: Path, output: Path, force: bool, begin: str | None, newest: int, **options: Any) -> None:
    """Train a network on the records in FOLDER."""
    shipped = shipped_file() if begin == SHIPPED else None
    first = net_file.read(shipped or Path(begin)) if begin is not None else None
    settings = _training_settings(options, first)
    outputs = (output, card_path(output), curve_path(output))
    if len(set(outputs)) < len(outputs):
        raise click.ClickException(f"{output} is the name of the card or the curve; expected {output.stem}.net")
    shards = _shards(folder)
    output.parent.mkdir(parents=True, exist_ok=True)
    for path in outputs:
        refuse_output(path, force)
    click.get_current_context().with_resource(exclusive(output.with_name(f".{output.name}.lock")))
    positions = data.load(shards, newest, settings.hindsight, settings.unit_cp)
    train_network(positions, settings, output, first, replace=force)


@click.command(short_help="Play a match between two evaluations.")
@click.argument("first")
@click.argument("second")
@click.option("--games", type=POSITIVE, default=300, help="Games in all, two of each opening with colours swapped.")
@click.option("--nodes", type=POSITIVE, default=matches.Match.nodes, help="Nodes per move.")
@click.option("--openings", type=FILE, metavar="EPD", help="Openings to play; random ones without it.")
@click.option("--seed", type=int, default=matches.Match.seed, help="Seed of the random openings.")
@variant_option
@workers_option
def match(
    first: str, second: str, games: int, nodes: int, openings: Path | None, seed: int, variant: str, workers: Workers
) -> None:
    """Play a match between two evaluations and print the Elo difference.

    FIRST and SECOND are network files, `<shipped>`, or `none` for the hand-written terms. Both use the search of this
    installation; CONTRIBUTING.md says how to compare two versions of the search.
    """
    if openings is not None:
        refuse_given(["seed"], "with --openings, which are played in turn")
    for evaluation in (first, second):
        load_evaluation(evaluation, variant)
    chosen = matches.read_openings(openings, variant) if openings else ()
    played = matches.Match(first, second, nodes, seed, chosen, variant)
    score = MatchScore()
    pairs = range(-(-games // 2))
    if chosen and len(pairs) > len(chosen):        # the same games again would say nothing new, but look certain
        pairs = range(len(chosen))
        print(
            f"{openings}: playing {2 * len(pairs)} games instead of {games}, as each opening is played once with both "
            "colours", file=sys.stderr,
        )  # fmt: skip
    with ProgressDisplay("match", len(pairs), "pairs") as display:
        for _, half_points in matches.play(played, pairs, workers):
            score.add(half_points)
            display.advance_to(score.played)
            if score.played % PAIRS_PER_LINE == 0:
                display.log(str(score))
    print(f"{first} against {second}: {score}")


@click.command(short_help="Play, train, compare; repeat with the better network.")
@click.argument("folder", type=FOLDER)
@click.option("--generations", type=POSITIVE, required=True, help="Generations in all.")
@click.option("--minutes", type=number(0, 100_000), required=True, help="Self-play per generation.")
@click.option("--nodes", type=POSITIVE, default=LoopPlan.nodes, help="Nodes per move of self-play.")
@click.option("--tree", type=COUNT, default=LoopPlan.tree, help=TREE)
@click.option("--newest", type=POSITIVE, default=LoopPlan.newest, help="Positions that a network is trained on.")
@click.option("--games", type=POSITIVE, default=LoopPlan.games, help="Games of each match.")
@click.option("--match-nodes", type=POSITIVE, default=LoopPlan.match_nodes, help="Nodes per move of a match.")
@click.option(
    "--confidence", type=number(0.5, 1), default=LoopPlan.confidence, help="Certainty needed to promote a network."
)
@click.option("--teacher", metavar="FILE", help="Network of the first generation; hand-written terms without it.")
@click.option("--games-per-shard", type=POSITIVE, default=LoopPlan.games_per_shard, help="Games that one file holds.")
@variant_option
@workers_option
@training_options
def learn(teacher: str | None, **options: Any) -> None:
    """Play, train and compare, and repeat with the better network.

    FOLDER holds games, networks and the log. If interrupted, the same command continues.
    """
    if teacher is not None:
        load_evaluation(teacher, options["variant"])
        if teacher not in KEYWORDS:
            teacher = str(Path(teacher).resolve())     # else it could be another file later
    settings = _training_settings(options)
    work_alone(options["folder"])
    TrainingLoop(LoopPlan(teacher=teacher, settings=settings, **options)).run()
