"""Games of the engine against itself, for the tuner: quiet positions with the score of a small search and the result.

A folder fills with shards of a fixed number of games. What a shard holds depends on the seed, its number and the
engine alone, so a run that was cut off goes on with the shards that are missing. (chessprogramming wiki: Automated
Tuning)
"""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from engine import records
from engine.clock import Clock
from engine.deepening import MAX_DEPTH, Line, search_line
from engine.fen import STARTING_FEN, parse_fen
from engine.history import History
from engine.movegen import legal_moves
from engine.notation import chess960_fen
from engine.position import Position
from engine.records import Result, Sample
from engine.score import mate_distance
from engine.search import Search
from engine.transposition import Table

HASH_MB = 4
TACTICAL_FLAGS = 0xC000            # of a packed move, see move.py
OPENING_PLIES = (8, 9)             # so that either side begins
CHESS960_PERCENT = 25
BALANCED_CP = 500                  # an opening beyond this teaches nothing
LONGEST_GAME = 350                 # plies
DECIDED_CP, DECIDED_PLIES = 1500, 6
DEAD_CP, DEAD_PLIES, DEAD_FROM_PLY = 12, 16, 80
QUIET_CP = 2500                    # positions beyond this are not kept


@dataclass(frozen=True)
class Plan:
    """What is to be played."""

    folder: Path
    games: int
    nodes: int = 1000
    seed: int = 1
    games_per_shard: int = 100

    def missing(self) -> list[int]:
        """The numbers of the shards still to be made."""
        count = -(-self.games // self.games_per_shard)
        return [number for number in range(count) if not self.path(number).exists()]

    def path(self, number: int) -> Path:
        return self.folder / f"{self.seed:04}-{number:06}.shard"


@dataclass(frozen=True)
class Thought:
    """A move and its score for the mover."""

    move: int
    score: int

    def is_quiet(self) -> bool:
        return not self.move & TACTICAL_FLAGS and abs(self.score) <= QUIET_CP


class Adjudicator:
    """Ends games whose result is plain to see: one side far ahead for long, or nothing going on for long."""

    def __init__(self) -> None:
        self._decided = 0
        self._dead = 0

    def verdict(self, ply: int, white_score: int) -> Result | None:
        """The result, after a move with this score from White's view; None while the game is worth playing."""
        self._decided = self._decided + 1 if abs(white_score) >= DECIDED_CP else 0
        self._dead = self._dead + 1 if ply > DEAD_FROM_PLY and abs(white_score) <= DEAD_CP else 0
        if self._decided >= DECIDED_PLIES or mate_distance(white_score) is not None:
            return Result.WHITE_WON if white_score > 0 else Result.BLACK_WON
        return Result.DRAWN if self._dead >= DEAD_PLIES or ply >= LONGEST_GAME else None


class Game:
    """One game from a random opening; the table and the history are its own for as long as it lasts."""

    def __init__(self, rng: random.Random, nodes: int, table: Table, history: History) -> None:
        table.clear()
        history.clear()
        self._table, self._history, self._nodes = table, history, nodes
        self._position = opening(rng)

    def play(self, number: int) -> list[Sample]:
        """Play to the end; the quiet positions, each with the game's result. Nothing if the opening was no contest."""
        kept: list[tuple[tuple[int, ...], bool, int]] = []
        adjudicator = Adjudicator()
        result = self._natural_end()
        ply = 0
        while result is None:
            thought = self._think()
            black = self._position.black_to_move()
            white_score = -thought.score if black else thought.score
            if ply == 0 and abs(white_score) > BALANCED_CP:
                return []
            if thought.is_quiet() and not self._position.is_check():
                kept.append((*records.snapshot(self._position), white_score))
            self._position.commit(thought.move)
            ply += 1
            result = self._natural_end()
            if result is None:
                result = adjudicator.verdict(ply, white_score)
        return [Sample(board, black, score, result, number) for board, black, score in kept]

    def _natural_end(self) -> Result | None:
        """The result by the rules, a first repetition counting as a draw already."""
        position = self._position
        if not legal_moves(position):
            if not position.is_check():
                return Result.DRAWN
            return Result.WHITE_WON if position.black_to_move() else Result.BLACK_WON
        drawn = position.state()["halfmove_clock"] >= 100 or position.cannot_be_won() or position.repetition_count() > 1
        return Result.DRAWN if drawn else None

    def _think(self) -> Thought:
        """The best move of a search of so many nodes."""
        search = Search(self._position, self._table, self._history, Clock(), self._nodes)
        moves = legal_moves(self._position)
        search.restrict_root(moves, True)
        self._table.new_search()
        self._history.new_search()
        best = Line(0, (moves[0],))
        expected: Line | None = None
        for depth in range(1, MAX_DEPTH + 1):
            expected = search_line(search, depth, expected, lambda line: None)
            if expected.variation:
                best = expected
            if search.was_stopped() or mate_distance(best.score) is not None:
                break
        return Thought(best.variation[0], best.score)


def opening(rng: random.Random) -> Position:
    """A position that random moves lead to, from the ordinary start or one of Chess960's."""
    while True:
        chess960 = rng.randrange(100) < CHESS960_PERCENT
        position, _ = parse_fen(chess960_fen(rng.randrange(960)) if chess960 else STARTING_FEN)
        plies = rng.choice(OPENING_PLIES)
        for _ in range(plies):
            moves = legal_moves(position)
            if not moves:
                break
            position.commit(rng.choice(moves))
        else:
            return position


def make_shard(plan: Plan, number: int) -> int:
    """Play one shard and write it, whole or not at all; returns how many positions it holds."""
    rng = random.Random(f"self-play {plan.seed} {number}")
    table, history = Table(HASH_MB), History()
    lines: list[bytes] = []
    for game in range(plan.games_per_shard):
        samples = Game(rng, plan.nodes, table, history).play(game)
        lines += map(records.encode, samples)
    unfinished = plan.path(number).with_suffix(".part")
    unfinished.write_bytes(b"".join(lines))
    unfinished.rename(plan.path(number))
    return len(lines)


def _make_shard(work: tuple[Plan, int]) -> int:
    return make_shard(*work)


def run(plan: Plan, processes: int) -> Iterator[str]:
    """Make the missing shards, several at a time; yields a line of progress after each."""
    plan.folder.mkdir(parents=True, exist_ok=True)
    missing = plan.missing()
    started, positions = time.monotonic(), 0
    with get_context("spawn").Pool(processes) as pool:
        work = ((plan, number) for number in missing)
        for done, kept in enumerate(pool.imap_unordered(_make_shard, work), 1):
            positions += kept
            rate = positions / (time.monotonic() - started)
            yield f"shard {done}/{len(missing)}, {positions:,} positions, {rate:,.0f} a second"
