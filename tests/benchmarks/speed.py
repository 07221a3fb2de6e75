"""How fast the engine is, in one run: perft, search, start-up; beside python-chess, and beside the spike if given.

    python tests/benchmarks/speed.py [--spike FOLDER]

FOLDER holds a compiled package `spk` with `position`, `perft`, `search` and `tt`. Every figure is the median of
seven runs, the two sides taking turns; ratios above 1 mean that the engine is faster.
"""

import argparse
import importlib
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time
from types import ModuleType

import chess

from engine.facade import STARTING_FEN, Board, Engine, Limits, build_mode, perft

RUNS = 7
PERFT_DEPTHS = {
    STARTING_FEN: 5,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": 4,
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": 4,
}
SEARCH_NODES = 2_000_000
SEARCH_DEPTH = 9
HASH_MB = 16


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one call."""
    started = process_time()
    work()
    return process_time() - started


def report(name: str, unit: str, ours: list[float], theirs: list[float], other: str) -> None:
    ratio = median(a / b for a, b in zip(ours, theirs, strict=True))
    print(f"{name:<34} {median(ours):8.2f} {unit}   {other} {median(theirs):8.2f}   ratio {ratio:.2f}")


def perft_leaves(bulk: bool) -> float:
    """Millions of leaves a second."""
    leaves = 0
    spent = 0.0
    for fen, depth in PERFT_DEPTHS.items():
        position = Board(fen).position
        started = process_time()
        leaves += perft(position, depth if bulk else depth - 1, bulk)
        spent += process_time() - started
    return leaves / spent / 1e6


def search_speed() -> float:
    """Millions of nodes a second."""
    engine = Engine(HASH_MB)
    nodes = 0
    spent = 0.0
    for fen in PERFT_DEPTHS:
        engine.set_position(Board(fen))
        spent += seconds(lambda: engine.go(Limits(nodes=SEARCH_NODES)))
        nodes += SEARCH_NODES
    return nodes / spent / 1e6


def depth_speed() -> float:
    """Searches to the fixed depth a second."""
    spent = 0.0
    for fen in PERFT_DEPTHS:
        engine = Engine(HASH_MB)
        engine.set_position(Board(fen))
        spent += seconds(lambda engine=engine: engine.go(Limits(depth=SEARCH_DEPTH)))
    return len(PERFT_DEPTHS) / spent


def python_chess_leaves() -> float:
    def count(board: chess.Board, depth: int) -> int:
        if depth == 0:
            return 1
        total = 0
        for move in board.legal_moves:
            board.push(move)
            total += count(board, depth - 1)
            board.pop()
        return total

    started = process_time()
    leaves = sum(count(chess.Board(fen), 2) for fen in PERFT_DEPTHS)
    return leaves / (process_time() - started) / 1e6


class Spike:
    """The same measurements on the spike."""

    def __init__(self, folder: str) -> None:
        sys.path.insert(0, folder)
        self._perft = self._load("perft").perft
        self._position = self._load("position").Position
        self._search = self._load("search").Search
        self._table = self._load("tt").Table

    @staticmethod
    def _load(name: str) -> ModuleType:
        return importlib.import_module(f"spk.{name}")

    def perft_leaves(self, bulk: bool) -> float:
        leaves = 0
        spent = 0.0
        for fen, depth in PERFT_DEPTHS.items():
            position = self._position(fen)
            started = process_time()
            leaves += self._perft(position, depth if bulk else depth - 1, bulk)
            spent += process_time() - started
        return leaves / spent / 1e6

    def search_speed(self) -> float:
        nodes = 0
        spent = 0.0
        for fen in PERFT_DEPTHS:
            search = self._search(self._position(fen), self._table(HASH_MB))
            spent += seconds(lambda search=search: search.run(60, SEARCH_NODES))
            nodes += search.count()
        return nodes / spent / 1e6

    def depth_speed(self) -> float:
        spent = 0.0
        for fen in PERFT_DEPTHS:
            search = self._search(self._position(fen), self._table(HASH_MB))
            spent += seconds(lambda search=search: search.run(SEARCH_DEPTH))
        return len(PERFT_DEPTHS) / spent


def start_up_ms() -> float:
    """From starting the process to its answer to `isready`."""
    started = perf_counter()
    command = [sys.executable, "-P", "-m", "engine"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write("isready\n")
        child.stdout.readline()
        elapsed = (perf_counter() - started) * 1000
        child.stdin.write("quit\n")
    return elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spike", metavar="FOLDER")
    folder = parser.parse_args().spike
    print(f"engine {build_mode()}, Python {sys.version.split()[0]}")
    full = [perft_leaves(False) for _ in range(RUNS)]
    report("perft, every leaf made", "M/s", full, [python_chess_leaves() for _ in range(RUNS)], "python-chess")
    print(f"{'ready after start':<34} {median(start_up_ms() for _ in range(RUNS)):8.0f} ms")
    if folder is None:
        print(f"{'perft in bulk':<34} {median(perft_leaves(True) for _ in range(RUNS)):8.2f} M/s")
        print(f"{'search':<34} {median(search_speed() for _ in range(RUNS)):8.2f} M/s")
        return
    spike = Spike(folder)
    pairs: list[tuple[str, str, Callable[[], float], Callable[[], float]]] = [
        ("perft in bulk", "M/s", lambda: perft_leaves(True), lambda: spike.perft_leaves(True)),
        ("perft, every leaf made", "M/s", lambda: perft_leaves(False), lambda: spike.perft_leaves(False)),
        ("search", "M/s", search_speed, spike.search_speed),
        (f"search to depth {SEARCH_DEPTH}", "1/s", depth_speed, spike.depth_speed),
    ]
    for name, unit, ours, theirs in pairs:
        turns = [(ours(), theirs()) for _ in range(RUNS)]
        report(name, unit, [turn[0] for turn in turns], [turn[1] for turn in turns], "spike")


if __name__ == "__main__":
    main()
