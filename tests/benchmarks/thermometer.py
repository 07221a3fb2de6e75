"""The share of known good moves that the engine finds in test suites, with this many nodes per move.

    python -m tests.benchmarks.thermometer SUITE.epd [SUITE.epd ...] [--nodes 100000] [--engine COMMAND]

Nothing is tuned on such positions: a change that gains here may lose games. An EPD line names the best moves (`bm`),
the moves to avoid (`am`), or as in the Strategic Test Suite points for several moves (`c9` in UCI notation, with as
many numbers in `c8`). Each position is searched by one thread with an empty table, so that the result can be repeated.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import chess
import chess.engine

from tests.benchmarks.arguments import OURS, engine_command, positive, running
from tests.benchmarks.children import ChildFailed


@dataclass(frozen=True)
class Question:
    """A position, and the points for its moves; others get none."""

    board: chess.Board
    points: Mapping[chess.Move, int]

    @classmethod
    def of_epd(cls, line: str) -> Self:
        """Read an EPD line. Raises ValueError if it names no moves."""
        board, operations = chess.Board.from_epd(line)
        if "c8" in operations and "c9" in operations:
            values = [int(text) for text in str(operations["c8"]).split()]
            moves = [chess.Move.from_uci(text) for text in str(operations["c9"]).split()]
            if not values or len(values) != len(moves):
                raise ValueError(f"expected a number in c8 for each move in c9, found {len(values)} for {len(moves)}")
            return cls(board, dict(zip(moves, values, strict=True)))
        best, avoided = operations.get("bm"), operations.get("am")
        if isinstance(best, list):
            return cls(board, dict.fromkeys(best, 1))
        if isinstance(avoided, list):
            return cls(board, {move: int(move not in avoided) for move in board.legal_moves})
        raise ValueError(f"neither bm nor am nor c8 and c9: {line}")

    @property
    def best(self) -> int:
        return max(self.points.values())

    def worth(self, move: chess.Move) -> int:
        """Return the points for a move, 0 to `best`."""
        return self.points.get(move, 0)


@dataclass
class Reading:
    """The result of a suite."""

    asked: int = 0
    solved: int = 0
    points: int = 0
    most: int = 0

    def note(self, question: Question, move: chess.Move) -> None:
        worth = question.worth(move)
        self.asked += 1
        self.solved += worth == question.best
        self.points += worth
        self.most += question.best

    def __str__(self) -> str:
        share = f"{100 * self.points / self.most:.1f} %" if self.most else "nothing asked"
        return f"{self.solved} of {self.asked} solved, {self.points} of {self.most} points ({share})"


def questions(suite: Path) -> Iterator[Question]:
    """Yield the positions of a suite. Raises OSError, or ValueError that names a bad line."""
    for number, line in enumerate(suite.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            try:
                yield Question.of_epd(line)
            except ValueError as error:
                raise ValueError(f"{suite}:{number}: {error}") from None


def read(suite: Path, engine: chess.engine.SimpleEngine, nodes: int) -> Reading:
    reading = Reading()
    for number, question in enumerate(questions(suite)):
        # Another game than the last: the engine forgets.
        answer = engine.play(question.board, chess.engine.Limit(nodes=nodes), game=number)
        assert answer.move is not None, f"no move in {question.board.fen()}"
        reading.note(question, answer.move)
    return reading


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suites", nargs="+", type=Path, metavar="SUITE")
    parser.add_argument("--nodes", type=positive, default=100_000)
    parser.add_argument("--engine", type=engine_command, default=OURS, metavar="COMMAND")
    options = parser.parse_args()
    try:
        with running(options.engine) as engine:
            for suite in options.suites:
                print(f"{suite.name}: {read(suite, engine, options.nodes)}, {options.nodes:,} nodes a move", flush=True)
    except (OSError, ValueError, ChildFailed) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")


if __name__ == "__main__":
    main()
