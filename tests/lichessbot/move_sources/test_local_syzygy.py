"""The operator's own tables of endings."""

import shutil
import time
from pathlib import Path

import pytest

from lichessbot.config import EngineConfig
from lichessbot.config.sources import SyzygyConfig, TableQuality
from lichessbot.log import EventLog
from lichessbot.move_sources.check import check_sources
from lichessbot.move_sources.http import Hosts
from lichessbot.move_sources.local import SyzygyTables
from lichessbot.move_sources.models import Suggestion
from lichessbot.move_sources.resolver import MoveResolver
from tests.lichessbot.move_sources.questions import ROOK_ENDING, question

QUEEN_ENDING = "7k/8/8/8/8/8/8/K2qQ3 w - - 0 1"
PAWN_ENDING = "8/8/3k4/8/3K4/3P4/8/8 w - - 0 1"


def asked(tables: Path, fen: str, quality: TableQuality = TableQuality.BEST, max_pieces: int = 7) -> Suggestion | None:
    config = SyzygyConfig(enabled=True, paths=(tables,), max_pieces=max_pieces, move_quality=quality)
    return SyzygyTables(config, EventLog()).find(question(fen=fen), time.monotonic() + 2.0)


def test_the_winning_capture_is_the_move(tables: Path) -> None:
    for quality in TableQuality:
        found = asked(tables, QUEEN_ENDING, quality)
        assert found is not None
        assert (found.moves, found.wdl) == (("e1d1",), 2)


def test_the_quickest_win_is_best_and_any_win_is_suggested(tables: Path) -> None:
    best, suggested = (asked(tables, ROOK_ENDING, quality) for quality in (TableQuality.BEST, TableQuality.SUGGEST))
    assert best is not None
    assert suggested is not None
    assert (best.choice, suggested.choice, best.wdl, suggested.wdl) == (False, True, 2, 2)
    assert set(best.moves) < set(suggested.moves)


def test_among_draws_the_engine_chooses(tables: Path) -> None:
    found = asked(tables, PAWN_ENDING)
    assert found is not None
    assert (found.wdl, found.choice) == (0, True)
    assert len(found.moves) > 1


def test_what_is_not_in_the_tables_has_no_move(tables: Path) -> None:
    assert asked(tables, "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 1") is None
    assert asked(tables, QUEEN_ENDING, max_pieces=3) is None


def test_without_distances_no_move_is_known(tables: Path, tmp_path: Path) -> None:
    for file in tables.glob("*.rtbw"):
        shutil.copy(file, tmp_path)
    assert asked(tmp_path, ROOK_ENDING) is None


def test_a_damaged_file_is_said_once_and_passed_over(
    tables: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for file in tables.glob("K?vK.rtb?"):
        shutil.copy(file, tmp_path)
    (tmp_path / "KRvK.rtbw").write_bytes(b"no table")
    source = SyzygyTables(SyzygyConfig(enabled=True, paths=(tmp_path,)), EventLog())
    for _ in range(3):
        assert source.find(question(fen=ROOK_ENDING), time.monotonic() + 2.0) is None
    (record,) = caplog.records
    assert "KRvK.rtbw: not a Syzygy file" in record.getMessage()
    caplog.clear()


def with_tables(*folders: Path) -> EngineConfig:
    syzygy = {"enabled": True, "paths": [str(folder) for folder in folders]}
    return EngineConfig.model_validate({"own_book": False, "lichess_bot_tbs": {"syzygy": syzygy}})


def test_a_resolver_with_tables_plays_by_them(tables: Path, hosts: Hosts) -> None:
    resolver = MoveResolver.for_game("abcd1234", with_tables(tables), hosts, lambda answer: None)
    answer = resolver.resolve(question(fen=QUEEN_ENDING))
    assert (answer.moves, answer.source) == (("e1d1",), "syzygy")
    assert resolver.resolve(question()).moves == ()


def test_check_counts_the_tables_and_names_what_is_wrong(tables: Path, tmp_path: Path, hosts: Hosts) -> None:
    (good,) = check_sources([with_tables(tables)], hosts)
    assert (good.works, good.text) == (True, "syzygy: 35 endings of up to 4 men, 35 with distances")
    (empty,) = check_sources([with_tables(tmp_path)], hosts)
    assert (empty.works, empty.text) == (False, "syzygy: 0 endings of up to 0 men, 0 with distances")
    for name in ("KQvK", "KRvK", "KBvK", "KNvK", "KPvK"):
        (tmp_path / f"{name}.rtbw").write_bytes(b"no table")
    (bad,) = check_sources([with_tables(tmp_path)], hosts)
    assert not bad.works
    assert bad.text.count("not a Syzygy file") == 3
    assert bad.text.endswith("and 2 more")
