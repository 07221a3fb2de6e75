"""Commands for who works on the engine: games against itself, a look at the records, evaluations learnt from them.

    lichessbot-engine selfplay shards --games 20000      # may be cut off and repeated, as all of these: it goes on
    lichessbot-engine records shards
    lichessbot-engine tune shards                        # writes engine/tuned.py
    lichessbot-engine train shards -o nets/first.net
    lichessbot-engine match nets/first.net none
    lichessbot-engine learn loop --generations 5 --minutes 60      # all of it, again and again

`engine/tuning/README.md` leads through them.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

from engine.core.fen import InvalidFen
from engine.nnue import net_file
from engine.nnue.eval_file import load as load_evaluation
from engine.nnue.net_file import InvalidNet
from engine.progress import ProgressDisplay
from engine.selfplay import match, records, selfplay
from engine.selfplay.sprt import MatchScore
from engine.selfplay.worker_pool import interrupt_on_sigterm
from engine.training import data
from engine.training import generations as learning
from engine.training import trainer as training
from engine.training import wdl_fit as outcomes
from engine.training.export import train_network
from engine.training.statistics import read_statistics
from engine.training.tuner import Fit, Progress, Settings, best_unit, load, module_text, named

TUNED = Path(__file__).parents[1] / "evaluation" / "tuned.py"
PROGRESS = "progress.json"
INTERRUPTED = 130                  # exit code, as shells have it
MAX_POSITIONS = 50_000_000
PAIRS_A_LINE = 10
MAX_EPOCHS, MAX_MINUTES, MAX_STEP_CP = 1000, 100_000, 100


def run(arguments: Sequence[str]) -> int:
    """Exit code 0, 2 for arguments that make no sense and for files that cannot be used, 130 after a signal."""
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    interrupt_on_sigterm()
    try:
        code: int = options.act(options)
    except KeyboardInterrupt:
        print("cut off", file=sys.stderr)
        return INTERRUPTED
    except (records.InvalidRecord, InvalidNet, InvalidFen, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return code


# --- Arguments -------------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lichessbot-engine")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_selfplay(commands.add_parser("selfplay", help="write records of games against itself"))
    _add_records(commands.add_parser("records", help="check every record and say what there is"))
    _add_tune(commands.add_parser("tune", help="fit the hand-written evaluation to the records"))
    _add_train(commands.add_parser("train", help="make a net from the records"))
    _add_match(commands.add_parser("match", help="let two evaluations play each other"))
    _add_learn(commands.add_parser("learn", help="play, train, compare, and again with the better one"))
    return parser


def _add_selfplay(play: argparse.ArgumentParser) -> None:
    play.set_defaults(act=_play)
    play.add_argument("folder", type=Path)
    play.add_argument("--games", type=_positive, default=20_000)
    play.add_argument("--nodes", type=_positive, default=selfplay.Plan.nodes, help="a move")
    play.add_argument("--net", default=selfplay.Plan.evaluation, metavar="FILE", help="none: hand-written")
    play.add_argument("--seed", type=int, default=selfplay.Plan.seed, help="other seeds, other games")
    _add_processes(play)


def _add_records(look: argparse.ArgumentParser) -> None:
    look.set_defaults(act=_show)
    look.add_argument("folder", type=Path)
    look.add_argument("--shuffle", type=Path, metavar="FILE", help="also write them all there in random order")
    look.add_argument("--seed", type=int, default=1)
    look.add_argument("--wdl", type=Path, metavar="SVG", help="also fit what scores mean, see there how well it does")


def _add_tune(tune: argparse.ArgumentParser) -> None:
    tune.set_defaults(act=_tune)
    tune.add_argument("folder", type=Path)
    tune.add_argument("--positions", type=_positive, default=4_000_000, help="at most so many")
    tune.add_argument("--epochs", type=_positive, default=Settings.epochs)
    tune.add_argument("--step", type=_number(0, MAX_STEP_CP), default=Settings.step_cp, help="centipawns, at first")
    tune.add_argument("--trust", type=_number(0, 1), default=Settings.trust, help="weight of the score in the target")
    tune.add_argument("--pull", type=_number(0, 1), default=Settings.pull, help="towards the weights it begins with")
    tune.add_argument("--seed", type=int, default=Settings.seed)
    tune.add_argument("--output", type=Path, default=TUNED)


def _add_train(train: argparse.ArgumentParser) -> None:
    train.set_defaults(act=_train)
    train.add_argument("folder", type=Path)
    train.add_argument("-o", "--output", type=Path, required=True, metavar="NET", help="card and curve go beside it")
    train.add_argument("--begin", type=Path, metavar="NET", help="with the weights of this one; random without it")
    train.add_argument("--newest", type=_positive, default=MAX_POSITIONS, help="positions, from the last shards")
    _add_settings(train)


def _add_match(rivals: argparse.ArgumentParser) -> None:
    rivals.set_defaults(act=_match)
    rivals.add_argument("first", help="a file with a net, or none: the hand-written evaluation")
    rivals.add_argument("second")
    rivals.add_argument("--games", type=_positive, default=300, help="two for each opening, colours swapped")
    rivals.add_argument("--nodes", type=_positive, default=match.Match.nodes, help="a move")
    rivals.add_argument("--openings", type=Path, metavar="EPD", help="random ones without it")
    rivals.add_argument("--seed", type=int, default=match.Match.seed)
    _add_processes(rivals)


def _add_learn(learn: argparse.ArgumentParser) -> None:
    plan = learning.Plan
    learn.set_defaults(act=_learn)
    learn.add_argument("folder", type=Path, help="holds games, nets and the log; goes on where it was")
    learn.add_argument("--generations", type=_positive, required=True, help="in all")
    learn.add_argument("--minutes", type=_number(0, MAX_MINUTES), required=True, help="of self-play a generation")
    learn.add_argument("--nodes", type=_positive, default=plan.nodes, help="a move of self-play")
    learn.add_argument("--newest", type=_positive, default=plan.newest, help="positions that a net learns from")
    learn.add_argument("--games", type=_positive, default=plan.games, help="of each match")
    learn.add_argument("--match-nodes", type=_positive, default=plan.match_nodes, help="a move of a match")
    learn.add_argument("--confidence", type=_number(0.5, 1), default=plan.confidence, help="needed to promote a net")
    learn.add_argument("--teacher", default=plan.teacher, metavar="FILE", help="of the first generation, or none")
    learn.add_argument("--games-per-shard", type=_positive, default=plan.games_per_shard)
    _add_processes(learn)
    _add_settings(learn)


def _add_processes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--processes", type=_positive, default=os.cpu_count() or 1, help="that play at once")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    """An option for each setting of a training; what each means is said there."""
    for setting in fields(training.Settings):
        fraction = _number(0, MAX_EPOCHS if setting.name == "epochs" else 1)
        kind = _positive if isinstance(setting.default, int) else fraction
        parser.add_argument(f"--{setting.name.replace('_', '-')}", type=kind, default=setting.default)


def _settings(options: argparse.Namespace) -> training.Settings:
    """Raises InvalidNet for a shape that no net has, before anybody plays or trains for hours."""
    net_file.check_shape(options.hidden, options.buckets)
    return training.Settings(**{setting.name: getattr(options, setting.name) for setting in fields(training.Settings)})


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1, found {text!r}")
    return int(text)


def _number(lowest: float, highest: float) -> Callable[[str], float]:
    """What reads an option that lies between these."""

    def read(text: str) -> float:
        try:
            if lowest <= (number := float(text)) <= highest:
                return number
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f"expected a number from {lowest:g} to {highest:g}, found {text!r}")

    return read


# --- Commands --------------------------------------------------------------------------------------------------------


def _shards(folder: Path) -> list[Path]:
    """Raises InvalidRecord if there is none."""
    found = records.shards(folder)
    if not found:
        raise records.InvalidRecord(f"no shards in {folder}: lichessbot-engine selfplay {folder} makes some")
    return found


def _play(options: argparse.Namespace) -> int:
    load_evaluation(options.net)                       # what is wrong with it is said here, not by every process
    plan = selfplay.Plan(options.folder, options.nodes, options.seed, options.net)
    with ProgressDisplay("self-play", len(plan.missing(options.games)), "shards") as display:
        for progress in selfplay.run(plan, options.games, options.processes):
            display.advance_to(progress.shards)
            display.log(str(progress))
    return 0


def _show(options: argparse.Namespace) -> int:
    paths = _shards(options.folder)
    for line in read_statistics(paths).lines():
        print(line)
    if options.shuffle is not None:
        print(f"{records.shuffle(paths, options.shuffle, options.seed):,} records written to {options.shuffle}")
    if options.wdl is not None:
        _fit_outcomes(paths, options.wdl)
    return 0


def _fit_outcomes(paths: Sequence[Path], target: Path) -> None:
    learnt = data.load(paths, MAX_POSITIONS)
    fitted = outcomes.fit(learnt)
    target.write_text(outcomes.picture(fitted, learnt))
    print(f"nats of cross_entropy a position: {fitted.learnt:.4f}, held out {fitted.held_out:.4f}; {target} is written")
    print(f"for engine/params.py, from {learnt.training_count:,} positions of {learnt.games:,} games:")
    for line in outcomes.lines(fitted):
        print(line)


def _tune(options: argparse.Namespace) -> int:
    learnt, held_out = load(_shards(options.folder), options.positions)
    learnt.restore()
    print(f"{len(learnt):,} positions to learn from, {len(held_out):,} held out", flush=True)
    settings = Settings(options.epochs, options.step, options.trust, options.pull, options.seed)
    saved = options.folder / PROGRESS
    progress = Progress.load(saved) if saved.exists() else None
    if progress is None or progress.settings != settings or progress.positions != len(learnt):
        progress = Progress.begin(settings, best_unit(learnt), len(learnt))
    fit = Fit(learnt, held_out, progress)
    print(f"one logistic unit is {progress.unit:.0f} centipawns; held out at the start {fit.held_out_loss():.6f}")
    with ProgressDisplay("fit", settings.epochs, "epochs") as display:
        display.advance_to(progress.epoch)
        for line in fit.run(saved):
            display.log(line)
            display.advance_to(progress.epoch)
    origin = (
        f"Fitted on {datetime.now(UTC):%Y-%m-%d} to {len(learnt):,} positions of our own games, the score of the "
        f"search trusted {settings.trust:.0%},\n{settings.epochs} epochs; mean squared error {fit.held_out_loss():.6f} "
        f"on {len(held_out):,} positions held out.\nWritten by `lichessbot-engine tune`."
    )
    options.output.write_text(module_text(named(progress.values), origin))
    return 0


def _train(options: argparse.Namespace) -> int:
    settings = _settings(options)
    first = net_file.read(options.begin) if options.begin is not None else None
    learnt = data.load(_shards(options.folder), options.newest, settings.hindsight, settings.unit_cp)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    train_network(learnt, settings, options.output, first)
    return 0


def _match(options: argparse.Namespace) -> int:
    for evaluation in (options.first, options.second):
        load_evaluation(evaluation)
    openings = match.read_openings(options.openings) if options.openings else ()
    rivals = match.Match(options.first, options.second, options.nodes, options.seed, openings)
    score = MatchScore()
    pairs = range(-(-options.games // 2))
    with ProgressDisplay("match", len(pairs), "pairs") as display:
        for _, half_points in match.play(rivals, pairs, options.processes):
            score.add(half_points)
            display.advance_to(sum(score.pairs))
            if sum(score.pairs) % PAIRS_A_LINE == 0:
                display.log(str(score))
    print(f"{options.first} against {options.second}: {score}")
    return 0


def _learn(options: argparse.Namespace) -> int:
    load_evaluation(options.teacher)
    given = {part.name: getattr(options, part.name) for part in fields(learning.Plan) if part.name != "settings"}
    learning.Loop(learning.Plan(**given, settings=_settings(options))).run()
    return 0
