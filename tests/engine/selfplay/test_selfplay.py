"""Self-play: real games, reproducible and resumable."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partialmethod
from pathlib import Path

import pytest

from engine.board import Board
from engine.cli.main import run as run_command
from engine.evaluation import net_file
from engine.selfplay import records
from engine.selfplay.games import SearchedMove
from engine.selfplay.match import Match, play_pair, read_openings
from engine.selfplay.records import QUIET_CP, RECORD, InvalidRecord, Result, rules_of
from engine.selfplay.selfplay import SelfplayPlan, is_quiet, make_shard, run, run_until
from engine.training.data import last_words
from engine.training.features import first_invalid, pack
from engine.training.statistics import read_statistics
from tests.engine.nets import random_net
from tests.engine.shards import board_of, decode, read_samples

GAMES = 4


def plan(folder: Path) -> SelfplayPlan:
    return SelfplayPlan(folder, nodes=60, seed=3, games_per_shard=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both shards of a plan."""
    place = tmp_path_factory.mktemp("shards")
    assert [step.shards for step in run(plan(place), GAMES, 1)] == [1, 2]
    return place


def test_the_same_shard_holds_the_same_games(folder: Path, tmp_path: Path) -> None:
    assert make_shard(plan(tmp_path), (1, 2)) == plan(folder).path(1).read_bytes()
    assert plan(folder).path(0).read_bytes() != plan(folder).path(1).read_bytes()


def test_positions_are_kept_if_the_best_move_is_quiet_and_the_score_is_not_decisive() -> None:
    board = Board("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1")
    moves = {board.spell(move): move for move in board.packed_moves()}
    for score in (QUIET_CP, -QUIET_CP):
        assert {text for text, move in moves.items() if not is_quiet(SearchedMove(move, score))} == {"e4d5"}
    assert not any(is_quiet(SearchedMove(moves["e4e5"], score)) for score in (QUIET_CP + 1, -QUIET_CP - 1))


def test_an_interrupted_run_continues_with_the_missing_shards(folder: Path, tmp_path: Path) -> None:
    assert plan(folder).missing(GAMES) == []
    plan(tmp_path).path(0).write_bytes(b"")
    assert plan(tmp_path).missing(GAMES) == [(1, 2)]


def test_no_more_games_are_played_than_asked_for(tmp_path: Path) -> None:
    small = replace(plan(tmp_path), nodes=20)
    assert small.missing(3) == [(0, 2), (1, 1)]
    list(run(small, 3, 1))
    short = small.path(1, 1)
    assert short.exists()
    assert small.missing(3) == []
    assert small.missing(4) == [(1, 2)]
    list(run(small, 4, 1))
    assert not short.exists(), "the whole shard has its games"
    assert small.missing(3) == small.missing(4) == []


def test_shards_of_another_size_count_as_what_they_hold(tmp_path: Path) -> None:
    SelfplayPlan(tmp_path, games_per_shard=20).write(0, 20, b"")
    SelfplayPlan(tmp_path).write(1, 100, b"")
    assert SelfplayPlan(tmp_path).missing(300) == [(0, 100), (2, 100)]
    assert SelfplayPlan(tmp_path, games_per_shard=20).missing(60) == [(2, 20)]
    (tmp_path / "0001-000001.shard").rename(tmp_path / "0001-000000.shard")      # with the name that all had once
    assert SelfplayPlan(tmp_path).missing(100) == []


@pytest.mark.parametrize("steps", range(4))
def test_a_kill_while_a_shard_grows_leaves_no_game_twice(
    steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SelfplayPlan(tmp_path).write(0, 30, b"thirty")
    left = [None] * steps

    def allow(path: Path, step: Callable[..., None], *args: object, **options: object) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        step(path, *args, **options)

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        for name in ("replace", "unlink"):
            patch.setattr(Path, name, partialmethod(allow, getattr(Path, name)))
        SelfplayPlan(tmp_path).write(0, 60, b"sixty")
    assert len(records.shards(tmp_path)) == 1
    SelfplayPlan(tmp_path).write(0, 60, b"sixty")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("0001-000000-60.shard", b"sixty")]


def test_games_beyond_those_asked_for_are_kept(tmp_path: Path) -> None:
    fives = replace(plan(tmp_path), nodes=20, games_per_shard=5)
    tmp_path.joinpath("0003-000000-x.shard").touch()       # of the user
    fives.write(0, 3, b"three games")
    assert fives.missing(2) == []
    assert fives.finished(0, 2) == fives.path(0, 3)
    assert list(run(fives, 2, 1)) == []
    assert fives.path(0, 3).read_bytes() == b"three games"


def test_only_legal_quiet_positions_are_kept(folder: Path) -> None:
    for sample in read_samples(plan(folder).path(0)):
        board = board_of(sample)
        assert board.is_valid()
        assert not board.is_check()


def test_all_positions_of_a_game_share_its_result(folder: Path) -> None:
    results: dict[int, set[Result]] = {}
    for sample in read_samples(plan(folder).path(1)):
        if sample.result != Result.UNKNOWN:
            results.setdefault(sample.game, set()).add(sample.result)
    assert results
    assert all(len(found) == 1 for found in results.values())


def test_positions_of_the_trees_follow_those_of_each_game(tmp_path: Path) -> None:
    """They are not part of the game, so without them the shard is the same."""
    games = replace(plan(tmp_path), nodes=600)
    content = make_shard(games, (0, 3))
    records = [content[offset : offset + RECORD.size] for offset in range(0, len(content), RECORD.size)]
    played = [record for record in records if decode(record).result != Result.UNKNOWN]
    assert b"".join(played) == make_shard(replace(games, tree=0), (0, 3))
    order = [(decode(record).game, decode(record).result == Result.UNKNOWN) for record in records]
    assert order == sorted(order)
    assert len(records) > 2 * len(played)
    few = make_shard(replace(games, tree=1), (0, 3))
    assert len(played) < len(few) // RECORD.size < len(records)


def test_a_network_plays_other_games(tmp_path: Path) -> None:
    net = tmp_path / "random.net"
    net_file.write(random_net(seed=4, hidden=32, buckets=1), net)
    shards = []
    for number, evaluation in enumerate(("none", str(net))):
        other = SelfplayPlan(tmp_path / str(number), nodes=20, seed=3, evaluation=evaluation, games_per_shard=12)
        shards.append(make_shard(other, (0, 12)))
    assert all(shards)                                         # a random net thinks few openings balanced
    assert shards[0] != shards[1]


def test_self_play_finishes_its_shard_after_the_deadline(tmp_path: Path) -> None:
    small = replace(plan(tmp_path), games_per_shard=1, nodes=20)
    steps = list(run_until(small, time.monotonic(), workers=1))
    assert [step.shards for step in steps] == [1]
    assert steps[0].positions == read_statistics(tmp_path.glob("*.shard")).positions
    assert small.missing(games=2) == [(1, 1)]


def test_shards_of_the_user_are_kept_whatever_their_size(tmp_path: Path) -> None:
    small = replace(plan(tmp_path), games_per_shard=2, nodes=20)
    mine = small.path(0, games=1)
    mine.write_bytes(b"")
    list(run_until(small, time.monotonic(), workers=1))
    assert sorted(path.name for path in tmp_path.iterdir()) == [mine.name, small.path(1).name]


def test_the_command_has_nothing_to_do_the_second_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["selfplay", str(tmp_path), "--games", "1", "--nodes", "20", "--processes", "1"]
    assert run_command(command) == 0
    assert capsys.readouterr().out.startswith("1 shard, ")
    assert run_command(["records", str(tmp_path)]) == 0
    positions = read_statistics(tmp_path.glob("*.shard")).positions
    assert capsys.readouterr().out.startswith(f"positions {positions:,}")
    assert run_command(command) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path} already has 1 game with seed 1, ")


def test_a_folder_without_shards_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["records"], ["tune"], ["train", "-o", str(tmp_path / "a.net")]):
        assert run_command([*command, str(tmp_path)]) == 2
        assert "no shards" in capsys.readouterr().err


@pytest.mark.parametrize("variant", ["crazyhouse", "antichess", "horde"])
def test_games_of_a_variant_are_played_to_their_end(variant: str, tmp_path: Path) -> None:
    games = SelfplayPlan(tmp_path, nodes=30, seed=2, games_per_shard=6, variant=variant)
    assert [step.shards for step in run(games, 6, 1)] == [1]
    content = games.path(0).read_bytes()
    assert first_invalid(pack(content)) == -1
    found = read_statistics([games.path(0)])
    assert found.games > 1
    assert found.results[Result.WHITE_WON] + found.results[Result.BLACK_WON] > 0
    assert found.results[Result.UNKNOWN] == 0
    assert set(map(rules_of, last_words(pack(content)))) == {variant}


def test_openings_of_three_check_keep_their_checks(tmp_path: Path) -> None:
    openings = tmp_path / "openings.epd"
    openings.write_text("4k3/8/8/8/8/8/8/R3K3 w Q - 0 3 +2+0\n4k3/8/8/8/8/8/8/R3K3 w Q - 1+3 0 3\n")
    boards = [Board(fen, variant="threeCheck") for fen in read_openings(openings, "threeCheck")]
    assert [(board.checks_given("white"), board.checks_given("black")) for board in boards] == [(2, 0), (2, 0)]


def test_a_match_of_a_variant_starts_from_its_openings(tmp_path: Path) -> None:
    won = "8/8/8/8/8/8/8/k6R[QQ] w - - 0 1"                 # no king: not a position of crazyhouse
    openings = tmp_path / "openings.epd"
    openings.write_text(f"{won}\n")
    with pytest.raises(InvalidRecord, match=r"White has 0 kings \(Crazyhouse\)"):
        read_openings(openings, "crazyhouse")
    openings.write_text("7k/5K2/8/8/8/8/8/8[QQ] w - - 0 1\n")          # mate in one by a drop
    match = Match("none", "none", 50, openings=read_openings(openings, "crazyhouse"), variant="crazyhouse")
    assert play_pair(match, 0) == 2
