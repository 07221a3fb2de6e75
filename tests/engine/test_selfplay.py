"""Self-play: real games, the same again for the same seed, and resumed where it was cut off."""

import random
import subprocess
import sys
from pathlib import Path

import chess
import pytest

from engine.records import Result, check, read
from engine.selfplay import DEAD_FROM_PLY, LONGEST_GAME, Adjudicator, Plan, make_shard, opening

MATE_IN_ONE = 31999


def plan(folder: Path) -> Plan:
    return Plan(folder, games=4, nodes=60, seed=3, games_per_shard=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both shards of a plan, played."""
    place = tmp_path_factory.mktemp("shards")
    for number in plan(place).missing():
        assert make_shard(plan(place), number) > 0
    return place


def test_the_same_shard_holds_the_same_games(folder: Path, tmp_path: Path) -> None:
    make_shard(plan(tmp_path), 1)
    assert plan(tmp_path).path(1).read_bytes() == plan(folder).path(1).read_bytes()
    assert plan(folder).path(0).read_bytes() != plan(folder).path(1).read_bytes()


def test_a_run_that_was_cut_off_goes_on_with_what_is_missing(folder: Path, tmp_path: Path) -> None:
    assert plan(folder).missing() == []
    plan(tmp_path).path(0).write_bytes(b"")
    assert plan(tmp_path).missing() == [1]


def test_only_legal_quiet_positions_are_kept(folder: Path) -> None:
    for sample in read(plan(folder).path(0)):
        board = chess.Board(None)
        for square, piece in enumerate(sample.board):
            if piece < 12:
                board.set_piece_at(square, chess.Piece(piece % 6 + 1, piece < 6))
        board.turn = chess.BLACK if sample.black_to_move else chess.WHITE
        assert board.is_valid()
        assert not board.is_check()


def test_all_positions_of_a_game_share_its_result(folder: Path) -> None:
    results: dict[int, set[Result]] = {}
    for sample in read(plan(folder).path(1)):
        results.setdefault(sample.game, set()).add(sample.result)
    assert results
    assert all(len(found) == 1 for found in results.values())


def test_openings_differ_and_some_are_of_chess960() -> None:
    found = [opening(random.Random(seed)).state() for seed in range(40)]
    assert len({state["key"] for state in found}) == 40
    assert {state["side_to_move"] for state in found} == {0, 1}
    assert any(state["castling_rooks"][0] not in (7, 64) for state in found)


def test_a_side_far_ahead_for_long_wins() -> None:
    referee = Adjudicator()
    assert [referee.verdict(ply, -1600) for ply in range(1, 6)] == [None] * 5
    assert referee.verdict(6, 0) is None
    assert [referee.verdict(ply, -1600) for ply in range(7, 13)] == [None] * 5 + [Result.BLACK_WON]


def test_a_mate_in_sight_wins_at_once() -> None:
    assert Adjudicator().verdict(1, MATE_IN_ONE) is Result.WHITE_WON


def test_a_game_in_which_nothing_goes_on_is_drawn_but_not_early() -> None:
    referee = Adjudicator()
    verdicts = [referee.verdict(ply, 3) for ply in range(1, LONGEST_GAME)]
    first = verdicts.index(Result.DRAWN)
    assert first > DEAD_FROM_PLY
    assert set(verdicts[:first]) == {None}
    assert Adjudicator().verdict(LONGEST_GAME, 200) is Result.DRAWN


def test_the_command_plays_then_has_nothing_left_to_do(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "engine", "selfplay", str(tmp_path), "--games", "1", "--nodes", "20"]
    played = subprocess.run([*command, "--processes", "1"], capture_output=True, text=True, timeout=60, check=True)
    assert played.stdout.startswith("shard 1/1")
    shown = subprocess.run(
        [*command[:4], "records", str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert shown.stdout.startswith(f"positions {check(tmp_path.glob('*.shard')).positions:,}")
    again = subprocess.run([*command, "--processes", "1"], capture_output=True, text=True, timeout=60, check=True)
    assert again.stdout == ""


def test_a_folder_without_shards_is_an_error(tmp_path: Path) -> None:
    for command in ("records", "tune"):
        answer = subprocess.run(
            [sys.executable, "-P", "-m", "engine", command, str(tmp_path)], capture_output=True, text=True, timeout=60
        )
        assert answer.returncode == 2
        assert "no shards" in answer.stderr
