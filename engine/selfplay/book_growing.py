"""A book of our own, from games of the engine against itself.

In each game one side is the host: its opening moves are near the best of a search, and the book keeps them. The other,
the guest, strays further, so that the book knows answers to weaker moves too. After the opening both play a quick game,
and its result weighs the host's moves.

A folder fills with shards of games, one game a line. What a shard holds depends on the seed, its number and the engine
alone, so a run that was cut off goes on with the shards that are missing.
"""

import math
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.board import BLACK, WHITE
from engine.book.book_statistics import PlayedGame
from engine.core.score import scale
from engine.facade import Board, Bound, Engine, Limits, SearchReport
from engine.selfplay.games import Adjudicator
from engine.selfplay.records import InvalidRecord, Result
from engine.selfplay.worker_pool import run_parallel

HASH_MB = 8
LINES = 5                          # of which each opening move is chosen
HOST_CP, GUEST_CP = 25, 60         # how far from the best a move may be
HOST_SCALE_CP, GUEST_SCALE_CP = 15, 40     # a move so much worse is chosen a third as often (a factor of e)
SHARED_PLIES = 4                   # that most games pass: the first is searched 2 ** 4 times as long, then ever less
RESULTS = {Result.WHITE_WON: "1-0", Result.DRAWN: "1/2-1/2", Result.BLACK_WON: "0-1"}
PATTERN = "*.games"
MATE = scale()["MATE"]


@dataclass(frozen=True)
class GrowingPlan:
    """What is to be played."""

    folder: Path
    games: int
    opening_nodes: int = 40_000
    nodes: int = 3000
    plies: int = 14
    seed: int = 1
    games_per_shard: int = 25

    @property
    def shards(self) -> int:
        """How many there are to be; the last one is whole too."""
        return -(-self.games // self.games_per_shard)

    def missing(self) -> list[int]:
        """The numbers of the shards still to be made."""
        return [number for number in range(self.shards) if not self.path(number).exists()]

    def path(self, number: int) -> Path:
        return self.folder / f"{self.seed:04}-{number:06}{PATTERN[1:]}"


@dataclass(frozen=True)
class Candidate:
    """A move and its score for the mover."""

    move: str
    score_cp: int


class BookGrower:
    """Plays the games. Positions that many games pass are searched once."""

    def __init__(self, plan: GrowingPlan) -> None:
        self._plan = plan
        self._engine = Engine(HASH_MB)
        self._known: dict[str, list[Candidate]] = {}

    def play(self, rng: random.Random, host: str) -> PlayedGame:
        """One game; `host` is 'white' or 'black'."""
        board = Board()
        for _ in range(self._plan.plies):
            candidates = self._candidates(board)
            if not candidates:
                break
            hosting = board.turn == host
            scope = (HOST_CP, HOST_SCALE_CP) if hosting else (GUEST_CP, GUEST_SCALE_CP)
            board.push(pick(candidates, *scope, rng))
        opening = board.moves
        return PlayedGame(opening, RESULTS[self._play_out(board)], sides=frozenset({host}))

    def _candidates(self, board: Board) -> list[Candidate]:
        """The best moves of a search that knows nothing but the position and the ply, best first."""
        fen = board.fen()
        if fen not in self._known:
            found: dict[tuple[int, int], Candidate] = {}

            def note(report: SearchReport) -> None:
                if report.bound is Bound.EXACT and report.pv:
                    found[report.depth, report.line] = Candidate(report.pv[0], _centipawns(report))

            self._engine.new_game()
            self._engine.lines = LINES
            self._engine.set_position(Board(fen))
            nodes = self._plan.opening_nodes << max(0, SHARED_PLIES - len(board.moves))
            self._engine.go(Limits(nodes=nodes), note)
            self._known[fen] = deepest(found)
        return self._known[fen]

    def _play_out(self, board: Board) -> Result:
        self._engine.new_game()
        self._engine.lines = 1
        adjudicator = Adjudicator()
        result = game_result(board)
        while result is None:
            self._engine.set_position(board)
            found = self._engine.go(Limits(nodes=self._plan.nodes))
            assert found.best_move is not None, "the game is not over"
            score_cp = _centipawns(found.report) if found.report is not None else 0
            white_score = score_cp if board.turn == WHITE else -score_cp
            board.push(found.best_move)
            result = game_result(board)
            if result is None:
                result = adjudicator.adjudicate(len(board.moves), white_score)
        return result


def pick(candidates: list[Candidate], margin_cp: int, scale_cp: int, rng: random.Random) -> str:
    """One of the moves not much worse than the best, the better ones more often."""
    best = max(candidate.score_cp for candidate in candidates)
    near = [candidate for candidate in candidates if candidate.score_cp >= best - margin_cp]
    weights = [math.exp((candidate.score_cp - best) / scale_cp) for candidate in near]
    return rng.choices(near, weights)[0].move


def deepest(found: dict[tuple[int, int], Candidate]) -> list[Candidate]:
    """The lines of the deepest search that found all of them; `found` is filed by depth and line."""
    lines = max((line for _, line in found), default=0)
    for depth in sorted({depth for depth, _ in found}, reverse=True):
        if (depth, lines) in found:
            return [found[depth, line] for line in range(1, lines + 1) if (depth, line) in found]
    return []


def game_result(board: Board) -> Result | None:
    """The result by the rules, a first repetition counting as a draw already."""
    if board.is_checkmate():
        return Result.BLACK_WON if board.turn == WHITE else Result.WHITE_WON
    drawn = board.is_stalemate() or board.is_insufficient_material() or board.halfmove_clock >= 100
    return Result.DRAWN if drawn or board.repetition_count() > 1 else None


def _centipawns(report: SearchReport) -> int:
    """Mates as the search has them: beyond every material."""
    if report.mate_in is not None:
        nearest = MATE - 2 * abs(report.mate_in)
        return nearest if report.mate_in > 0 else -nearest
    return report.score_cp or 0


# --- Shards ----------------------------------------------------------------------------------------------------------


def make_shard(grower: BookGrower, plan: GrowingPlan, number: int) -> None:
    """Play one shard and write it, whole or not at all."""
    rng = random.Random(f"book {plan.seed} {number}")
    games = (grower.play(rng, (WHITE, BLACK)[game % 2]) for game in range(plan.games_per_shard))
    unfinished = plan.path(number).with_suffix(".part")
    unfinished.write_text("".join(map(_line, games)))
    unfinished.rename(plan.path(number))


def _line(game: PlayedGame) -> str:
    return f"{' '.join(sorted(game.sides))} {game.result} {' '.join(game.moves)}\n"


def read(path: Path) -> Iterator[PlayedGame]:
    """The games of a shard. Raises InvalidRecord, naming the line, for what is none."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match line.split():
            case [("white" | "black") as side, result, *moves]:
                yield PlayedGame(moves, result, sides=frozenset({side}))
            case _:
                raise InvalidRecord(f"{path}:{number}: expected a side, a result and moves, found {line[:40]!r}")


@cache
def _grower(plan: GrowingPlan) -> BookGrower:
    """One for each process: what it knows of positions serves all its shards."""
    return BookGrower(plan)


def _make_shard(work: tuple[GrowingPlan, int]) -> None:
    plan, number = work
    make_shard(_grower(plan), plan, number)


def run(plan: GrowingPlan, processes: int) -> Iterator[str]:
    """Make the missing shards, several at a time; yields a line of progress after each."""
    plan.folder.mkdir(parents=True, exist_ok=True)
    missing = plan.missing()
    started = time.monotonic()
    work = ((plan, number) for number in missing)
    for done, _ in enumerate(run_parallel(_make_shard, work, processes), 1):
        left_s = (time.monotonic() - started) / done * (len(missing) - done)
        yield f"shard {done}/{len(missing)}, {done * plan.games_per_shard:,} games, {left_s / 60:.0f} minutes left"
