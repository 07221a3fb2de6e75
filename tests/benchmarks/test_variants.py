"""Games of variants against a random mover, and their record."""

import argparse
from pathlib import Path

import pytest

from engine.facade import build_mode
from tests.benchmarks.variants import OURS, Match, elo, ending, new_board, random_opening, row

pytestmark = pytest.mark.skipif(build_mode() == "plain", reason="too slow as plain Python to wait for")


def options(record: Path, games: int) -> argparse.Namespace:
    return argparse.Namespace(
        variant=["atomic"], opponent="random", nodes=0, our_nodes=300, clock=(8.0, 0.08), overhead="10", margin=0.0,
        games=games, concurrency=1, engine=OURS, hand_written=False, record=record,
    )  # fmt: skip


def test_a_match_is_won_recorded_and_continued(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    first = Match(options(record, 2))
    first.run()
    assert [(game.number, game.white, game.score) for game in first.games] == [(0, True, 1.0), (1, False, 1.0)]
    assert row("atomic", first.games).split()[:3] == ["atomic", "2", "+2"]
    again = Match(options(record, 2))
    again.run()
    assert again.games == first.games
    assert len(record.read_text().splitlines()) == 2


def test_both_games_of_a_pair_have_the_same_opening() -> None:
    openings = [random_opening("crazyhouse", number) for number in range(4)]
    assert openings[0] == openings[1] != openings[2] == openings[3]


def test_endings_are_judged() -> None:
    assert ending(new_board("kingofthehill", "7k/8/8/8/4K3/8/8/8 b - - 0 1")) == (1.0, "variant_loss")
    assert ending(new_board("atomic", "7k/7p/8/8/4K3/8/8/R7 b - - 100 80")) == (0.5, "fifty moves")
    assert ending(new_board("crazyhouse", "7k/8/8/8/4K3/8/8/R7[] b - - 100 80")) is None


def test_elo_of_a_score() -> None:
    assert elo(0.5) == 0
    assert elo(0.75) == pytest.approx(190.8, abs=0.1)
    assert elo(1.0) == float("inf")
