"""Choosing the evaluation: by EvalFile, over UCI and in the engine; and the search with a network is still a search."""

import json
import subprocess
from pathlib import Path
from threading import Thread

import chess
import chess.engine
import pytest

from engine.core.fen import parse_fen
from engine.core.movegen import legal_moves
from engine.evaluation import eval_file
from engine.evaluation.net_file import read, write
from engine.evaluation.network import Network
from engine.facade import STARTING_FEN, Board, Engine, InvalidNet, Limits, build_mode
from engine.search.history import History
from engine.search.search import Search
from engine.search.time_manager import TimeManager
from engine.search.transposition import TranspositionTable
from tests.engine.nets import material_net, random_net
from tests.engine.uci_session import COMMAND, converse

DEPTH = 8
minutes_if_plain = pytest.mark.skipif(build_mode() == "plain", reason="minutes as plain Python")
QUEEN_EN_PRISE = "rnb1kbnr/pppp1ppp/8/4p1q1/3P4/2N5/PPP1PPPP/R1BQKBNR w KQkq - 0 1"


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a network that counts material; its folder's name has a space in it."""
    path = tmp_path_factory.mktemp("some nets") / "material.net"
    write(material_net(), path)
    return path


def thinker(evaluation: Path | str, fen: str = STARTING_FEN) -> Engine:
    engine = Engine(hash_mb=4)
    engine.set_evaluation(str(evaluation))
    engine.set_position(Board(fen))
    return engine


def test_the_option_is_announced_with_the_evaluation_in_use() -> None:
    assert f"option name EvalFile type string default {eval_file.default_choice()}" in converse("uci")


def test_the_last_network_by_name_is_the_one_that_ships(tmp_path: Path) -> None:
    assert eval_file.shipped_file(tmp_path) is None
    assert eval_file.shipped_file(tmp_path / "no such folder") is None
    for name in ("net-001.net", "net-002.net"):
        write(material_net(), tmp_path / name)
    assert eval_file.shipped_file(tmp_path).name == "net-002.net"


def test_a_network_in_the_package_plays_unless_the_engine_runs_plain(
    material: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eval_file, "shipped_file", lambda: material)
    plays = Engine().describe_evaluation()
    if build_mode() == "compiled":
        assert eval_file.default_choice() == "<shipped>"
        assert plays.startswith("network 'material 32'")
    else:
        assert (eval_file.default_choice(), plays) == ("none", "hand-written")
    engine = thinker("<shipped>")
    assert engine.describe_evaluation().startswith("network 'material 32'")
    engine.set_evaluation("none")
    assert engine.describe_evaluation() == "hand-written"


def test_a_file_is_loaded_and_none_goes_back(material: Path) -> None:
    lines = converse(
        f"setoption name EvalFile value {material}", "position startpos", "eval", "setoption name EvalFile value none"
    )
    name = "network 'material 32', 32 hidden, 1 output buckets"
    assert lines[0] == f"info string evaluation: {name}"
    assert lines[-2] == f"{name} plays: +0.00 (White's view)"
    assert lines[-1] == "info string evaluation: hand-written"


def test_nothing_means_the_default(material: Path) -> None:
    engine = thinker(material)
    engine.set_evaluation("")
    assert engine.describe_evaluation() == Engine().describe_evaluation()


def test_a_bad_file_is_refused_and_the_old_evaluation_stays(material: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.net"
    bad.write_bytes(material.read_bytes()[:-1])
    engine = thinker(material)
    missing = tmp_path / "missing.net"
    for choice, problem in ((bad, r"bad\.net: .* bytes, expected"), (missing, "cannot be read: No such file")):
        with pytest.raises(InvalidNet, match=problem):
            engine.set_evaluation(str(choice))
    assert engine.describe_evaluation().startswith("network 'material 32'")
    lines = converse(f"setoption name EvalFile value {bad}", "position startpos", "go depth 3")
    assert lines[0].startswith(f"info string error: {bad}: ")
    assert lines[-1].startswith("bestmove ")


def test_a_variant_refuses_a_network_of_standard_chess(tmp_path: Path) -> None:
    """Its moves change the pieces in other ways, and its networks have no threats."""
    path = tmp_path / "threats.net"
    write(random_net(seed=22, hidden=32, buckets=1, threats=8), path)
    assert eval_file.load(str(path)) is not None
    with pytest.raises(InvalidNet, match="random 22: a network of standard chess, expected one of atomic"):
        eval_file.load(str(path), "atomic")


def test_the_network_that_ships_is_small_and_has_its_card() -> None:
    path = eval_file.shipped_file()
    net, card = read(path), json.loads(path.with_suffix(".json").read_text())
    assert path.stat().st_size <= 2_000_000
    assert net.name == card["name"] == path.stem
    assert (net.hidden, net.buckets) == (card["settings"]["hidden"], card["settings"]["buckets"])
    assert {"made", "games", "positions", "steps", "losses", "training_hours", "match"} <= card.keys()


def test_a_missing_shipped_network_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval_file, "shipped_file", lambda: None)
    with pytest.raises(InvalidNet, match="no network ships with this version"):
        Engine().set_evaluation("<shipped>")


def test_the_terms_play_if_a_shipped_network_is_damaged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else a game would be lost: the engine did not start, and in a variant it never answered `go`."""
    damaged = tmp_path / "variants" / "crazyhouse.net"
    damaged.parent.mkdir()
    damaged.write_bytes(b"LBOTNET\0")
    monkeypatch.setattr(eval_file, "FOLDER", tmp_path)
    engine = Engine()
    engine.set_evaluation("<shipped>")
    engine.set_position(Board(variant="crazyhouse"))
    unusable = f"; the shipped network is unusable: {damaged}: cut off"
    assert engine.describe_evaluation().startswith(f"hand-written for crazyhouse{unusable}")
    assert engine.go(Limits(depth=2)).best_move is not None
    monkeypatch.setattr(eval_file, "shipped_file", lambda: damaged)
    monkeypatch.setattr(eval_file, "default_choice", lambda: eval_file.SHIPPED)
    engine = Engine()
    assert engine.describe_evaluation().startswith(f"hand-written{unusable}")
    assert engine.go(Limits(depth=2)).best_move is not None


def test_a_damaged_network_of_standard_chess_leaves_the_variants_theirs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    damaged = tmp_path / "net-001.net"
    damaged.write_bytes(b"LBOTNET\0")
    (tmp_path / "variants").mkdir()
    write(material_net(), tmp_path / "variants" / "atomic.net")
    monkeypatch.setattr(eval_file, "FOLDER", tmp_path)
    monkeypatch.setattr(eval_file, "shipped_file", lambda: damaged)
    monkeypatch.setattr(eval_file, "default_choice", lambda: eval_file.SHIPPED)
    engine = Engine()
    assert f"; the shipped network is unusable: {damaged}: " in engine.describe_evaluation()
    for variant, plays in (("atomic", "network 'material 32', 32 hidden, 1 output buckets"), ("horde", "hand-written")):
        engine.set_position(Board(variant=variant))
        assert engine.describe_evaluation() == f"{plays} for {variant}"
    engine.set_evaluation("none")
    engine.set_position(Board(variant="atomic"))
    assert engine.describe_evaluation() == "hand-written for atomic"


def test_no_network_is_announced_or_loaded_for_a_level_that_uses_none(
    material: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = converse(
        f"setoption name EvalFile value {material}",
        "setoption name UCI_LimitStrength value true",
        "setoption name UCI_Elo value 1000",
        "setoption name UCI_Elo value 2500",
        "setoption name UCI_Variant value atomic",
        "eval",
    )
    plays = [line.removeprefix("info string evaluation: ") for line in lines[:5]]
    network = "network 'material 32', 32 hidden, 1 output buckets"
    assert plays == [network, network, "hand-written", network, "hand-written for atomic"]
    assert lines[-1].startswith("phase ")      # not: that a network plays
    engine = thinker(material)
    monkeypatch.setattr(eval_file, "usable_network", lambda variant: pytest.fail(f"loads {variant}"))
    engine.limit_strength(2500)
    engine.set_position(Board(variant="atomic"))
    assert engine.go(Limits(depth=1)).best_move is not None


@minutes_if_plain
def test_a_change_of_evaluation_clears_the_tables(material: Path) -> None:
    """The table holds evaluations; those of another evaluation would be believed."""
    fresh = thinker(material).go(Limits(depth=7)).report
    used = thinker("none")
    used.go(Limits(depth=7))
    used.set_evaluation(str(material))
    report = used.go(Limits(depth=7)).report
    assert (report.nodes, report.score_cp, report.pv) == (fresh.nodes, fresh.score_cp, fresh.pv)


@minutes_if_plain
def test_the_network_decides_the_move(material: Path) -> None:
    ahead, behind = Board(STARTING_FEN.replace("rnbq", "rnb1")), Board(STARTING_FEN.replace("RNBQ", "RNB1"))
    assert thinker(material).network_score_cp(ahead) == pytest.approx(950, abs=60)
    assert thinker(material).network_score_cp(behind) == pytest.approx(-950, abs=60)
    assert thinker("none").network_score_cp(Board()) is None
    result = thinker(material, QUEEN_EN_PRISE).go(Limits(depth=6))
    assert result.best_move == "c1g5"


@minutes_if_plain
def test_mates_are_found_and_counted_as_ever(material: Path) -> None:
    for evaluation in (material, "none"):
        assert thinker(evaluation, "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1").go(Limits(mate_in=2)).report.mate_in == 2


@minutes_if_plain
def test_several_lines_threads_and_chess960_go_with_a_network(material: Path) -> None:
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=100) as client:
        client.configure({"EvalFile": str(material), "Threads": 2})
        board = chess.Board.from_chess960_pos(11)
        infos = client.analyse(board, chess.engine.Limit(depth=6), multipv=4)
        assert len({info["pv"][0] for info in infos}) == 4
        scores = [info["score"].relative.score(mate_score=10_000) for info in infos]
        assert scores == sorted(scores, reverse=True)
        while not board.is_game_over() and board.ply() < 40:
            played = client.play(board, chess.engine.Limit(time=0.02), ponder=True)
            board.push(played.move)


@minutes_if_plain
def test_threads_share_the_weights_and_not_the_sums() -> None:
    """Parallel searches with one network, each with its own table, give the same results as alone."""
    network = Network(random_net(seed=21, hidden=64, buckets=8, threats=8))
    searches = [
        Search(parse_fen(QUEEN_EN_PRISE)[0], TranspositionTable(4), History(), TimeManager(), 0, network)
        for _ in range(4)
    ]
    found: list[tuple[int, int]] = []

    def think(search: Search) -> None:
        search.restrict_root(legal_moves(parse_fen(QUEEN_EN_PRISE)[0]), True)
        score = max(search.run(depth) for depth in range(1, DEPTH))
        found.append((score, search.node_count()))

    think(searches[0])
    threads = [Thread(target=think, args=(search,)) for search in searches[1:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1


@minutes_if_plain
def test_bench_takes_an_evaluation(material: Path, tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, "bench", *words], capture_output=True, text=True, timeout=100, check=False
        )

    by_hand, by_network = run("3", "none"), run("3", str(material))
    assert "evaluation: hand-written" in by_hand.stdout
    assert "evaluation: network 'material 32'" in by_network.stdout
    assert by_hand.stdout.splitlines()[-1] != by_network.stdout.splitlines()[-1]
    refused = run("3", str(tmp_path))
    assert refused.returncode == 2
    assert refused.stderr == f"{tmp_path}: not a regular file\n"
