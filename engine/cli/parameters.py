"""The option types and arguments that several commands share."""

import os
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource
from rich.console import Console

from engine.board import Board
from engine.cli.exclusive import exclusive
from engine.facade import RATINGS, InvalidFen, InvalidMove, usable_cores
from engine.lessons.styles import STYLES, parse_style
from engine.selfplay.cluster.address import parse_address
from engine.terminal.board_view import Theme
from engine.variants.variant import VARIANTS, InvalidVariant, find_variant, is_chess960

Parsed = TypeVar("Parsed")
Command = TypeVar("Command", bound=Callable[..., Any])

POSITIVE = click.IntRange(min=1)
COUNT = click.IntRange(min=0)
RATING = click.IntRange(RATINGS[0], RATINGS[-1])
DEPTH = click.IntRange(1, 100)
SHALLOW_DEPTH = click.IntRange(1, 20)
FILE = click.Path(path_type=Path)
FOLDER = click.Path(path_type=Path, file_okay=False)    # it may be missing
WAYS_OUT = {"--force": "`--force` replaces it", "--output": "`--output` writes elsewhere"}     # if a file exists
MOVES = "moves"                    # stands between a position and the moves from there
VARIANT = "engine.variant"         # of a command's board, among what click keeps for it
STYLE_NAMES = f"{', '.join(STYLES)}, or coefficients such as material=1,mobility=-0.5"


def number(lowest: float, highest: float) -> Callable[[Any], float]:
    """Return an option type: a number within these bounds."""

    def number(value: Any) -> float:
        try:
            if lowest <= (found := float(value)) <= highest:
                return found
        except ValueError:
            pass
        raise click.BadParameter(f"expected a number from {lowest:g} to {highest:g}, found {str(value)[:40]!r}")

    return number


def parsed(parse: Callable[[str], Parsed]) -> Callable[[str], Parsed]:
    """Return an option type: what `parse` makes of the text. Its ValueError becomes the user's error."""

    def text(value: str) -> Parsed:
        try:
            return parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return text


def _board(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> Board:
    """Return the board that is meant by a FEN or `startpos`, and perhaps `moves` with moves, as in UCI."""
    fields = " ".join(words).split()
    end = fields.index(MOVES) if MOVES in fields else len(fields)
    fen = " ".join(fields[:end])
    try:
        board = Board(None if fen in ("", "startpos") else fen, variant=ctx.meta.get(VARIANT, "standard"))
        return board.after(*fields[end + 1 :])
    except (InvalidFen, InvalidMove) as error:
        raise click.BadParameter(str(error)) from None


def _fen(ctx: click.Context, param: click.Parameter, fen: str | None) -> Board | None:
    return None if fen is None else _board(ctx, param, (fen,))


def _note_variant(ctx: click.Context, param: click.Parameter, variant: str) -> None:
    ctx.meta[VARIANT] = variant


def variant_key(name: str) -> str:
    """Return Lichess's name of a variant. Raises InvalidVariant."""
    if is_chess960(name):
        raise InvalidVariant("Chess960 is standard chess from another start: give its FEN, or `play --chess960 N`")
    variant = find_variant(name)
    return "standard" if variant is None else variant.key


def output_options(default: str | None, text: str) -> Callable[[Command], Command]:
    """Add `--output`, by default a file in the working folder, and `--force`, without which no file is replaced."""

    def decorated(command: Command) -> Command:
        command = click.option("--force", is_flag=True, help="Replace a file that exists.")(command)
        # A default of None would count as a value.
        given: dict[str, Any] = {"required": True} if default is None else {"default": Path(default)}
        return click.option("-o", "--output", type=FILE, help=text, **given)(command)

    return decorated


def refuse_output(path: Path, force: bool) -> None:
    """Refuse to write there before hours of work. Raises click.ClickException."""
    if not path.parent.is_dir():
        raise click.ClickException(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise click.ClickException(f"cannot write {path}: it is a folder; name a file in it")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise click.ClickException(f"cannot write {path}: permission denied")
    if path.exists() and not force:
        known = {name for param in click.get_current_context().command.params for name in param.opts}
        ways = ", ".join(way for name, way in WAYS_OUT.items() if name in known)
        raise click.ClickException(f"{path} exists; {ways or 'choose another name'}")


def work_alone(folder: Path) -> None:
    """Make a folder if it is missing, and keep other commands out of it until this one ends. Raises InUse."""
    folder.mkdir(parents=True, exist_ok=True)
    click.get_current_context().with_resource(exclusive(folder))


def is_given(name: str) -> bool:
    """Return whether the user gave this parameter of the command."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def refuse_given(names: Iterable[str], other: str) -> None:
    """Refuse parameters of the command that would be ignored beside another. Raises click.UsageError."""
    for param in click.get_current_context().command.params:
        if param.name in names and is_given(param.name):
            name = param.human_readable_name if isinstance(param, click.Argument) else param.opts[0]
            raise click.UsageError(f"{name} cannot be used {other}")


SECONDS = number(0.01, 86_400)
STYLE = parsed(parse_style)
board_argument = click.argument("board", nargs=-1, metavar="[FEN]", callback=_board)
fen_option = click.option(
    "--fen", callback=_fen, metavar="FEN", help="Start from this position; `moves` and moves can follow, as in UCI."
)
_VARIANT_WORDS: dict[str, Any] = {
    "type": parsed(variant_key),
    "default": "standard",
    "metavar": "NAME",
    "help": f"What to play, one of: standard, {', '.join(VARIANTS)}.",
}
variant_option = click.option("--variant", **_VARIANT_WORDS)
board_variant_option = click.option(       # for a command with a board: read before the board's FEN
    "--variant", is_eager=True, expose_value=False, callback=_note_variant, **_VARIANT_WORDS
)
processes_option = click.option(
    "--processes", type=POSITIVE, default=usable_cores(), help="Games to play at the same time."
)
ascii_option = click.option("--ascii", "ascii_only", is_flag=True, help="Use letters for pieces, and no colours.")


def workers_option(command: Command) -> Command:
    """Add `--processes` and `--cluster`, of which a user gives one; the command gets it as `workers`."""

    @processes_option
    @click.option(
        "--cluster",
        type=parsed(parse_address),
        metavar="ADDRESS",
        help="Play on a Dask cluster, with this scheduler, instead: tcp://HOST:8786.",
    )
    @wraps(command)
    def with_workers(*args: Any, processes: int, cluster: str | None, **options: Any) -> Any:
        if cluster is not None:
            refuse_given(["processes"], "with --cluster, whose workers play one game each")
        return command(*args, workers=cluster or processes, **options)

    return cast(Command, with_workers)


def open_console(ascii_only: bool) -> tuple[Console, Theme]:
    """Return standard output and what it can show."""
    console = Console(highlight=False, no_color=True if ascii_only else None)
    return console, Theme.detect(console, ascii_only)
