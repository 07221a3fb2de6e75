"""Games for the engine's own opening book."""

import random
from pathlib import Path

import chess
import pytest

from engine.cli.main import run
from engine.facade import Engine, Limits
from engine.selfplay.book_growing import Candidate, GrowingPlan, _centipawns, deepest, make_shard, pick, read
from engine.selfplay.records import InvalidRecord


def small(folder: Path) -> GrowingPlan:
    return GrowingPlan(folder, opening_nodes=600, nodes=60, plies=6, seed=4, games_per_shard=2)


def test_the_same_shard_holds_the_same_games(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        plan = small(tmp_path / name)
        plan.folder.mkdir()
        assert plan.missing(2) == [(0, 2)]
        plan.write(0, 2, make_shard(plan, (0, 2)))
        assert plan.missing(2) == []
        texts.append(plan.path(0).read_text())
    assert texts[0] == texts[1]


def test_the_book_side_alternates_and_every_move_is_legal(tmp_path: Path) -> None:
    plan = small(tmp_path)
    plan.write(0, 2, make_shard(plan, (0, 2)))
    games = list(read(plan.path(0)))
    assert [set(game.sides) for game in games] == [{"white"}, {"black"}]
    for game in games:
        board = chess.Board()
        assert len(game.moves) == 6
        for move in game.moves:
            board.push_uci(move)


@pytest.mark.parametrize("line", ["nothing", "black 1-2 e2e4"])
def test_an_invalid_line_is_named(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shard = tmp_path / "0001-000000.games"
    shard.write_text(f"white 1-0 e2e4\n{line}\n")
    with pytest.raises(InvalidRecord, match=r"games:2: expected a side"):
        list(read(shard))
    assert run(["book", "grow", str(tmp_path), "--games", "1", "-o", str(tmp_path / "book.bin")]) == 2
    assert "games:2: expected a side" in capsys.readouterr().err


def test_no_move_beyond_the_margin_is_picked() -> None:
    candidates = [Candidate("a2a3", 40), Candidate("b2b3", 16), Candidate("c2c3", 10)]
    rng = random.Random(1)
    assert {pick(candidates, 25, 15, rng) for _ in range(200)} == {"a2a3", "b2b3"}


def test_a_mate_is_beyond_every_score_and_the_nearest_is_best() -> None:
    report = Engine(hash_mb=1).go(Limits(depth=1)).report
    assert report is not None
    scores = [_centipawns(report._replace(score_cp=None, mate_in=moves)) for moves in (1, 9, -9, -1)]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] > 10_000
    assert scores[2] < -10_000


def test_unfinished_depths_are_ignored() -> None:
    lines = {(1, 1): "a", (1, 2): "b", (2, 1): "c", (2, 2): "d", (3, 1): "e"}
    found = {place: Candidate(move, 1) for place, move in lines.items()}
    assert [it.move for it in deepest(found)] == ["c", "d"]
    assert deepest({}) == []
