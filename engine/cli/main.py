"""The command line: finds the command, turns errors into one line and an exit code."""

import signal
import sys
from collections.abc import Sequence
from errno import ENOSPC
from importlib import import_module
from io import TextIOWrapper
from types import FrameType

import click

from engine import __version__
from engine.cli.exclusive import InUse
from engine.facade import InvalidBook, InvalidFen, InvalidNet, InvalidVariant
from engine.nearest import did_you_mean
from engine.selfplay.cluster.address import ClusterFailed, WorkerKilled
from engine.selfplay.records import InvalidRecord
from engine.selfplay.uci_client import EngineFailed

PROGRAM = "lichessbot-engine"
USAGE_ERROR, INTERRUPTED = 2, 130  # exit codes, as shells use them
USER_ERRORS = (
    ClusterFailed, EngineFailed, InUse, InvalidBook, InvalidFen, InvalidNet, InvalidRecord, InvalidVariant,
    WorkerKilled, MemoryError,
)  # fmt: skip

# Each command's module and function. A module is imported when its command is called: most load much of the engine.
COMMANDS = {
    "play": "play.play",
    "analyse": "positions.analyse",
    "eval": "positions.evaluate",
    "perft": "positions.perft",
    "compare-search": "positions.compare_search",
    "depth-table": "positions.depth_table",
    "articles": "positions.show_articles",
    "book": "book.book",
    "selfplay": "training.selfplay",
    "records": "training.records",
    "tune": "training.tune",
    "train": "training.train",
    "match": "training.match",
    "styles": "styles.styles",
    "spsa": "spsa.spsa",
    "learn": "training.learn",
    "calibrate": "calibrate.calibrate",
    "humanness": "calibrate.humanness",
    "bench": "bench.bench",
    "uci": "bench.uci",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name].partition(".")
        command: click.Command = getattr(import_module(f"engine.cli.{module}"), function)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS) or f"; `{PROGRAM} --help` lists the commands"
            raise click.ClickException(f"usage: {PROGRAM} COMMAND ...; unknown command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    epilog="Without a command it speaks UCI.",
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Play, analyse, make opening books and train evaluations with the engine."""


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code.

    0; 1 for a faulty book or a fit that gained nothing; 2 for a user's error; 130 after a signal.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:      # not below nohup
        signal.signal(signal.SIGHUP, _interrupt)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")      # for what the terminal's encoding lacks
    try:
        code: int | None = cli.main(list(arguments), PROGRAM, standalone_mode=False)
        return code or 0
    except click.exceptions.Abort:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):     # the process waits for its threads, then ends
            signal.signal(number, signal.SIG_IGN)
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except click.UsageError as error:
        program = error.ctx.command_path if error.ctx else PROGRAM
        _complain(f"{program}: {_in_one_line(error)} (see `{program} --help`)")
    except click.ClickException as error:
        _complain(error.format_message())
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or error
        hint = "; make room, and repeat the command" if error.errno == ENOSPC else ""
        _complain(f"{what}{hint}")
    except USER_ERRORS as error:
        _complain(str(error) or "not enough memory")
    return USAGE_ERROR


def _complain(text: str) -> None:
    """Print an error, with an escape such as \\x1b for each character that could steer a terminal."""
    print("".join(it if it.isprintable() or it == "\n" else repr(it)[1:-1] for it in text), file=sys.stderr)


def _in_one_line(error: click.UsageError) -> str:
    """Return what is wrong. Of text for a number click says no more than that it is not a valid integer range."""
    param = error.param if isinstance(error, click.BadParameter) else None
    kind = None if param is None else param.type
    if isinstance(kind, click.IntRange) and " is not " in error.message:
        bounds = f"from {kind.min}" if kind.max is None else f"from {kind.min} to {kind.max}"
        expected = f"expected a whole number {bounds}, found {error.message.rpartition(' is not ')[0]}"
        error = click.BadParameter(expected, error.ctx, param)
    return " ".join(error.format_message().split())     # click lists choices in lines of their own


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Make SIGTERM and a closed terminal end the process like Ctrl-C, with its worker processes and saved games.

    Once is enough: a shell repeats the signal of a closed terminal, which would interrupt the end of the process.
    """
    if number == signal.SIGHUP:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
