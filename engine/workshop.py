"""Commands for who works on the engine: play games against itself, look at the records, fit the evaluation to them.

    lichessbot-engine selfplay shards --games 20000      # may be cut off and repeated: it goes on
    lichessbot-engine records shards
    lichessbot-engine tune shards                        # writes engine/tuned.py
    lichessbot-engine train shards -o nets/first.net     # the same: it goes on
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

from engine import records, selfplay
from engine.net_file import InvalidNet
from engine.tuning import data, training
from engine.tuning.production import make_net
from engine.tuning.tuner import Fit, Progress, Settings, best_unit, load, module_text, named

TUNED = Path(__file__).parent / "tuned.py"
PROGRESS = "progress.json"


def run(arguments: Sequence[str]) -> int:
    """Exit code 0, or 2 for arguments that make no sense and for a folder without shards."""
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    if options.command == "selfplay":
        return _play(options)
    if not records.shards(options.folder):
        print(f"no shards in {options.folder}", file=sys.stderr)
        return 2
    try:
        return {"records": _show, "tune": _tune, "train": _train}[options.command](options)
    except (records.InvalidRecord, InvalidNet) as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lichessbot-engine")
    commands = parser.add_subparsers(dest="command", required=True)
    play = commands.add_parser("selfplay", help="write records of games against itself")
    play.add_argument("folder", type=Path)
    play.add_argument("--games", type=_positive, default=20_000)
    play.add_argument("--nodes", type=_positive, default=selfplay.Plan.nodes, help="a move")
    play.add_argument("--seed", type=int, default=selfplay.Plan.seed)
    play.add_argument("--processes", type=_positive, default=os.cpu_count() or 1)
    look = commands.add_parser("records", help="check every record and say what there is")
    look.add_argument("folder", type=Path)
    look.add_argument("--shuffle", type=Path, metavar="FILE", help="also write them all there in random order")
    look.add_argument("--seed", type=int, default=1)
    tune = commands.add_parser("tune", help="fit the evaluation to the records")
    tune.add_argument("folder", type=Path)
    tune.add_argument("--positions", type=_positive, default=4_000_000, help="at most so many")
    tune.add_argument("--epochs", type=_positive, default=Settings.epochs)
    tune.add_argument("--step", type=float, default=Settings.step_cp, help="centipawns, at first")
    tune.add_argument("--trust", type=float, default=Settings.trust, help="weight of the score in the target, 0 to 1")
    tune.add_argument("--pull", type=float, default=Settings.pull, help="towards the weights it begins with")
    tune.add_argument("--seed", type=int, default=Settings.seed)
    tune.add_argument("--output", type=Path, default=TUNED)
    _add_train(commands.add_parser("train", help="make a net from the records"))
    return parser


def _add_train(train: argparse.ArgumentParser) -> None:
    """The options of a training."""
    train.add_argument("folder", type=Path)
    train.add_argument("-o", "--output", type=Path, required=True, metavar="NET", help="card and curve go beside it")
    train.add_argument("--newest", type=_positive, default=50_000_000, help="positions to use, from the last shards")
    _add_settings(train)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    """An option for each setting of a training."""
    for setting in fields(training.Settings):
        kind = _positive if isinstance(setting.default, int) else float
        parser.add_argument(f"--{setting.name.replace('_', '-')}", type=kind, default=setting.default)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _train(options: argparse.Namespace) -> int:
    settings = training.Settings(**{field.name: getattr(options, field.name) for field in fields(training.Settings)})
    options.output.parent.mkdir(parents=True, exist_ok=True)
    make_net(data.load(records.shards(options.folder), options.newest), settings, options.output)
    return 0


def _play(options: argparse.Namespace) -> int:
    plan = selfplay.Plan(options.folder, options.games, options.nodes, options.seed)
    for line in selfplay.run(plan, options.processes):
        print(line, flush=True)
    return 0


def _show(options: argparse.Namespace) -> int:
    paths = records.shards(options.folder)
    for line in records.check(paths).lines():
        print(line)
    if options.shuffle is not None:
        print(f"{records.shuffle(paths, options.shuffle, options.seed):,} records written to {options.shuffle}")
    return 0


def _tune(options: argparse.Namespace) -> int:
    learnt, held_out = load(records.shards(options.folder), options.positions)
    learnt.restore()
    print(f"{len(learnt):,} positions to learn from, {len(held_out):,} held out", flush=True)
    settings = Settings(options.epochs, options.step, options.trust, options.pull, options.seed)
    saved = options.folder / PROGRESS
    progress = Progress.load(saved) if saved.exists() else None
    if progress is None or progress.settings != settings or progress.positions != len(learnt):
        progress = Progress.begin(settings, best_unit(learnt), len(learnt))
    fit = Fit(learnt, held_out, progress)
    print(f"one logistic unit is {progress.unit:.0f} centipawns; held out at the start {fit.held_out_loss():.6f}")
    for line in fit.run(saved):
        print(line, flush=True)
    origin = (
        f"Fitted on {datetime.now(UTC):%Y-%m-%d} to {len(learnt):,} positions of our own games, the score of the "
        f"search trusted {settings.trust:.0%},\n{settings.epochs} epochs; mean squared error {fit.held_out_loss():.6f} "
        f"on {len(held_out):,} positions held out.\nWritten by `lichessbot-engine tune`."
    )
    options.output.write_text(module_text(named(progress.values), origin))
    return 0
