"""The terminal's commands: what they are called with, and every mistake a user can make told in one line."""

import argparse
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from engine.board import Board
from engine.core.fen import STARTING_FEN, InvalidFen, chess960_fen
from engine.lessons.styles import STYLES, InvalidStyle, parse_style
from engine.pgn.game import Game, UnknownVariant
from engine.pgn.pgn import game_text, read_games
from engine.search.time_manager import Limits
from engine.terminal import articles, tools
from engine.terminal.analyse import Wish, analyse
from engine.terminal.drawing import Theme
from engine.terminal.play import PlaySession
from engine.terminal.players import Player
from engine.terminal.playing import TerminalGame, told_control
from engine.terminal.stopwatch import SIDES, InvalidTimeControl, parse_minutes

MAX_DEPTH = 100
MAX_SECONDS = 86_400.0
PIPED_SECONDS = 10.0               # of an analysis that nobody can stop
MOVE_SECONDS = 1.0                 # of the computer, when nothing else is said


class Refused(Exception):
    """What the user asked for cannot be done; the message says why in one line."""


class _Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        raise Refused(f"{self.prog}: {message}")


def run(arguments: Sequence[str]) -> int:
    """Exit code 0, 2 for what cannot be done, 130 for work that Ctrl-C cut off."""
    try:
        options = _parser().parse_args(arguments)
        console = Console(highlight=False, no_color=True if options.ascii else None)
        _ACTIONS[options.command](options, console, Theme.detect(console, options.ascii))
    except (Refused, InvalidFen, UnknownVariant, InvalidStyle, InvalidTimeControl, MemoryError) as error:
        print(error, file=sys.stderr)
        return 2
    except SystemExit as stop:         # --help
        return stop.code if isinstance(stop.code, int) else 2
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    return 0


def _parser() -> _Parser:
    parser = _Parser(prog="lichessbot-engine")
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, text: str, *, fen: bool = True) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.add_argument("--ascii", action="store_true", help="letters instead of chess pieces, no colours")
        if fen:
            added.add_argument("fen", nargs="*", metavar="FEN", help="the position; the starting position if left out")
        return added

    _play_arguments(command("play", "play in the terminal, against the computer or each other", fen=False))
    theme = command("analyse", "the best lines of a position, ever deeper")
    theme.add_argument("--lines", type=_whole(1, 50), default=3, help="how many (3)")
    theme.add_argument("--depth", type=_whole(1, MAX_DEPTH), help="stop after this depth")
    theme.add_argument("--seconds", type=_seconds, help="stop after this time")
    theme.add_argument("--hash", type=_whole(1, 65536), default=64, metavar="MIB", help="size of the table (64)")
    theme.add_argument("--threads", type=_whole(1, 256), default=1, help="how many search (1)")
    judge = command("eval", "the static evaluation taken apart")
    judge.add_argument("--style", default="", help=f"of the articles' terms: {_STYLES}")
    count = command("perft", "count the leaves of the tree of legal moves")
    count.add_argument("--depth", type=_whole(1, 20), default=4, help="plies (4)")
    compare = command("compare-search", "the textbook's searches side by side, at the same depth")
    compare.add_argument("--depth", type=_whole(1, 20), default=4, help="plies (4)")
    compare.add_argument("--seconds", type=_seconds, default=60.0, help="for each search at most (60)")
    compare.add_argument("--style", default="", help=f"evaluate by the articles' terms: {_STYLES}")
    depths = command("depth-table", "the time for a move at each depth, plain and by the engine", fen=False)
    depths.add_argument("--depth", type=_whole(1, 20), default=7, help="the last depth (7)")
    depths.add_argument("--seconds", type=_seconds, default=60.0, help="for each move at most (60)")
    pages = command("articles", "what the founding articles describe, running on this engine", fen=False)
    pages.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(articles.PAGES)}; all if left out")
    return parser


_STYLES = f"{', '.join(STYLES)}, or coefficients such as material=1,mobility=-0.5"


def _play_arguments(play: argparse.ArgumentParser) -> None:
    for side in SIDES:
        play.add_argument(f"--{side}", choices=("human", "computer"), help=f"who plays {side}")
        play.add_argument(f"--{side}-style", metavar="STYLE", help=f"of the computer that plays {side}")
    play.add_argument("--style", default="", help=f"of the computer: {_STYLES}; the engine's own strength if left out")
    play.add_argument("--depth", type=_whole(1, MAX_DEPTH), help="plies the computer looks ahead")
    play.add_argument("--seconds", type=_seconds, help="the computer takes a move (1, or by the clock if there is one)")
    play.add_argument("--clock", metavar="M+S", help="minutes each, and seconds gained by each move, such as 5+3")
    play.add_argument("--fen", help="begin from this position")
    play.add_argument("--chess960", type=_whole(0, 959), metavar="N", help="begin from this position of Chess960")
    play.add_argument(
        "--pgn", type=Path, metavar="FILE",
        help="go on with a game from this file, with its clocks if it has a TimeControl",
    )
    play.add_argument("--game", type=_whole(1, 10**9), default=1, metavar="N", help="which game of the file (1)")
    play.add_argument("--save", type=Path, metavar="FILE", help="write the game there at the end")


def _whole(least: int, most: int) -> Callable[[str], int]:
    """A whole number between these."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 10 and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"expected a whole number from {least} to {most}, found {text[:40]!r}")
        return int(text)

    return read


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.01 <= seconds <= MAX_SECONDS:
        raise argparse.ArgumentTypeError(f"expected seconds from 0.01 to {MAX_SECONDS:g}, found {text[:40]!r}")
    return seconds


def _board(options: argparse.Namespace) -> Board:
    """The position of a command. Raises InvalidFen."""
    return Board(_fen(" ".join(options.fen)))


def _fen(text: str) -> str:
    """The starting position where nothing else is said."""
    return STARTING_FEN if text in ("", "startpos") else text


# --- Commands --------------------------------------------------------------------------------------------------------


def _play(options: argparse.Namespace, console: Console, theme: Theme) -> None:
    game = _game(options)
    control = parse_minutes(options.clock) if options.clock else None
    players = _players(options, has_clock=(control or told_control(game)) is not None)
    playing = TerminalGame.resume(game, {side: player.name for side, player in players.items()}, control)
    if options.save is not None:
        _refuse_unwritable(options.save)
    PlaySession(playing, players, console, theme).run(sys.stdin.fileno())
    if options.save is not None:
        text = game_text(playing.game())
        try:
            options.save.write_text(text, encoding="utf-8")
        except OSError as error:
            console.print(text, markup=False, highlight=False, soft_wrap=True)
            raise Refused(f"cannot write {options.save}: {error.strerror}; the game stands above") from None


def _refuse_unwritable(path: Path) -> None:
    """Before the game: after it, it would be lost. Raises Refused."""
    if path.exists():
        raise Refused(f"{path} exists already: choose another name")
    if not path.parent.is_dir():
        raise Refused(f"cannot write {path}: there is no folder {path.parent}")


def _game(options: argparse.Namespace) -> Game:
    """The game that is gone on with; one of no moves if a new one begins."""
    if sum(choice is not None for choice in (options.fen, options.pgn, options.chess960)) > 1:
        raise Refused("expected only one of --fen, --chess960 and --pgn")
    if options.pgn is None:
        chess960 = options.chess960 is not None
        fen = chess960_fen(options.chess960) if chess960 else _fen(options.fen or "")
        return Game.of(Board(fen, chess960=chess960))
    try:
        with options.pgn.open("rb") as file:
            game = next(islice(read_games(file), options.game - 1, None), None)
    except OSError as error:
        raise Refused(f"cannot read {options.pgn}: {error.strerror}") from None
    if game is None:
        raise Refused(f"{options.pgn} has no game number {options.game}")
    if game.errors:
        raise Refused(f"{options.pgn}, game {options.game}, {game.errors[0]}")
    return game


def _players(options: argparse.Namespace, *, has_clock: bool) -> dict[str, Player]:
    white = options.white or "human"
    black = options.black or ("computer" if white == "human" else "human")
    players = {}
    for side, kind in zip(SIDES, (white, black), strict=True):
        style = getattr(options, f"{side}_style")
        if kind == "human":
            if style is not None:
                raise Refused(f"--{side}-style is for a computer, but {side} is played by a human")
            players[side] = Player("Human")
        else:
            players[side] = _computer(options, style if style is not None else options.style, has_clock)
    if not any(player.is_computer for player in players.values()) and _of_computers(options):
        raise Refused(f"{_of_computers(options)} is for a computer, but none plays")
    return players


def _of_computers(options: argparse.Namespace) -> str:
    """An option that was given and is for computers only; empty if there is none."""
    given = {"--style": options.style, "--depth": options.depth, "--seconds": options.seconds}
    return next((name for name, value in given.items() if value), "")


def _computer(options: argparse.Namespace, style: str, has_clock: bool) -> Player:
    seconds = options.seconds
    if seconds is None and options.depth is None and not has_clock:
        seconds = MOVE_SECONDS
    limits = Limits(depth=options.depth, move_time_ms=None if seconds is None else round(seconds * 1000))
    if not style:
        return Player("Engine", limits)
    return Player(f"Engine ({style})", limits, parse_style(style))


def _analyse(options: argparse.Namespace, console: Console, theme: Theme) -> None:
    seconds = options.seconds
    if seconds is None and options.depth is None and not sys.stdin.isatty():
        seconds = PIPED_SECONDS
    limits = Limits(
        depth=options.depth,
        move_time_ms=None if seconds is None else round(seconds * 1000),
        infinite=seconds is None and options.depth is None,
    )
    analyse(Wish(_board(options), options.lines, limits, options.hash, options.threads), console, theme)


def _evaluate(options: argparse.Namespace, console: Console, theme: Theme) -> None:
    tools.show_evaluation(_board(options), parse_style(options.style) if options.style else None, console, theme)


def _perft(options: argparse.Namespace, console: Console, theme: Theme) -> None:
    tools.show_perft(_board(options), options.depth, console)


def _compare(options: argparse.Namespace, console: Console, theme: Theme) -> None:
    style = parse_style(options.style) if options.style else None
    tools.show_comparison(_board(options), options.depth, style, options.seconds, console)


def _depth_table(options: argparse.Namespace, console: Console, theme: Theme) -> None:
    tools.show_depth_table(options.depth, options.seconds, console)


def _articles(options: argparse.Namespace, console: Console, theme: Theme) -> None:
    for name in options.names:
        if name not in articles.PAGES:
            close = get_close_matches(name.lower(), list(articles.PAGES), 1, 0.3)
            hint = f"did you mean {close[0]}? " if close else ""
            raise Refused(f"no article {name[:40]!r}; {hint}known: {', '.join(articles.PAGES)}")
    for name in options.names or articles.PAGES:
        articles.show(name, console, theme)


_ACTIONS: dict[str, Callable[[argparse.Namespace, Console, Theme], None]] = {
    "play": _play,
    "analyse": _analyse,
    "eval": _evaluate,
    "perft": _perft,
    "compare-search": _compare,
    "depth-table": _depth_table,
    "articles": _articles,
}
