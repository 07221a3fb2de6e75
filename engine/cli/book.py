"""The commands for opening books.

    lichessbot-engine book build games.pgn -o book.bin       # from anybody's games
    lichessbot-engine book grow games --games 1000           # from our own; may be cut off and repeated: it goes on
    lichessbot-engine book show FEN --book book.bin
    lichessbot-engine book check book.bin
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.book.book_statistics import POINTS, BookStatistics, PlayedGame
from engine.book.opening_book import Book, InvalidBook, review_book, write
from engine.facade import OWN_BOOK, STARTING_FEN, Board, InvalidFen
from engine.pgn.game import Game, UnknownVariant
from engine.pgn.pgn import read_games
from engine.progress import progress
from engine.selfplay import book_growing as growing
from engine.selfplay.worker_pool import interrupt_on_sigterm

BUILD_PLIES, BUILD_GAMES = 40, 3
MEGABYTE = 1_000_000
INTERRUPTED = 130                  # exit code, as shells have it


def run(arguments: Sequence[str]) -> int:
    """Exit code 0; 1 for a book with faults; 2 for arguments or files that make no sense; 130 after a signal."""
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    act: Callable[[argparse.Namespace], int] = options.act
    interrupt_on_sigterm()
    try:
        return act(options)
    except KeyboardInterrupt:
        print("cut off", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        print(f"{error.filename}: {error.strerror}" if error.filename else error, file=sys.stderr)
    except (InvalidBook, InvalidFen, growing.InvalidShard) as error:
        print(error, file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lichessbot-engine book")
    commands = parser.add_subparsers(required=True)
    build = commands.add_parser("build", help="make a book of games in PGN")
    build.add_argument("games", type=Path, nargs="+", metavar="PGN")
    build.add_argument("-o", "--output", type=Path, required=True, metavar="BOOK")
    build.add_argument("--plies", type=_positive, default=BUILD_PLIES, help="of each game are read (%(default)s)")
    build.add_argument(
        "--games", dest="fewest", type=_positive, default=BUILD_GAMES, help="a move needs so many (%(default)s)"
    )
    build.set_defaults(act=_build)
    grow = commands.add_parser("grow", help="make our own book from games of the engine against itself")
    grow.add_argument("folder", type=Path, help="where the games are kept")
    grow.add_argument("--games", type=_positive, default=1000, help="in all (%(default)s)")
    grow.add_argument("--seed", type=int, default=growing.Plan.seed, help="other seeds, other games (%(default)s)")
    grow.add_argument("--processes", type=_positive, default=os.cpu_count() or 1, help="at once (%(default)s)")
    grow.add_argument("-o", "--output", type=Path, default=OWN_BOOK, metavar="BOOK", help="default: the bot's own")
    grow.set_defaults(act=_grow)
    show = commands.add_parser("show", help="what a book knows of a position")
    show.add_argument("fen", nargs="*", metavar="FEN", help="the position; the starting position if left out")
    show.add_argument("--book", type=Path, default=OWN_BOOK, help="default: our own")
    show.set_defaults(act=_show)
    check = commands.add_parser("check", help="say what there is in a book, and what is wrong with it")
    check.add_argument("book", type=Path, nargs="?", default=OWN_BOOK, help="default: our own")
    check.set_defaults(act=_check)
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1, found {text!r}")
    return int(text)


def _build(options: argparse.Namespace) -> int:
    """The games of all files together; those that cannot be followed or have no result are counted and left out."""
    _refuse_unwritable(options.output)
    statistics, left_out = BookStatistics(options.plies), 0
    total_mb = sum(path.stat().st_size for path in options.games) / MEGABYTE
    with progress("reading", total_mb, "MB") as advance:
        before_mb = 0.0
        for path in options.games:
            with path.open("rb") as stream:
                for game in read_games(stream, variations=False):
                    left_out += not _gather(statistics, game)
                    if stream.seekable():              # a pipe does not know how much is left
                        advance(before_mb + stream.tell() / MEGABYTE)
            before_mb += path.stat().st_size / MEGABYTE
    if left_out:
        print(f"{left_out:,} games left out: no result, an unknown variant or an unreadable position", file=sys.stderr)
    return _write(statistics, options.fewest, options.output)


def _gather(statistics: BookStatistics, game: Game) -> bool:
    """Whether the game counts."""
    if game.result not in POINTS:
        return False
    try:
        statistics.add(PlayedGame(game.moves, game.result, game.board().initial_fen))
    except (InvalidFen, UnknownVariant):
        return False
    return True


def _refuse_unwritable(path: Path) -> None:
    """Before hours are spent. Raises InvalidBook."""
    if not path.parent.is_dir():
        raise InvalidBook(f"cannot write {path}: there is no folder {path.parent}")


def _grow(options: argparse.Namespace) -> int:
    _refuse_unwritable(options.output)
    plan = growing.Plan(options.folder, options.games, seed=options.seed)
    for line in growing.run(plan, options.processes):
        print(line, flush=True)
    statistics = BookStatistics(plan.plies)
    for number in range(plan.shards):
        for game in growing.read(plan.path(number)):
            statistics.add(game)
    return _write(statistics, 1, options.output)


def _write(statistics: BookStatistics, min_games: int, path: Path) -> int:
    entries = list(statistics.entries(min_games))
    if not entries:
        found = f"of {statistics.games:,} games no move was played {min_games} times and brought a point"
        print(f"{path} is not written: {found}", file=sys.stderr)
        return 2
    print(f"{statistics.games:,} games, {write(path, entries):,} moves written to {path}")
    return 0


def _show(options: argparse.Namespace) -> int:
    fen = " ".join(options.fen)
    board = Board(STARTING_FEN if fen in ("", "startpos") else fen)
    moves = Book(options.book).moves(board)
    total = sum(found.weight for found in moves)
    if not moves:
        print("the book does not know this position")
    for found in moves:
        print(f"{board.san(found.move):8} {found.weight:6}  {100 * found.weight / max(1, total):5.1f} %")
    return 0


def _check(options: argparse.Namespace) -> int:
    book = Book(options.book)
    with progress("checking", len(book), "moves") as advance:
        found = review_book(book, [Board()], tell=advance)
    for line in found.lines():
        print(line)
    print("sound" if found.is_sound else "not sound")
    return 0 if found.is_sound else 1
