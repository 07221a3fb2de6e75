"""How long after its hard limit the engine answers, on a quiet machine and under load; Stockfish is the control.

    python -m tests.benchmarks.lateness [--moves N] [--load N] [--seed N]

Both engines run with one thread and search the same positions in turn. The time is measured from writing `go` to
reading `bestmove`. For `go movetime T` the limit is T, with a Move Overhead of 0 for both, as Stockfish subtracts none
from a fixed time. For a clock the limit is the time left less a Move Overhead of 10 ms for both. A negative figure is
an answer before the limit. The exit code is 1 if the bar is missed: a 95th percentile of 5 ms,
fixed time, quiet machine.
"""

import argparse
import os
import random
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import chess

from tests.benchmarks.children import ENGINE, STOCKFISH, Child, Program, busy_processes, installed
from tests.benchmarks.figures import Figures

OPENINGS = Path(__file__).parent.parent / "data" / "openings.epd"
BAR_MS = 5.0
OVERHEAD_MS = 10
SHORTEST_MS, LONGEST_MS = 20, 200
MOST_RANDOM_PLIES = 80
EARLY_MS = -1.0                    # an earlier answer was not cut short by the limit


@dataclass(frozen=True)
class Question:
    """A position, whether White is to move, and the time for the answer."""

    fen: str
    white: bool
    time_ms: int

    def fixed(self) -> str:
        return f"movetime {self.time_ms}"

    def clock(self) -> str:
        """Return the words for a clock with this time left; the opponent has plenty."""
        ours, theirs = ("wtime", "btime") if self.white else ("btime", "wtime")
        return f"{ours} {self.time_ms} {theirs} 60000"


def questions(count: int, seed: int) -> list[Question]:
    """Return positions with two legal moves or more, each after random moves from an opening."""
    rng = random.Random(seed)
    openings = OPENINGS.read_text().splitlines()
    found: list[Question] = []
    while len(found) < count:
        board = _random_position(chess.Board.from_epd(rng.choice(openings))[0], rng)
        if board.legal_moves.count() > 1 and not board.is_insufficient_material():
            found.append(Question(board.fen(), board.turn, rng.randint(SHORTEST_MS, LONGEST_MS)))
    return found


def _random_position(board: chess.Board, rng: random.Random) -> chess.Board:
    for _ in range(rng.randrange(MOST_RANDOM_PLIES)):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(rng.choice(moves))
    return board


@dataclass(frozen=True)
class Mode:
    """A way to limit the time: the words of `go`, and the Move Overhead."""

    title: str
    limit: Callable[[Question], str]
    overhead_ms: int


FIXED = Mode("fixed time", Question.fixed, 0)
CLOCK = Mode("clock", Question.clock, OVERHEAD_MS)


def lateness_ms(child: Child, question: Question, mode: Mode) -> float:
    """Return how long after the limit the answer came."""
    answered = child.search(question.fen, mode.limit(question))
    return answered.wall_s * 1000 - (question.time_ms - mode.overhead_ms)


def percentile_95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]


def measure(programs: Sequence[Program], asked: Sequence[Question], mode: Mode) -> dict[str, list[float]]:
    """Return how late each program was with each answer, in milliseconds."""
    with ExitStack() as stack:
        options = {"Hash": "16", "Move Overhead": str(mode.overhead_ms)}
        children = [stack.enter_context(Child(program, options)) for program in programs]
        turns = [[lateness_ms(child, question, mode) for child in children] for question in asked]
    return {child.name: [turn[index] for turn in turns] for index, child in enumerate(children)}


def show(figures: Figures, title: str, late: dict[str, list[float]]) -> None:
    figures.section(f"{title}: milliseconds after the limit")
    for name, values in late.items():
        early = sum(value < EARLY_MS for value in values)
        figure = f"{median(values):.2f}, {percentile_95(values):.2f}, {max(values):.2f}"
        figures.line(name, figure, f"median, 95 %, most of {len(values)} answers; {early} were early")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moves", type=int, default=200, help="answers of each engine, mode and load (200)")
    parser.add_argument("--load", type=int, default=os.cpu_count(), help="busy processes (one for each core)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    programs = installed(ENGINE, STOCKFISH)
    asked = questions(arguments.moves, arguments.seed)
    figures = Figures()
    for mode in (FIXED, CLOCK):
        late = measure(programs, asked, mode)
        show(figures, f"{mode.title}, load of others {os.getloadavg()[0]:.1f}", late)
        if mode is FIXED:
            p95 = percentile_95(late[ENGINE.name])
            figures.bar("engine, 95 %", f"{p95:.2f} ms", f"at most {BAR_MS:g} ms on an idle core", p95 <= BAR_MS)
        with busy_processes(arguments.load):
            show(figures, f"{mode.title}, {arguments.load} busy processes", measure(programs, asked, mode))
    return 0 if figures.all_met else 1


if __name__ == "__main__":
    sys.exit(main())
