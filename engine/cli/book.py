"""The commands `book build`, `book grow`, `book show` and `book check`."""

import sys
from pathlib import Path

import click

from engine.board import Board
from engine.book.book_statistics import BookStatistics, PlayedGame
from engine.book.opening_book import Book, InvalidBook, review_book, write
from engine.cli.parameters import (
    FILE,
    FOLDER,
    POSITIVE,
    VARIANT,
    board_argument,
    board_variant_option,
    output_options,
    refuse_output,
    work_alone,
    workers_option,
)
from engine.facade import OWN_BOOK
from engine.pgn.pgn import read_games
from engine.progress import ProgressDisplay
from engine.selfplay import book_growing
from engine.selfplay.book_growing import GrowingPlan
from engine.selfplay.worker_pool import Workers

MEGABYTE = 1_000_000


@click.group(no_args_is_help=False)
def book() -> None:
    """Make and inspect Polyglot opening books."""


@book.command()
@click.argument("games", type=FILE, nargs=-1, required=True, metavar="PGN...")
@output_options(None, "The book to write.")
@click.option("--plies", type=POSITIVE, default=40, help="Plies to read of each game.")
@click.option("--games", "min_games", type=POSITIVE, default=3, help="Games in which a move must have been played.")
def build(games: tuple[Path, ...], output: Path, force: bool, plies: int, min_games: int) -> None:
    """Make a book from games in PGN files."""
    refuse_output(output, force)
    statistics, found = BookStatistics(plies), 0
    total_mb = sum(path.stat().st_size for path in games) / MEGABYTE
    with ProgressDisplay("reading", total_mb, "MB", transient=True) as display:
        before_mb = 0.0
        for path in games:
            with path.open("rb") as stream:
                for game in read_games(stream, variations=False):
                    found += 1
                    board = game.standard_board()
                    if board is not None:
                        statistics.add(PlayedGame(game.moves, game.result, board.initial_fen))
                    if stream.seekable():              # a pipe does not know how much is left
                        display.advance_to(before_mb + stream.tell() / MEGABYTE)
            before_mb += path.stat().st_size / MEGABYTE
    if left_out := found - statistics.games:
        print(f"{_games(left_out)} left out: no result, a variant or an unreadable position", file=sys.stderr)
    _write(statistics, min_games, output)


@book.command(short_help="Make a book from games of the engine against itself.")
@click.argument("folder", type=FOLDER)
@click.option("--games", type=POSITIVE, default=1000, help="Games in all.")
@click.option("--seed", type=int, default=GrowingPlan.seed, help="Another seed plays other games.")
@workers_option
@output_options("own_book.bin", "The book to write.")
def grow(folder: Path, games: int, seed: int, workers: Workers, output: Path, force: bool) -> None:
    """Make a book from games of the engine against itself, as its own was made.

    FOLDER keeps the games. If interrupted, the same command continues.
    """
    refuse_output(output, force)
    work_alone(folder)
    plan = GrowingPlan(folder, seed)
    for line in book_growing.run(plan, games, workers):
        print(line, flush=True)
    statistics = BookStatistics(plan.plies)
    for path in filter(None, (plan.finished(*shard) for shard in plan.shards(games))):
        for game in book_growing.read(path):
            statistics.add(game)
    _write(statistics, 1, output)


def _games(number: int) -> str:
    return f"{number:,} game{'s' * (number != 1)}"


def _write(statistics: BookStatistics, min_games: int, path: Path) -> None:
    games = _games(statistics.games)
    entries = list(statistics.entries(min_games))
    if not entries:
        times = "once" if min_games == 1 else f"{min_games} times"
        raise InvalidBook(f"{path} is not written: in {games} no move was played {times} and scored")
    moves = write(path, entries)
    print(f"{games}, {moves:,} move{'s' * (moves != 1)} written to {path}")


@book.command()
@board_variant_option
@board_argument
@click.option("--book", "path", type=FILE, default=OWN_BOOK, show_default="the engine's own", help="The book to read.")
def show(board: Board, path: Path) -> None:
    """Show the moves of a book in a position.

    Without FEN it is the starting position. As in UCI, `moves` and moves such as e2e4 can follow.
    """
    if path == OWN_BOOK and board.variant != "standard":
        raise click.UsageError("the engine's own book is for standard chess; name another one with --book")
    moves = Book(path).moves(board)
    total = sum(found.weight for found in moves)
    if not moves:
        print("the book does not know this position")
    for found in moves:
        print(f"{board.san(found.move):8} {found.weight:6}  {100 * found.weight / max(1, total):5.1f} %")


@book.command()
@board_variant_option
@click.argument("path", type=FILE, default=OWN_BOOK, metavar="[BOOK]")
@click.pass_context
def check(ctx: click.Context, path: Path) -> int:
    """Count what is in a book and look for faults.

    Without BOOK it is the engine's own. The exit code is 1 if there are faults.
    """
    opened = Book(path)
    with ProgressDisplay("checking", len(opened), "moves", transient=True) as display:
        found = review_book(opened, [Board(variant=ctx.meta[VARIANT])], on_progress=display.advance_to)
    for line in found.lines():
        print(line)
    print("sound" if found.is_sound else "not sound")
    return 0 if found.is_sound else 1
