"""Syzygy probing on a slow disk: the clock and `stop` count between two probes."""

import time
from pathlib import Path

import pytest

from engine.board import Board
from engine.facade import Engine, Limits
from engine.search.history import History
from engine.search.running_search import ROOT_PROBE_MS
from engine.search.search import Search
from engine.search.time_manager import TimeManager
from engine.search.transposition import TranspositionTable
from engine.syzygy.tablebase import Tablebase


def test_a_search_looks_at_the_clock_after_each_probe(tables: Path) -> None:
    """A slow disk takes longer for a probe than the search for a thousand nodes."""
    position = Board("8/8/8/8/4k3/8/8/K2Rr3 w - - 0 1").position
    prober = Tablebase([tables]).prober(position)
    search = Search(position, TranspositionTable(1), History(), TimeManager(1, 1), prober=prober)
    search.run(12)
    assert search.was_stopped()
    assert prober.hits == 1
    assert search.node_count() < 1024


def test_a_report_that_comes_late_is_given_up(tables: Path) -> None:
    board = Board("8/8/8/3k4/8/8/8/KQ6 w - - 0 1")
    asked: list[bool] = []

    def is_late() -> bool:
        asked.append(True)
        return len(asked) > 10

    assert Tablebase([tables]).report(board, is_late) is None
    assert len(asked) == 12            # with distances, and without
    assert Tablebase([tables]).report(board, lambda: False) == Tablebase([tables]).report(board)


class Late:
    """The clock of a search that begins a second after its deadline, as on a busy machine."""

    def late_ms(self) -> int:
        return 1000

    def elapsed_ms(self) -> int:
        return 1001


def test_a_search_that_begins_late_still_asks_the_tables(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    engine.set_tablebase(Tablebase([tables]))
    engine.set_position(Board("8/8/8/8/3k4/8/1P6/1K6 w - - 0 1"))
    search = engine.begin(Limits(move_time_ms=1))
    monkeypatch.setattr(search, "_time_manager", Late())
    search._probe_root()
    assert search._root_report.wdl == 2


@pytest.mark.parametrize("limits", [Limits(infinite=True), Limits(move_time_ms=1)], ids=["stop", "the clock"])
def test_a_slow_disk_delays_no_move(tables: Path, monkeypatch: pytest.MonkeyPatch, limits: Limits) -> None:
    engine = Engine()
    engine.set_tablebase(Tablebase([tables]))
    engine.set_position(Board("8/8/8/3k4/8/8/8/KQ6 w - - 0 1"))
    probes: list[bool] = []

    def slow(prober: object, wdl: int) -> int:
        probes.append(True)
        if limits.infinite:
            search.stop()
        else:
            time.sleep(2 * ROOT_PROBE_MS / 1000)
        return 0

    monkeypatch.setattr("engine.syzygy.tablebase._DtzProber._stored_plies", slow)
    search = engine.begin(limits)
    assert search.run().best_move is not None
    assert len(probes) <= 1, "none if the machine itself is slow"
