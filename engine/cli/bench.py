"""The commands for programs that test the engine: `uci` and `bench`."""

import click

from engine.bench import DEFAULT_DEPTH
from engine.bench import bench as run_bench


@click.command()
def uci() -> None:
    """Speak UCI, as without a command."""
    # Only with --help or wrong words: `engine/__main__.py` speaks UCI without this package, to start faster.


@click.command(short_help="Count the nodes of fixed searches, and measure their speed.")
@click.argument("depth", type=click.IntRange(1, 30), default=DEFAULT_DEPTH)
@click.argument("evaluation", default="", metavar="[EVALFILE]")
def bench(depth: int, evaluation: str) -> None:
    """Search a fixed set of positions, and print the nodes of each, the nodes per second, and the sum of the nodes.

    The sum is the signature of search and evaluation. DEPTH is in plies, from 1 to 30; 12 without it. EVALFILE is a
    network file, or `none` for the hand-written terms; without it, the shipped network evaluates.
    """
    run_bench(depth, evaluation)
