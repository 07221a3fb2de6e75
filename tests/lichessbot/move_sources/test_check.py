"""The check of the move sources."""

from pathlib import Path

import pytest

from engine.book.opening_book import Entry, write
from engine.facade import Board, polyglot_key
from lichessbot.config import EngineConfig
from lichessbot.move_sources.check import SourceCheck, check_sources
from lichessbot.move_sources.http import Hosts
from tests.fakes.oracle import Manner, Oracle
from tests.fakes.scripted_lichess import Reply, ScriptedLichess
from tests.lichessbot.move_sources.test_local import book


def of_books(hosts: Hosts, *files: Path) -> list[SourceCheck]:
    config = {"polyglot": {"enabled": True, "book": {"standard": [str(file) for file in files]}}}
    return list(check_sources([EngineConfig.model_validate(config)], hosts))


def of_servers(hosts: Hosts, oracle: Oracle, *names: str) -> list[SourceCheck]:
    online: dict[str, object] = {f"{server}_url": oracle.url for server in ("explorer", "tablebase", "chessdb")}
    online |= {name: {"enabled": True} for name in names} | {"max_retries": 0}
    return list(check_sources([EngineConfig.model_validate({"online_moves": online})], hosts))


def test_every_book_is_checked(hosts: Hosts, tmp_path: Path) -> None:
    good = book(tmp_path / "good.bin", e2e4=1, d2d4=1)
    (tmp_path / "short.bin").write_bytes(bytes(17))
    write(tmp_path / "wrong.bin", [Entry(polyglot_key(Board()), 0o1444, 1)])
    found = of_books(hosts, good, tmp_path / "short.bin", tmp_path / "wrong.bin", tmp_path / "missing.bin")
    assert [result.works for result in found] == [True, False, False, False]
    assert found[0].text.endswith("good.bin: 2 moves in 1 positions")
    short = f"book {tmp_path / 'short.bin'}: 17 bytes are not whole entries of 16: the bot would play without this book"
    assert found[1].text == short
    assert found[2].text.endswith("moves that are not legal in their position: 1")
    missing = f"book {tmp_path / 'missing.bin'}: no such file or directory: the bot would play without this book"
    assert found[3].text == missing


@pytest.mark.parametrize(("move", "works"), [(0o6444, True), (0o0424, False)], ids=["e7e5", "e1e3"])
def test_a_book_of_a_variant_is_checked_from_its_start(
    hosts: Hosts, tmp_path: Path, move: int, works: bool
) -> None:
    start = Board(variant="horde").after("a4a5")
    file = tmp_path / "horde.bin"
    write(file, [Entry(polyglot_key(start), move, 1)])
    config = {"polyglot": {"enabled": True, "book": {"horde": str(file)}}}
    (found,) = check_sources([EngineConfig.model_validate(config)], hosts)
    assert found.works is works


def test_a_disabled_book_is_not_checked(hosts: Hosts) -> None:
    assert list(check_sources([EngineConfig()], hosts)) == []


def test_every_server_is_asked_for_a_move(oracle: Oracle, hosts: Hosts, lichess: ScriptedLichess) -> None:
    lichess.answer("/api/cloud-eval", Reply(body={"depth": 50, "knodes": 1, "pvs": [{"moves": "e2e4", "cp": 20}]}))
    names = ("online_egtb", "chessdb_book", "lichess_cloud_analysis", "lichess_opening_explorer")
    found = of_servers(hosts, oracle, *names)
    assert [result.works for result in found] == [True] * 4
    assert tuple(result.text.split()[0] for result in found) == names
    assert [result.text.rpartition(": ")[2] for result in found] == ["e1a1", "b1a3", "e2e4", "b1a3"]


def test_a_server_that_knows_no_move_works(oracle: Oracle, hosts: Hosts) -> None:
    oracle.manner = Manner.IGNORANT
    (chessdb,) = of_servers(hosts, oracle, "chessdb_book")
    assert chessdb.works
    assert chessdb.text.endswith(" s: no move")


@pytest.mark.parametrize(
    ("manner", "complaint", "may_pass"),
    [(Manner.FAILING, "does not answer: 500", True), (Manner.FORBIDDING, "refuses: 401", False)],
)
def test_a_failing_server_is_named_with_its_reason(
    oracle: Oracle, hosts: Hosts, manner: Manner, complaint: str, may_pass: bool
) -> None:
    oracle.manner = manner
    (explorer,) = of_servers(hosts, oracle, "lichess_opening_explorer")
    assert (explorer.works, explorer.may_pass) == (False, may_pass)
    assert explorer.text.startswith(f"lichess_opening_explorer {complaint}")
