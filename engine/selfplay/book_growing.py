"""Games of the engine against itself for its own opening book.

In each game the book keeps the moves of one side, which plays near the best of a search. The opponent strays further,
so that the book has answers to weaker moves too. After the opening both play fast, and the result weighs the moves.

A folder holds shards, one game per line. A shard depends only on the seed, its number and the engine, so an interrupted
run continues with the missing shards.
"""

import math
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import ClassVar

from engine.board import BLACK, WHITE
from engine.book.book_statistics import PlayedGame
from engine.core.score import MATE
from engine.facade import Board, Bound, Engine, Limits, SearchReport
from engine.selfplay.games import FixedNodesPlayer
from engine.selfplay.match import play_game
from engine.selfplay.records import InvalidRecord, Result, ShardPlan
from engine.selfplay.worker_pool import Workers, run_parallel

HASH_MB = 8
LINES = 5                          # candidates for each opening move
BOOK_MARGIN_CP, OPPONENT_MARGIN_CP = 20, 60    # how much worse than the best a move may be
BOOK_SCALE_CP, OPPONENT_SCALE_CP = 10, 40      # a move this much worse is chosen e times less often
LONGER_PLIES = 4                   # most games share the first plies: they get 2 ** 4 times the nodes, then ever less
RESULTS = {Result.WHITE_WON: "1-0", Result.DRAWN: "1/2-1/2", Result.BLACK_WON: "0-1"}


@dataclass(frozen=True)
class GrowingPlan(ShardPlan):
    """Which games to play."""

    games_per_shard: int = 25
    opening_nodes: int = 100_000
    nodes: int = 3000
    plies: int = 14
    suffix: ClassVar[str] = ".games"


@dataclass(frozen=True)
class Candidate:
    """A move and its score for the side to move."""

    move: str
    score_cp: int


class BookGrower:
    """Plays the games. Each opening position is searched once."""

    def __init__(self, plan: GrowingPlan) -> None:
        self._plan = plan
        self._engine = Engine(HASH_MB)
        self._engine.lines = LINES
        self._player = FixedNodesPlayer("", plan.nodes)
        self._known: dict[str, list[Candidate]] = {}

    def play(self, rng: random.Random, book_side: str) -> PlayedGame:
        """Play one game; the book keeps the moves of `book_side`, 'white' or 'black'."""
        board = Board()
        for _ in range(self._plan.plies):
            candidates = self._candidates(board)
            if not candidates:
                break
            if board.turn == book_side:
                move = pick(candidates, BOOK_MARGIN_CP, BOOK_SCALE_CP, rng)
            else:
                move = pick(candidates, OPPONENT_MARGIN_CP, OPPONENT_SCALE_CP, rng)
            board.push(move)
        opening = board.moves
        self._player.new_game()
        result = play_game(board, self._player, self._player)
        return PlayedGame(opening, RESULTS[result], sides=frozenset({book_side}))

    def _candidates(self, board: Board) -> list[Candidate]:
        """Return the best moves, best first; they depend on the position and the ply alone."""
        fen = board.fen()
        if fen not in self._known:
            found: dict[tuple[int, int], Candidate] = {}

            def note(report: SearchReport) -> None:
                if report.bound is Bound.EXACT and report.pv:
                    found[report.depth, report.line] = Candidate(report.pv[0], _centipawns(report))

            self._engine.new_game()
            self._engine.set_position(Board(fen))
            nodes = self._plan.opening_nodes << max(0, LONGER_PLIES - len(board.moves))
            self._engine.go(Limits(nodes=nodes), note)
            self._known[fen] = deepest(found)
        return self._known[fen]


def pick(candidates: list[Candidate], margin_cp: int, scale_cp: int, rng: random.Random) -> str:
    """Return a random move within the margin of the best, better ones more often."""
    best = max(candidate.score_cp for candidate in candidates)
    near = [candidate for candidate in candidates if candidate.score_cp >= best - margin_cp]
    weights = [math.exp((candidate.score_cp - best) / scale_cp) for candidate in near]
    return rng.choices(near, weights)[0].move


def deepest(found: dict[tuple[int, int], Candidate]) -> list[Candidate]:
    """Return the lines of the deepest iteration that found all of them; `found` is indexed by depth and line."""
    lines = max((line for _, line in found), default=0)
    for depth in sorted({depth for depth, _ in found}, reverse=True):
        if (depth, lines) in found:
            return [found[depth, line] for line in range(1, lines + 1) if (depth, line) in found]
    return []


def _centipawns(report: SearchReport) -> int:
    """Return the score, with mates beyond every material score."""
    if report.mate_in is not None:
        nearest = MATE - 2 * abs(report.mate_in)
        return nearest if report.mate_in > 0 else -nearest
    return report.score_cp or 0


# --- Shards ----------------------------------------------------------------------------------------------------------


@cache
def _grower(plan: GrowingPlan) -> BookGrower:
    """Return this process's only grower: the positions it has searched serve all its shards."""
    return BookGrower(plan)


def make_shard(plan: GrowingPlan, shard: tuple[int, int]) -> bytes:
    """Play the shard with this number and this many games, and return its content."""
    number, games = shard
    rng = random.Random(f"book {plan.seed} {number}")
    played = (_grower(plan).play(rng, (WHITE, BLACK)[game % 2]) for game in range(games))
    return "".join(map(_line, played)).encode()


def _line(game: PlayedGame) -> str:
    return f"{' '.join(sorted(game.sides))} {game.result} {' '.join(game.moves)}\n"


def read(path: Path) -> Iterator[PlayedGame]:
    """Yield the games of a shard. Raises InvalidRecord, naming the line."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match line.split():
            case [("white" | "black") as side, ("1-0" | "1/2-1/2" | "0-1") as result, *moves]:
                yield PlayedGame(moves, result, sides=frozenset({side}))
            case _:
                raise InvalidRecord(f"{path}:{number}: expected a side, a result and moves, found {line[:40]!r}")


def run(plan: GrowingPlan, games: int, workers: Workers) -> Iterator[str]:
    """Make the shards that are missing to this many games; yield a line of progress after each."""
    plan.folder.mkdir(parents=True, exist_ok=True)
    missing = plan.missing(games)
    started = time.monotonic()
    for done, (shard, content) in enumerate(run_parallel(partial(make_shard, plan), missing, workers), 1):
        plan.write(*shard, content)
        left_s = (time.monotonic() - started) / done * (len(missing) - done)
        yield f"shard {done}/{len(missing)}, {left_s / 60:.0f} minutes left"
