"""That the comparison of networks asks about the positions of games, and that the better network errs less."""

from dataclasses import replace
from pathlib import Path

import chess
import pytest

from engine.core.fen import parse_fen
from engine.evaluation import net_file
from engine.selfplay.records import Result, encode
from tests.benchmarks.arguments import OURS, running
from tests.benchmarks.nets import asked, judge, main, positions_of, read
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
    with running(OURS, 100) as engine:
        epd.write_text("".join(f"{line}\n" for line in asked(boards, engine, nodes=300)))
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
        with running(OURS, 100) as engine:
            (line,) = asked([board], engine, nodes=300)
        (tmp_path / "one.epd").write_text(line)
        ((_, score),) = read(tmp_path / "one.epd")
        assert (score > 0) is (turn == "w")


def test_a_line_without_a_score_is_named(tmp_path: Path) -> None:
    path = tmp_path / "positions.epd"
    path.write_text("6k1/5ppp/8/8/8/8/8/K3R3 w - - ce 20;\n6k1/5ppp/8/8/8/8/8/K3R3 w - - bm Re8#;\n")
    with pytest.raises(ValueError, match=r"positions\.epd:2: no score \(ce\)"):
        read(path)


@pytest.mark.parametrize(
    ("shards", "options", "complaint"),
    [
        ("none", "", "no positions of games in none"),
        ("shards", "--positions 0", "--positions: expected a whole number from 1 on, found '0'"),
        ("shards", "--nodes -5", "--nodes: expected a whole number from 1 on, found '-5'"),
        ("shards", "--engine false", "false: engine process d"),
        ("shards", "--engine none", "No such file or directory: 'none'"),
        ("shards", "--engine=", "--engine: expected a command, found ''"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_a_file_is_written(
    shards: str, options: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("shards").mkdir()
    Path("shards/a.shard").write_bytes(b"".join(map(encode, random_samples(1))))
    monkeypatch.setattr("sys.argv", ["nets", "ask", "new.epd", "--shards", shards, *options.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert complaint in f"{ended.value.code} {capsys.readouterr().err}"
    assert not Path("new.epd").exists()
