"""The command `play`: a game in the terminal."""

import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from engine.board import Board
from engine.cli.parameters import (
    DEPTH,
    FILE,
    POSITIVE,
    RATING,
    SECONDS,
    STYLE_NAMES,
    VARIANT,
    ascii_option,
    board_variant_option,
    fen_option,
    open_console,
    parsed,
    refuse_given,
    refuse_output,
)
from engine.core.fen import STARTING_FEN, chess960_fen
from engine.facade import NAMED_STYLES, Limits
from engine.lessons.styles import Style, parse_style
from engine.pgn.game import Game
from engine.pgn.pgn import read_games
from engine.pgn.time_control import TimeControl, parse_minutes
from engine.terminal.chess_clock import SIDES
from engine.terminal.play_session import PlaySession
from engine.terminal.players import Player
from engine.terminal.terminal_game import TerminalGame, time_control_of

DEFAULT_SECONDS = 1.0              # per move of the computer, without any other limit
KIND = click.Choice(("human", "computer"))


@dataclass(frozen=True)
class NamedStyle:
    """A style and how the user spelt it: one of the engine's by name, or terms of the articles."""

    text: str
    style: str | Style


def _style(text: str) -> NamedStyle:
    return NamedStyle(text, text if text in NAMED_STYLES else parse_style(text, NAMED_STYLES))


NAMED_STYLE = parsed(_style)


@click.command(short_help="Play the computer or a person, or watch two computers.")
@click.option("--white", type=KIND, default="human", help="Who plays White.")
@click.option("--black", type=KIND, show_default="the computer against a human, else a human", help="Who plays Black.")
@click.option("--white-style", type=NAMED_STYLE, help="Style of a computer that plays White.")
@click.option("--black-style", type=NAMED_STYLE, help="Style of a computer that plays Black.")
@click.option(
    "--style",
    type=NAMED_STYLE,
    help=f"Style of every computer: {', '.join(NAMED_STYLES)}, or a weak one: {STYLE_NAMES}.",
)
@click.option("--level", type=RATING, help="Rating that every computer plays at, unless its style is a weak one.")
@click.option("--depth", type=DEPTH, help="Plies that the computer searches.")
@click.option("--seconds", type=SECONDS, show_default="by the clock, or 1", help="The computer's time per move.")
@click.option("--clock", type=parsed(parse_minutes), metavar="M+S", help="Minutes per side and seconds per move: 5+3.")
@board_variant_option
@fen_option
@click.option("--chess960", type=click.IntRange(0, 959), help="Start from this Chess960 position.")
@click.option("--pgn", type=FILE, help="Continue a game from this file, with its clocks if it has a TimeControl.")
@click.option("--game", "number", type=POSITIVE, default=1, help="Number of the game in that file.")
@click.option("--save", type=FILE, help="Write the game to this new file at the end.")
@ascii_option
def play(
    white: str, black: str | None, white_style: NamedStyle | None, black_style: NamedStyle | None,
    style: NamedStyle | None, level: int | None, depth: int | None, seconds: float | None, clock: TimeControl | None,
    fen: Board | None, chess960: int | None, pgn: Path | None, number: int, save: Path | None, ascii_only: bool,
) -> None:  # fmt: skip
    """Play against the computer or another person, or watch two computers.

    Type `help` during the game for the commands.
    """
    if sum(choice is not None for choice in (fen, pgn, chess960)) > 1:
        raise click.ClickException("expected only one of --fen, --chess960 and --pgn")
    if pgn is not None:
        refuse_given(["variant"], f"with --pgn: the header Variant in {pgn} names it")
        game = _read_game(pgn, number)
    else:
        refuse_given(["number"], "without --pgn: it is the number of a game in that file")
        game = Game.of(fen or _starting_board(click.get_current_context().meta.get(VARIANT, "standard"), chess960))
    kinds = {"white": white, "black": black or ("computer" if white == "human" else "human")}
    has_clock = (clock or time_control_of(game)) is not None
    limits = _limits(depth, seconds, has_clock)
    if game.board().variant != "standard" and (white_style or black_style or style):
        raise click.ClickException(f"a style plays standard chess, but the game is {game.board().variant}")
    players = _players(kinds, {"white": white_style, "black": black_style}, style, level, limits)
    if "computer" not in kinds.values():
        refuse_given(["style", "level", "depth", "seconds"], "without a computer that plays")
    terminal_game = TerminalGame.resume(game, {side: player.name for side, player in players.items()}, clock)
    if save is not None:
        refuse_output(save, False)     # before the game: after it, the game would be lost
    console, theme = open_console(ascii_only)
    try:
        PlaySession(terminal_game, players, console, theme).run(sys.stdin.fileno())
    finally:                           # also if the terminal was closed, and can no longer be written to
        if save is not None:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            _save(terminal_game, save, console)


def _save(game: TerminalGame, path: Path, console: Console) -> None:
    text = game.pgn()
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        raise click.ClickException(f"cannot write {path}: {error.strerror}; the game is printed above") from None


def _starting_board(variant: str, chess960: int | None) -> Board:
    board = Board(variant=variant)
    if chess960 is None:
        return board
    if board.fen().split()[0].removesuffix("/") != STARTING_FEN.split()[0]:
        raise click.ClickException(f"--chess960: {variant} has a starting position of its own")
    return Board(chess960_fen(chess960), chess960=True, variant=variant)


def _read_game(path: Path, number: int) -> Game:
    count = 0
    with path.open("rb") as file:
        for count, game in enumerate(read_games(file, variations=False), 1):
            if count == number and game.errors:
                raise click.ClickException(f"{path}, game {number}, {game.errors[0]}")
            if count == number:
                return game
    raise click.ClickException(f"{path} has no game number {number}: it has {count or 'none'}")


def _limits(depth: int | None, seconds: float | None, has_clock: bool) -> Limits:
    if seconds is None and depth is None and not has_clock:
        seconds = DEFAULT_SECONDS
    return Limits(depth=depth, move_time_ms=None if seconds is None else round(seconds * 1000))


def _players(
    kinds: dict[str, str],
    styles: dict[str, NamedStyle | None],
    style: NamedStyle | None,
    level: int | None,
    limits: Limits,
) -> dict[str, Player]:
    players = {}
    for side in SIDES:
        own_style = styles[side]
        if kinds[side] == "human":
            if own_style is not None:
                raise click.ClickException(f"--{side}-style is for a computer, but {side} is played by a human")
            players[side] = Player("Human")
        elif (chosen := own_style or style) is not None:
            rating = level if isinstance(chosen.style, str) else None
            at_level = f", level {rating}" if rating is not None else ""
            players[side] = Player(f"Engine ({chosen.text}{at_level})", limits, chosen.style, rating)
        elif level is not None:
            players[side] = Player(f"Engine (level {level})", limits, rating=level)
        else:
            players[side] = Player("Engine", limits)
    return players
