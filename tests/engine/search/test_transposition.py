"""The table from a caller's view."""

import mmap

import pytest

from engine.facade import Board, Engine, Limits
from engine.search import transposition
from engine.search.transposition import TranspositionTable


def test_a_new_table_is_empty_and_a_search_fills_it() -> None:
    engine = Engine(hash_mb=1)
    result = engine.go(Limits(nodes=300_000))
    assert result.report is not None
    assert result.report.hashfull > 20
    engine.new_game()
    assert TranspositionTable(1).hashfull() == 0
    result = engine.go(Limits(depth=1))
    assert result.report is not None
    assert result.report.hashfull < 10


def test_a_size_no_machine_has_is_refused_and_the_old_table_stays() -> None:
    engine = Engine(hash_mb=1)
    with pytest.raises(MemoryError, match="hash table"):
        engine.resize_hash(1 << 40)
    assert engine.go(Limits(depth=3)).best_move in Board().legal_moves()


def test_a_new_game_needs_no_memory_beyond_the_table_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(hash_mb=2)
    engine.go(Limits(nodes=5_000))
    monkeypatch.setattr(transposition, "available_mb", lambda: 1)
    engine.new_game()
    with pytest.raises(MemoryError, match="only 1 MiB are free"):
        engine.resize_hash(2)


def test_what_was_found_is_used_again() -> None:
    """A principal variation that turns out otherwise may cost one depth much: they are counted together."""
    first = again = 0
    for depth in (8, 9, 10, 11):
        engine = Engine(hash_mb=16)
        first += engine.go(Limits(depth=depth)).report.nodes
        again += engine.go(Limits(depth=depth)).report.nodes
    assert again < first / 2


def test_a_kernel_without_huge_pages_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(mmap.mmap):
        def madvise(self, *args: int) -> None:
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(mmap, "mmap", Plain)
    assert TranspositionTable(1).hashfull() == 0
