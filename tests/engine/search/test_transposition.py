"""The transposition table."""

import mmap
import sys

import pytest

from engine.facade import Board, Engine, Limits
from engine.search import transposition
from engine.search.transposition import TranspositionTable
from tests.scripts import run_python


def test_a_new_table_is_empty_and_a_search_fills_it() -> None:
    engine = Engine(hash_mb=1)
    assert TranspositionTable(1).hashfull() == 0
    assert engine.go(Limits(nodes=300_000)).report.hashfull > 20
    engine.new_game()
    assert engine.go(Limits(depth=1)).report.hashfull < 10


EVALUATIONS = """
from collections import Counter
from engine.facade import Board, Engine, Limits
from engine.search.search_stack import SearchStack

evaluated = Counter()
evaluate = SearchStack.evaluate

def count(stack, ply):
    evaluated[stack.position.key] += 1
    return evaluate(stack, ply)

SearchStack.evaluate = count
engine = Engine(hash_mb=4)
engine.set_evaluation("none")
engine.set_position(Board("r3k2r/1ppb1p1p/p1n1p1p1/4P3/P5PP/2N2N2/1PP5/R1K2R2 w kq - 1 12"))
engine.go(Limits(depth=7))
print(len(evaluated), max(evaluated.values()))
"""


def test_no_position_is_evaluated_twice() -> None:
    positions, most = map(int, run_python(EVALUATIONS, ENGINE_PURE="1").split())
    assert positions > 1000
    assert most == 1


def test_too_large_a_table_is_refused_and_the_old_one_stays() -> None:
    engine = Engine(hash_mb=1)
    with pytest.raises(MemoryError, match="hash table"):
        engine.resize_hash(1 << 40)
    assert engine.go(Limits(depth=3)).best_move in Board().legal_moves()


def test_a_new_game_needs_no_further_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(hash_mb=2)
    engine.go(Limits(nodes=5_000))
    monkeypatch.setattr(transposition, "available_mb", lambda: 1)
    engine.new_game()
    with pytest.raises(MemoryError, match="only 1 MiB are free"):
        engine.resize_hash(3)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone empties memory in place")
def test_a_table_is_emptied_although_the_system_grants_no_second_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    engine = Engine(hash_mb=1)
    assert engine.go(Limits(nodes=300_000)).report.hashfull > 20
    with monkeypatch.context() as patched:
        patched.setattr(mmap, "mmap", refuse)
        engine.new_game()
    assert engine.go(Limits(depth=1)).report.hashfull < 10


def test_a_table_can_be_made_smaller_when_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(hash_mb=8)
    monkeypatch.setattr(transposition, "available_mb", lambda: 1)
    engine.resize_hash(4)
    with pytest.raises(MemoryError, match="only 1 MiB are free"):
        engine.resize_hash(8)


def test_a_repeated_search_visits_fewer_nodes() -> None:
    """Summed over several depths, because a changed principal variation can make one of them expensive."""
    first = again = 0
    for depth in (8, 9, 10, 11):
        engine = Engine(hash_mb=16)
        first += engine.go(Limits(depth=depth)).report.nodes
        again += engine.go(Limits(depth=depth)).report.nodes
    assert again < first / 2


def test_a_table_is_emptied_although_the_kernel_ignores_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    class Deaf(mmap.mmap):
        def madvise(self, *args: int) -> None:
            pass

    with monkeypatch.context() as patched:
        patched.setattr(mmap, "mmap", Deaf)
        engine = Engine(hash_mb=1)
        assert engine.go(Limits(nodes=300_000)).report.hashfull > 20
        engine.new_game()
        assert engine.go(Limits(depth=1)).report.hashfull < 10


def test_a_kernel_without_huge_pages_works(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(mmap.mmap):
        def madvise(self, *args: int) -> None:
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(mmap, "mmap", Plain)
    assert TranspositionTable(1).hashfull() == 0
