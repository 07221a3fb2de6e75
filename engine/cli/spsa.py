"""The command `spsa`: tunes numbers of the search by games.

    lichessbot-engine spsa tuning --games 30000                    # writes spsa.json and spsa.svg into the folder
    lichessbot-engine spsa tuning --games 30000 --only 'LATE_MOVE_*' --only REDUCE_LESS_ON_PV

It compiles a copy of the engine in which these numbers are variables, so the checkout may change during the run.
"""

import os
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import click

from engine.cli.parameters import FOLDER, POSITIVE, number, work_alone, workers_option
from engine.core import params
from engine.nearest import did_you_mean
from engine.progress import ProgressDisplay
from engine.selfplay.sprt import MatchScore, Sprt
from engine.selfplay.worker_pool import Workers
from engine.training.spsa import SpsaPlan, Tuning, run, verify
from engine.training.tunable import NotTunable, Parameter, make_build, read_parameters

STATE, PICTURE, BUILD = "spsa.json", "spsa.svg", "build"
NARROW = 20                        # a parameter with a smaller range is tuned only if it is named
PAIRS_PER_SAVE = 10
PAIRS_PER_LINE = 500
FINAL_TEST = Sprt(0, 10)


@click.command(short_help="Tune numbers of the search by games.")
@click.argument("folder", type=FOLDER)
@click.option("--games", type=POSITIVE, default=30_000, help="Games in all, two of each opening.")
@click.option("--nodes", type=POSITIVE, default=SpsaPlan.nodes, help="Nodes per move.")
@click.option(
    "--only", "patterns", multiple=True, metavar="NAME", help="Tune these parameters; `*` stands for anything."
)
@click.option(
    "--step", type=number(0.001, 1), default=SpsaPlan.step,
    help="How much the numbers differ in the last pair of games, as a share of their ranges.",
)
@click.option(
    "--rate", type=number(0, 1), default=SpsaPlan.rate,
    help="How far the last pair moves the numbers, for each half point above even, as a share of the step.",
)
@click.option("--verify", "verifying", type=click.IntRange(min=0), default=2000, help="Games of the final match.")
@click.option("--seed", type=int, default=SpsaPlan.seed, help="Seed of the openings and of the steps.")
@workers_option
def spsa(
    folder: Path,
    games: int,
    nodes: int,
    patterns: tuple[str, ...],
    step: float,
    rate: float,
    verifying: int,
    seed: int,
    workers: Workers,
) -> None:
    """Tune numbers of the search in FOLDER, then play them against the present ones.

    The bounds of a number are in the comment of its line in engine/core/params.py. If interrupted, the same command
    continues; the final match begins again.
    """
    build = (folder / BUILD).resolve()
    is_build = Path(params.__file__).parents[2] == build
    if not is_build and build.exists():
        _run_in_build(build)           # its numbers count: those of the checkout may have changed since
    parameters = _chosen(read_parameters(Path(params.__file__).read_text()), patterns)
    work_alone(folder)
    if not is_build:
        _run_in_build(build)
    plan = SpsaPlan(parameters, -(-games // 2), nodes, seed, step, rate)
    state = folder / STATE
    tuning = Tuning.load(state) if state.exists() else Tuning.begin(plan)
    if set(tuning.values) != {parameter.name for parameter in parameters}:
        begun = " ".join(f"--only {name}" for name in tuning.values)
        raise click.ClickException(f"{state} was begun with {begun}: give the same, or choose another folder")
    if tuning.settings != plan.settings():
        begun = tuning.options()
        raise click.ClickException(f"{state} was begun with {begun}: give the same, or choose another folder")
    try:
        _tune(plan, tuning, folder, workers)
        for parameter in parameters:
            print(f"{parameter.name} = {tuning.rounded()[parameter.name]}  # was {parameter.value}")
        if verifying:
            _verify(plan, tuning, verifying, workers)
    except NotTunable as error:
        raise click.ClickException(f"{error}; the workers of a cluster run the one in {build}") from None


def _run_in_build(build: Path) -> None:
    """Go on with the same command in the tunable build, which is compiled first if it is missing."""
    if os.environ.get("PYTHONPATH") == str(build):
        raise click.ClickException(f"{params.__file__} is loaded instead of the engine in {build}")
    if not build.exists():
        print(f"compiling the engine in {build}", flush=True)
        try:
            make_build(build)
        except NotTunable as error:
            raise click.ClickException(str(error)) from None
    command = [sys.executable, "-P", "-m", "engine", *sys.argv[1:]]
    os.execve(sys.executable, command, {**os.environ, "PYTHONPATH": str(build)})


def _chosen(parameters: tuple[Parameter, ...], patterns: tuple[str, ...]) -> tuple[Parameter, ...]:
    """Return the named parameters, or those with a wide range. Raises click.ClickException for an unknown name."""
    if not patterns:
        return tuple(parameter for parameter in parameters if parameter.range >= NARROW)
    names = [parameter.name for parameter in parameters]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            missing = f"{params.__file__} has no number of this name with bounds"
            raise click.ClickException(f"--only {pattern}: {missing}{did_you_mean(pattern, names)}")
    return tuple(
        parameter for parameter in parameters if any(fnmatchcase(parameter.name, pattern) for pattern in patterns)
    )


def _tune(plan: SpsaPlan, tuning: Tuning, folder: Path, workers: Workers) -> None:
    with ProgressDisplay("tuning", plan.pairs, "pairs") as display:
        display.advance_to(tuning.pairs)
        for _ in run(plan, tuning, workers):
            display.advance_to(tuning.pairs)
            if tuning.pairs % PAIRS_PER_SAVE == 0 or tuning.pairs == plan.pairs:
                tuning.save(folder / STATE)
            if tuning.pairs % PAIRS_PER_LINE == 0 or tuning.pairs == plan.pairs:
                (folder / PICTURE).write_text(tuning.picture(plan.parameters))
                values = " ".join(f"{name}={value:.1f}" for name, value in tuning.values.items())
                display.log(f"{tuning.pairs} pairs: {values}")


def _verify(plan: SpsaPlan, tuning: Tuning, games: int, workers: Workers) -> None:
    """Play the tuned numbers against the present ones until a sequential test decides."""
    score = MatchScore()
    pairs = -(-games // 2)
    with ProgressDisplay("match", pairs, "pairs") as display:
        for half_points in verify(plan, tuning, pairs, workers):
            score.add(half_points)
            display.advance_to(score.played)
            if FINAL_TEST.is_decided(score):
                break
    print(f"tuned against present numbers: {score}\n{FINAL_TEST.line(score)}")
