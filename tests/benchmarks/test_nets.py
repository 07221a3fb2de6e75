"""That the comparison of networks asks about the positions of games, and that the better network errs less."""

from dataclasses import replace
from pathlib import Path

import chess
import pytest

from engine.core.fen import parse_fen
from engine.evaluation import net_file
from engine.selfplay.records import Result, encode
from tests.benchmarks.nets import asked, judge, positions_of, read
from tests.benchmarks.thermometer import OURS
from tests.engine.nets import material_net, random_net
from tests.engine.shards import random_samples


def test_the_better_network_errs_less(tmp_path: Path) -> None:
    path, epd = tmp_path / "a.shard", tmp_path / "positions.epd"
    samples = random_samples(4)
    searched = [replace(samples[0], result=Result.UNKNOWN)] * 500
    path.write_bytes(b"".join(map(encode, [*searched, *samples])))
    boards = positions_of([path], 60)
    assert len({board.fen() for board in boards}) > 50
    assert all(board.is_valid() for board in boards)
    epd.write_text("".join(f"{line}\n" for line in asked(boards, OURS, nodes=300)))
    for name, net in (("material", material_net()), ("random", random_net(seed=4, hidden=32, buckets=1))):
        net_file.write(net, tmp_path / f"{name}.net")
    first, second = judge(read(epd), [str(tmp_path / "material.net"), str(tmp_path / "random.net")])
    assert first.endswith(", +0.000000 +- 0.000000 beside the first")
    better, bound = (float(second.split()[place]) for place in (-6, -4))
    assert better > bound > 0


def test_the_scale_of_a_network_is_no_error(tmp_path: Path) -> None:
    boards = [chess.Board(f"4k3/8/8/8/8/8/{'P' * count}{8 - count}/4K3 w - - 0 1") for count in range(1, 8)]
    net = material_net()
    for scale in (net.scale // 2, net.scale):
        net_file.write(replace(net, scale=scale), tmp_path / f"{scale}.net")
    judged = [(parse_fen(board.fen())[0], 100 * len(board.pieces(chess.PAWN, chess.WHITE))) for board in boards]
    for line in judge(judged, [str(tmp_path / f"{scale}.net") for scale in (net.scale // 2, net.scale)]):
        assert line.endswith("error 0.000000, +0.000000 +- 0.000000 beside the first")


def test_a_score_is_for_the_side_to_move(tmp_path: Path) -> None:
    for turn in ("w", "b"):
        board = chess.Board(f"4k3/8/8/8/8/8/4PPPP/QQ2K3 {turn} - - 0 1")
        (line,) = asked([board], OURS, nodes=300)
        (tmp_path / "one.epd").write_text(line)
        ((_, score),) = read(tmp_path / "one.epd")
        assert (score > 0) is (turn == "w")


def test_a_line_without_a_score_is_named(tmp_path: Path) -> None:
    path = tmp_path / "positions.epd"
    path.write_text("6k1/5ppp/8/8/8/8/8/K3R3 w - - ce 20;\n6k1/5ppp/8/8/8/8/8/K3R3 w - - bm Re8#;\n")
    with pytest.raises(ValueError, match=r"positions\.epd:2: no score \(ce\)"):
        read(path)
