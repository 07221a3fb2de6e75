"""Statistics of shards."""

from collections import Counter
from dataclasses import replace
from math import exp
from pathlib import Path

from engine.selfplay.records import Result, Sample, encode
from engine.training.statistics import read_statistics
from tests.engine.shards import random_samples, write_shards


def written(path: Path, samples: list[Sample]) -> Path:
    path.write_bytes(b"".join(map(encode, samples)))
    return path


def test_the_statistics_count_everything(tmp_path: Path) -> None:
    samples = random_samples(6)
    found = read_statistics([written(tmp_path / "a.shard", samples)])
    assert found.positions == len(samples)
    assert found.games == len({sample.game for sample in samples})
    assert found.results == Counter(sample.result for sample in samples)
    assert found.black_to_move == sum(sample.black_to_move for sample in samples)
    assert found.cannot_castle == sum(sample.cannot_castle for sample in samples) > 0
    assert found.buckets == Counter((64 - sample.board.count(12) - 2) // 4 for sample in samples)
    assert found.decided == sum(abs(sample.score_cp) > 300 for sample in samples)


def test_positions_without_a_result_are_counted_apart_and_prove_no_unit(tmp_path: Path) -> None:
    samples = random_samples(2)
    path = written(tmp_path / "a.shard", samples)
    without = [replace(sample, result=Result.UNKNOWN, score_cp=900) for sample in samples]
    more = written(tmp_path / "b.shard", samples + without)
    found, counted = read_statistics([path]), read_statistics([more])
    assert counted.results == found.results + Counter({Result.UNKNOWN: len(samples)})
    assert counted.errors == found.errors
    assert "unknown 50.0 %" in counted.lines()[1]


def test_without_any_result_there_is_no_unit(tmp_path: Path) -> None:
    for samples in ([], [replace(sample, result=Result.UNKNOWN) for sample in random_samples(1)]):
        lines = read_statistics([written(tmp_path / "a.shard", samples)]).lines()
        assert "centipawns per logistic unit" not in "\n".join(lines)


def test_games_of_the_same_number_in_different_shards_are_two(tmp_path: Path) -> None:
    paths = write_shards(tmp_path, count=2, games=3)
    assert read_statistics(paths).games == 6


def test_the_best_unit_is_found(tmp_path: Path) -> None:
    """The share of wins at each score follows the logistic function of the unit."""
    sample = random_samples(1)[0]
    samples = []
    for score in range(-600, 601, 100):
        won = round(100 / (1 + exp(-score / 240)))
        for number in range(100):
            result = Result.WHITE_WON if number < won else Result.BLACK_WON
            samples.append(replace(sample, score_cp=score, result=result))
    found = read_statistics([written(tmp_path / "a.shard", samples)])
    assert found.best_unit_cp() == 240
    assert found.lines()[-1] == "the scores predict the results best with 240 centipawns per logistic unit"
