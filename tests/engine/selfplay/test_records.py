"""Records of self-play."""

from dataclasses import replace

import pytest

from engine.board import Board
from engine.selfplay.records import RECORD, Result, Sample, encode, is_held_out, snapshot
from tests.engine.positions import Start
from tests.engine.shards import decode, random_samples


def test_records_take_32_bytes_and_round_trip() -> None:
    assert RECORD.size == 32
    samples = random_samples(10, Start.CHESS960)
    assert len({sample.result for sample in samples}) == 3
    for sample in samples:
        assert decode(encode(sample)) == sample


def test_a_large_score_is_clipped() -> None:
    huge = replace(random_samples(1)[0], score_cp=99_999)
    assert decode(encode(huge)).score_cp == 32000


@pytest.mark.parametrize(("first_rank", "fits"), [("PPPPPPPP", True), ("PPPPPPPQ", False)])
def test_a_record_of_horde_holds_all_pawns_of_white_and_sixteen_other_pieces(first_rank: str, fits: bool) -> None:
    horde = Board(f"rnbqkbnr/pppppppp/8/1PP2PP1/PPPPPPPP/PPPPPPPP/PPPPPPPP/{first_rank} w kq - 0 1", variant="horde")
    assert Sample(*snapshot(horde.position), 0, Result.DRAWN, 0, "horde").fits() is fits


def test_the_share_of_held_out_games_is_stable() -> None:
    chosen = {(shard, game) for shard in range(20) for game in range(100) if is_held_out(f"{shard:06}", game)}
    assert 60 <= len(chosen) <= 140
    assert all(is_held_out(f"{shard:06}", game) for shard, game in chosen)
