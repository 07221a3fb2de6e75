"""The commands that show what the engine knows of a position: `analyse`, `eval`, `perft` and others."""

import sys

import click

from engine.board import Board
from engine.cli.parameters import (
    DEPTH,
    SECONDS,
    SHALLOW_DEPTH,
    STYLE,
    STYLE_NAMES,
    ascii_option,
    board_argument,
    board_variant_option,
    open_console,
)
from engine.facade import Engine, Limits
from engine.lessons.styles import Style
from engine.nearest import did_you_mean
from engine.terminal import articles, reports
from engine.terminal.analysis import analyse as run_analysis

PIPED_SECONDS = 10.0               # of an analysis whose input is no terminal


@click.command()
@board_argument
@board_variant_option
@click.option("--lines", type=click.IntRange(1, 50), default=3, help="How many lines to show.")
@click.option("--depth", type=DEPTH, help="Stop after this depth, in plies.")
@click.option("--seconds", type=SECONDS, help="Stop after this time.")
@click.option("--hash", "hash_mb", type=click.IntRange(1, 65536), default=64, help="Size of the table in MiB.")
@click.option("--threads", type=click.IntRange(1, 256), default=1, help="Threads that search.")
@ascii_option
def analyse(
    board: Board, lines: int, depth: int | None, seconds: float | None, hash_mb: int, threads: int, ascii_only: bool
) -> None:
    """Show the best lines of a position, deeper and deeper.

    Without a limit the analysis runs until Enter, Ctrl-D or Ctrl-C, or for 10 seconds if the input is no terminal.

    Without FEN it is the starting position. As in UCI, `moves` and moves such as e2e4 can follow.
    """
    console, theme = open_console(ascii_only)
    if seconds is None and depth is None and not sys.stdin.isatty():
        seconds = PIPED_SECONDS
    move_time_ms = None if seconds is None else round(seconds * 1000)
    limits = Limits(depth=depth, move_time_ms=move_time_ms, infinite=seconds is None and depth is None)
    engine = Engine(hash_mb)
    engine.lines = lines
    engine.set_threads(threads)
    run_analysis(engine, board, limits, console, theme)


@click.command("eval")
@board_argument
@board_variant_option
@click.option("--style", type=STYLE, help=f"Show the articles' terms instead: {STYLE_NAMES}.")
@ascii_option
def evaluate(board: Board, style: Style | None, ascii_only: bool) -> None:
    """Show the terms of the static evaluation.

    Without FEN it is the starting position. As in UCI, `moves` and moves such as e2e4 can follow.
    """
    if style is not None and board.variant != "standard":
        raise click.ClickException(f"--style evaluates standard chess, but the board is of {board.variant}")
    reports.show_evaluation(board, style, *open_console(ascii_only))


@click.command()
@board_argument
@board_variant_option
@click.option("--depth", type=SHALLOW_DEPTH, default=4, help="Plies.")
@ascii_option
def perft(board: Board, depth: int, ascii_only: bool) -> None:
    """Count the leaf nodes of the legal moves.

    Without FEN it is the starting position. As in UCI, `moves` and moves such as e2e4 can follow.
    """
    reports.show_perft(board, depth, open_console(ascii_only)[0])


@click.command("compare-search")
@board_argument
@click.option("--depth", type=SHALLOW_DEPTH, default=4, help="Plies.")
@click.option("--seconds", type=SECONDS, default=60.0, help="Longest time for each search.")
@click.option("--style", type=STYLE, help=f"Evaluate with the articles' terms: {STYLE_NAMES}.")
@ascii_option
def compare_search(board: Board, depth: int, seconds: float, style: Style | None, ascii_only: bool) -> None:
    """Compare the textbook's searches at the same depth.

    Without FEN it is the starting position. As in UCI, `moves` and moves such as e2e4 can follow.
    """
    reports.show_comparison(board, depth, style, seconds, open_console(ascii_only)[0])


@click.command("depth-table", short_help="Time each depth, of a plain search and of the engine.")
@click.option("--depth", type=SHALLOW_DEPTH, default=7, help="The last depth, in plies.")
@click.option("--seconds", type=SECONDS, default=60.0, help="Longest time for each move.")
@ascii_option
def depth_table(depth: int, seconds: float, ascii_only: bool) -> None:
    """Measure the time per move at each depth, of a plain search and of the engine."""
    reports.show_depth_table(depth, seconds, open_console(ascii_only)[0])


@click.command("articles")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@ascii_option
def show_articles(names: tuple[str, ...], ascii_only: bool) -> None:
    """Demonstrate the ideas of the articles behind the engine.

    NAME is cce, rudim, chess-engine or chessbin; without it all are shown. Every figure is computed on the spot.
    """
    for name in names:
        if name not in articles.PAGES:
            hint = did_you_mean(name.lower(), articles.PAGES, 0.3) or ";"
            raise click.ClickException(f"no article {name[:40]!r}{hint} known: {', '.join(articles.PAGES)}")
    console, theme = open_console(ascii_only)
    for name in names or articles.PAGES:
        articles.show(name, console, theme)
