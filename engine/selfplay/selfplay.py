"""Self-play for training: quiet positions with the score of a small search and the game's result.

Positions of each search's tree are stored as well, see `tree_records.py`.

A folder holds shards of a fixed number of games. A shard depends only on the seed, its number, the evaluation and the
engine, so an interrupted run continues with the missing shards. (chessprogramming wiki: Automated Tuning)
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

from engine.board import Board
from engine.core.move import is_tactical
from engine.evaluation import eval_file
from engine.evaluation.eval_file import HAND_WRITTEN, STANDARD, EvalChoice
from engine.selfplay import records
from engine.selfplay.games import Adjudicator, FixedNodesPlayer, SearchedMove, game_result, random_opening
from engine.selfplay.records import QUIET_CP, RECORD, InvalidRecord, Sample, ShardPlan
from engine.selfplay.worker_pool import Workers, run_parallel

SELFPLAY_OPENING_CP = 500                  # largest score of an opening that is played


@dataclass(frozen=True)
class SelfplayPlan(ShardPlan):
    """Which games to play; `evaluation` is as for EvalFile."""

    nodes: int = 500
    evaluation: EvalChoice = HAND_WRITTEN
    variant: str = STANDARD
    tree: int = 16                 # most positions kept of the tree of each search; none in variants


def is_quiet(found: SearchedMove) -> bool:
    """Return whether a position with this best move is worth keeping."""
    return not is_tactical(found.move) and abs(found.white_score) <= QUIET_CP


def record_game(board: Board, player: FixedNodesPlayer, number: int, tree: int) -> list[bytes]:
    """Play to the end and return records of the quiet positions; none if the opening is unbalanced.

    After them come those of at most `tree` positions in the tree of each search.
    """
    kept: list[Sample] = []
    searched: list[bytes] = []
    adjudicator = Adjudicator()
    player.new_game()
    result = game_result(board)
    ply = 0
    while result is None:
        found = player.search(board)
        if ply == 0 and abs(found.white_score) > SELFPLAY_OPENING_CP:
            return []
        if is_quiet(found) and not board.is_check():
            kept.append(player.sample(board, found.white_score, number))
        if tree and abs(found.white_score) <= QUIET_CP:
            searched += player.tree_records(board, number, tree)
        board.push_packed(found.move)
        ply += 1
        result = adjudicator.result(board, ply, found.white_score)
    return [records.encode(replace(sample, result=result)) for sample in kept if sample.fits()] + searched


def make_shard(plan: SelfplayPlan, shard: tuple[int, int]) -> bytes:
    """Play the shard with this number and this many games, and return its content."""
    number, games = shard
    rng = random.Random(f"self-play {plan.prefix}{plan.seed} {number}")
    player = FixedNodesPlayer(plan.evaluation, plan.nodes, plan.variant)
    tree = plan.tree if plan.variant == STANDARD else 0
    lines: list[bytes] = []
    for game in range(games):
        lines += record_game(random_opening(rng, plan.variant), player, game, tree)
    return b"".join(lines)


@dataclass(frozen=True)
class SelfplayProgress:
    """What a run has made since it began."""

    shards: int
    positions: int
    seconds: float

    def __str__(self) -> str:
        rate = self.positions / self.seconds
        return f"{self.shards} shard{'s' * (self.shards != 1)}, {self.positions:,} positions, {rate:,.0f} positions/s"


def run(plan: SelfplayPlan, games: int, workers: Workers) -> Iterator[SelfplayProgress]:
    """Play the games that are missing to this many; yield the progress after each shard."""
    return _make(plan, plan.missing(games), workers)


def run_until(plan: SelfplayPlan, deadline: float, workers: Workers) -> Iterator[SelfplayProgress]:
    """Make at least one shard, and more until `time.monotonic` reaches the deadline; yield the progress after each."""
    missing = ((number, plan.games_per_shard) for number in count() if not plan.finished(number, 1))
    first = next(missing)

    def in_time() -> Iterator[tuple[int, int]]:
        yield first
        for shard in missing:
            if time.monotonic() >= deadline:
                return
            yield shard

    return _make(plan, in_time(), workers)


def refuse_other_rules(folder: Path, variant: str) -> None:
    """Refuse a folder that has games of another variant. Raises InvalidRecord."""
    for path in records.shards(folder):
        with path.open("rb") as file:
            record = file.read(RECORD.size)
        if len(record) == RECORD.size:
            *_, side, _ = RECORD.unpack(record)
            if records.RULES.index(variant) != side >> records.VARIANT_SHIFT:
                raise InvalidRecord(f"{path}: games of other rules, expected {variant}: choose another folder")
            return


def _make(plan: SelfplayPlan, shards: Iterable[tuple[int, int]], workers: Workers) -> Iterator[SelfplayProgress]:
    plan.folder.mkdir(parents=True, exist_ok=True)
    refuse_other_rules(plan.folder, plan.variant)
    started, positions = time.monotonic(), 0
    packed = replace(plan, evaluation=eval_file.read(plan.evaluation))
    for done, (shard, content) in enumerate(run_parallel(partial(make_shard, packed), shards, workers), 1):
        plan.write(*shard, content)
        positions += len(content) // RECORD.size
        yield SelfplayProgress(done, positions, time.monotonic() - started)
