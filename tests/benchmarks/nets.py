"""How well networks judge positions that another engine has searched: the error of each, beside that of the first.

    python -m tests.benchmarks.nets ask positions.epd --shards FOLDER [--positions 20000] [--nodes 15000]
    python -m tests.benchmarks.nets judge positions.epd NET [NET ...]

`ask` takes positions of self-play, which no network may be trained on, and has Stockfish search each; an EPD line keeps
its score (`ce`). It takes some minutes for 20,000 positions. `judge` takes seconds, and tells networks apart that are
3 Elo apart, which a match does not in 10,000 games. It says what a network knows, not how it plays:
matches decide.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from math import exp, sqrt
from pathlib import Path
from statistics import fmean, stdev

import chess
import chess.engine

from engine.core.fen import parse_fen
from engine.core.position import Position
from engine.evaluation import eval_file
from engine.evaluation.evaluate import network_score
from engine.selfplay.ratings import rising
from engine.selfplay.records import RECORD, Result, shards
from engine.selfplay.sprt import Z_95
from engine.training.trainer import TrainingSettings
from tests.benchmarks.arguments import engine_command, positive, running
from tests.benchmarks.children import ChildFailed
from tests.engine.shards import board_of, decode

UNIT_CP = TrainingSettings.unit_cp
MOST_CP = 3000                     # beyond, a game is decided
FACTORS = [factor / 20 for factor in range(10, 41)]    # tried on the other engine's scores, whose scale is its own


def positions_of(paths: Sequence[Path], count: int, seed: int = 1) -> list[chess.Board]:
    """Return this many positions of games, or all if there are fewer, in random order."""
    content = b"".join(path.read_bytes() for path in paths)
    offsets = range(0, len(content), RECORD.size)
    played = [offset for offset in offsets if content[offset + 26] != Result.UNKNOWN]
    chosen = random.Random(seed).sample(played, min(count, len(played)))
    return [board_of(decode(content[offset : offset + RECORD.size])) for offset in chosen]


def asked(boards: Sequence[chess.Board], engine: chess.engine.SimpleEngine, nodes: int) -> Iterator[str]:
    """Yield an EPD line with the engine's score of each position."""
    for number, board in enumerate(boards):
        answer = engine.analyse(board, chess.engine.Limit(nodes=nodes), game=number)
        yield board.epd(ce=answer["score"].relative.score(mate_score=MOST_CP))


def expected(score_cp: float) -> float:
    """Return the expected score of an advantage, as in training."""
    return 1 / (1 + exp(-max(-MOST_CP, min(score_cp, MOST_CP)) / UNIT_CP))


def read(path: Path) -> list[tuple[Position, int]]:
    """Return positions and scores in centipawns for the side to move. Raises ValueError that names a bad line."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        board, operations = chess.Board.from_epd(line)
        score = operations.get("ce")
        if not isinstance(score, int):
            raise ValueError(f"{path}:{number}: no score (ce) in {line}")
        found.append((parse_fen(board.fen())[0], score))
    return found


def judge(judged: Sequence[tuple[Position, int]], choices: Sequence[str]) -> Iterator[str]:
    """Yield a line for each network: its mean squared error, and the difference from the first.

    Its scores are turned into those expected scores that suit it best, as neither scale nor limit of the scores is
    knowledge.
    """
    truths, first = list[float](), list[float]()
    for choice in choices:
        network = eval_file.load(choice)
        if network is None:
            raise ValueError(f"{choice} is no network")
        ours = [network_score(position, network) for position, _ in judged]
        if not truths:
            truths = on_scale_of(ours, [truth for _, truth in judged])
        fit = dict(rising(zip(ours, truths, strict=True)))
        found = [(fit[score] - truth) ** 2 for score, truth in zip(ours, truths, strict=True)]
        first = first or found
        differences = [error - other for error, other in zip(found, first, strict=True)]
        bound = Z_95 * stdev(differences) / sqrt(len(differences))
        yield f"{choice}: error {fmean(found):.6f}, {fmean(differences):+.6f} +- {bound:.6f} beside the first"


def on_scale_of(ours: Sequence[int], theirs: Sequence[int]) -> list[float]:
    """Return their scores as expected scores, with the factor for their centipawns that brings them nearest to ours."""
    wanted = [expected(score) for score in ours]

    def scaled(factor: float) -> list[float]:
        return [expected(factor * score) for score in theirs]

    return min(map(scaled, FACTORS), key=lambda found: sum((a - b) ** 2 for a, b in zip(found, wanted, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    asking = commands.add_parser("ask", help="have positions searched")
    asking.add_argument("file", type=Path)
    asking.add_argument("--shards", type=Path, required=True)
    asking.add_argument("--positions", type=positive, default=20_000)
    asking.add_argument("--nodes", type=positive, default=15_000)
    asking.add_argument("--engine", type=engine_command, default="stockfish", metavar="COMMAND")
    judging = commands.add_parser("judge", help="compare networks")
    judging.add_argument("file", type=Path)
    judging.add_argument("nets", nargs="+", metavar="NET", help="a path, or <shipped>")
    options = parser.parse_args()
    try:
        if options.command == "judge":
            for line in judge(read(options.file), options.nets):
                print(line, flush=True)
            return
        boards = positions_of(shards(options.shards), options.positions)
        if not boards:
            raise ValueError(f"no positions of games in {options.shards}")
        with running(options.engine) as engine, options.file.open("x") as file:
            for line in asked(boards, engine, options.nodes):
                print(line, file=file)
    except (OSError, ValueError, ChildFailed) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")


if __name__ == "__main__":
    main()
