"""The speed of the engine in perft and search beside other programs, its start and its memory.

    python -m tests.benchmarks.speed [--runs N] [--searches N]

Stockfish, Ethereal and Toga II are Debian's packages `stockfish`, `ethereal-chess` and `toga2`; one that is missing is
skipped. In every comparison the sides take turns, the figure is the median of the runs, and a ratio the median of the
ratios of each turn, above 1 where the engine is ahead. The exit code is 1 if a bar is missed.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from time import process_time

import chess

from engine.facade import Board, build_mode, perft
from tests.benchmarks.children import ENGINE, ETHEREAL, STOCKFISH, TOGA, Child, Program, Searched, installed
from tests.benchmarks.figures import Figures
from tests.benchmarks.footprint import measure_memory, measure_start
from tests.engine.positions import PERFT

FULL_BAR = 150                     # times python-chess
THREADS_BAR = 1.8                  # times the nodes of one thread
BULK_DEPTHS = {fen: len(leaves) for fen, leaves in PERFT.items()}
# Trees that python-chess, too, walks in a second or so.
FULL_DEPTHS = {fen: len(leaves) - 1 for fen, leaves in PERFT.items() if leaves[-2] < 200_000}
SEARCHED = tuple(FULL_DEPTHS)
CALIBRATION_MS = 400


# --- Perft ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PerftSide:
    """A program that counts leaves, and the processor time it has used."""

    name: str
    count: Callable[[str, int], int]
    processor_s: Callable[[], float] = process_time

    def speed(self, depths: dict[str, int]) -> float:
        """Return millions of leaves per second. Raises ValueError for a wrong count."""
        leaves = 0
        started = self.processor_s()
        for fen, depth in depths.items():
            found = self.count(fen, depth)
            if found != PERFT[fen][depth - 1]:
                raise ValueError(f"{self.name} counts {found} leaves at depth {depth} of {fen}")
            leaves += found
        return leaves / (self.processor_s() - started) / 1e6


def our_perft(bulk: bool) -> PerftSide:
    return PerftSide("engine", lambda fen, depth: perft(Board(fen).position, depth, bulk))


def python_chess_perft() -> PerftSide:
    def count(board: chess.Board, depth: int) -> int:
        if depth == 0:
            return 1
        total = 0
        for move in board.legal_moves:
            board.push(move)
            total += count(board, depth - 1)
            board.pop()
        return total

    return PerftSide("python-chess", lambda fen, depth: count(chess.Board(fen), depth))


def child_perft(child: Child) -> PerftSide:
    def count(fen: str, depth: int) -> int:
        child.say(f"position fen {fen}")
        return int(child.ask(f"go perft {depth}", "Nodes searched")[-1].split()[-1])

    return PerftSide(child.name, count, child.processor_s)


def compare_perft(figures: Figures, sides: Sequence[PerftSide], depths: dict[str, int], runs: int) -> float:
    """Compare each side with the first; return the first's ratio to the last."""
    turns = [[side.speed(depths) for side in sides] for _ in range(runs)]
    for index, side in enumerate(sides):
        figure = f"{median(turn[index] for turn in turns):.2f} M/s"
        ratio = median(turn[0] / turn[index] for turn in turns)
        figures.line(side.name, figure, f"ratio {ratio:.2f}" if index else "")
    return ratio


def measure_perft(figures: Figures, runs: int) -> None:
    with ExitStack() as stack:
        children = [child_perft(stack.enter_context(Child(program))) for program in installed(STOCKFISH)]
        figures.section("Perft in bulk, leaves per second of processor time")
        compare_perft(figures, [our_perft(True), *children], BULK_DEPTHS, runs)
    figures.section("Perft with every leaf made")
    ratio = compare_perft(figures, [our_perft(False), python_chess_perft()], FULL_DEPTHS, runs)
    figures.bar("engine / python-chess", f"{ratio:.2f}", f"at least {FULL_BAR}", ratio >= FULL_BAR)


# --- Search --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NodeSpeed:
    """Millions of nodes per second: by the wall clock, and by the processor time of all threads together."""

    wall: float
    processor: float


class Searcher:
    """A program with one thread and with two. Both search each position to the depth reached in CALIBRATION_MS."""

    def __init__(self, program: Program, stack: ExitStack) -> None:
        self.name = program.name
        setups = [{"Hash": "16", program.threads_option: str(threads)} for threads in (1, 2)]
        self.children = [stack.enter_context(Child(program, setup)) for setup in setups]
        self._depths = {fen: self._depth_in_reach(fen) for fen in SEARCHED}

    def _depth_in_reach(self, fen: str) -> int:
        self.children[0].new_game()
        return self.children[0].search(fen, f"movetime {CALIBRATION_MS}").depth

    def speeds(self) -> list[NodeSpeed]:
        """Return the speeds with one thread and with two."""
        return [self._speed(child) for child in self.children]

    def _speed(self, child: Child) -> NodeSpeed:
        searches = [self._search(child, fen) for fen in SEARCHED]
        nodes = sum(search.nodes for search in searches) / 1e6
        wall_s = sum(search.wall_s for search in searches)
        return NodeSpeed(nodes / wall_s, nodes / sum(search.processor_s for search in searches))

    def _search(self, child: Child, fen: str) -> Searched:
        child.new_game()
        return child.search(fen, f"depth {self._depths[fen]}")


def measure_search(figures: Figures, runs: int) -> None:
    programs = installed(ENGINE, STOCKFISH, ETHEREAL, TOGA)
    figures.section("Search, nodes per second of processor time, 16 MB of hash; in brackets of the wall clock")
    with ExitStack() as stack:
        searchers = [Searcher(program, stack) for program in programs]
        turns = [[searcher.speeds() for searcher in searchers] for _ in range(runs)]
    for threads in (1, 2):
        for index, searcher in enumerate(searchers):
            speeds = [turn[index][threads - 1] for turn in turns]
            wall = median(speed.wall for speed in speeds)
            figure = f"{median(speed.processor for speed in speeds):.2f} M/s ({wall:.2f})"
            ratio = median(turn[0][threads - 1].processor / turn[index][threads - 1].processor for turn in turns)
            figures.line(f"{searcher.name}, threads {threads}", figure, f"ratio {ratio:.2f}" if index else "")
    figures.section("Nodes of two threads against those of one, by the wall clock; in brackets, had each thread a core")
    for index, searcher in enumerate(searchers):
        ratio = median(two.wall / one.wall for one, two in (turn[index] for turn in turns))
        cores = median(2 * two.processor / one.processor for one, two in (turn[index] for turn in turns))
        figure = f"{ratio:.2f} ({cores:.2f})"
        if index:
            figures.line(searcher.name, figure)
        else:
            figures.bar(searcher.name, figure, f"at least {THREADS_BAR} on an idle machine", ratio >= THREADS_BAR)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="turns of every comparison (7)")
    parser.add_argument("--searches", type=int, default=10_000, help="that must not cost memory, 100 at least (10000)")
    arguments = parser.parse_args()
    print(f"engine {build_mode()}, Python {sys.version.split()[0]}")
    figures = Figures()
    measure_perft(figures, arguments.runs)
    measure_search(figures, arguments.runs)
    measure_start(figures, arguments.runs)
    measure_memory(figures, arguments.searches)
    return 0 if figures.all_met else 1


if __name__ == "__main__":
    sys.exit(main())
