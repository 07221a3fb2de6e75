"""The threads of one search: how they begin, share the nodes, and end."""

import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from engine.facade import Board, Engine, Limits, SearchReport
from engine.search import running_search
from engine.search.search import Search
from tests.patience import until


def search_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("search-")]


def test_several_threads_share_the_nodes_and_end_together() -> None:
    engine = Engine(hash_mb=16)
    engine.set_threads(4)
    search = engine.begin(Limits(nodes=100_000))

    def wait_for_the_others(report: SearchReport) -> None:
        while not any(helper.node_count() for helper in search._helpers):      # busy cores begin late with them
            time.sleep(0.001)

    together = search.run(wait_for_the_others)
    assert 100_000 // 4 < together.report.nodes <= 100_000
    assert together.best_move in Board().legal_moves()
    assert not search_threads()


def test_further_threads_end_at_the_hard_deadline_by_themselves() -> None:
    """With fewer cores than threads they would else keep the cores from the one that is to end them."""
    engine = Engine(hash_mb=1)
    engine.set_threads(3)
    engine.go(Limits(move_time_ms=100), lambda report: until(lambda: not search_threads(), patience_s=20))


@pytest.mark.parametrize("news", ["stop", "ponder_hit"])
def test_all_threads_end_at_a_stop_or_ponder_hit_before_the_main_one_gets_a_turn(news: str) -> None:
    engine = Engine(hash_mb=1)
    engine.set_threads(3)
    engine.set_position(Board().after("e2e3", "b7b6", "d1h5", "c7c6", "h5f7"))     # leaves one legal move
    search = engine.begin(Limits(ponder=True, black_time_ms=100_000_000))

    def tell(report: SearchReport) -> None:
        if report.depth > 1:
            getattr(search, news)()
            until(lambda: not search_threads(), patience_s=20)

    search.run(tell)


def test_with_few_nodes_further_threads_are_not_used() -> None:
    def found(threads: int) -> tuple[int, tuple[str, ...]]:
        engine = Engine(hash_mb=1)
        engine.set_threads(threads)
        report = engine.go(Limits(nodes=1500)).report
        assert report is not None
        return report.nodes, report.pv

    assert found(16) == found(1)


@pytest.mark.parametrize(
    ("limits", "used"),
    [
        (Limits(white_time_ms=500), 1),
        (Limits(white_time_ms=500, ponder=True), 4),
        (Limits(white_time_ms=60_000), 4),
        (Limits(move_time_ms=5), 1),
    ],
)
def test_with_little_time_further_threads_are_not_used(limits: Limits, used: int) -> None:
    """Starting them would take most of it."""
    engine = Engine(hash_mb=1)
    engine.set_threads(4)
    assert 1 + len(engine.begin(limits)._helpers) == used


def test_no_further_thread_is_started_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine with far fewer cores than threads, where each start takes long."""
    started = []

    class SlowThread(threading.Thread):
        def start(self) -> None:
            started.append(self)
            time.sleep(0.05)
            super().start()

    monkeypatch.setattr(running_search, "Thread", SlowThread)
    engine = Engine(hash_mb=1)
    engine.set_threads(64)
    assert engine.go(Limits(move_time_ms=100)).best_move in Board().legal_moves()
    assert len(started) <= 4


def test_no_thread_searches_before_all_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else those that do would keep the cores from the others, and the move would be late."""
    helpers: list[Search] = []

    class SlowThread(threading.Thread):
        def __init__(self, target: Callable[..., None], args: tuple[Any, ...], name: str) -> None:
            super().__init__(target=target, args=args, name=name)
            helpers.append(args[0])

        def start(self) -> None:
            time.sleep(0.01)
            assert [helper.node_count() for helper in helpers] == [0] * len(helpers)
            super().start()

    monkeypatch.setattr(running_search, "Thread", SlowThread)
    engine = Engine(hash_mb=1)
    engine.set_threads(8)
    engine.go(Limits(nodes=20_000))
    assert len(helpers) == 7
    assert any(helper.node_count() for helper in helpers)


def test_a_search_goes_on_with_the_threads_that_the_system_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    class RefusedThread(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(running_search, "Thread", RefusedThread)
    engine = Engine(hash_mb=1)
    engine.set_threads(4)
    assert engine.go(Limits(depth=4)).best_move in Board().legal_moves()


def test_a_search_gives_back_the_memory_of_its_threads() -> None:
    engine = Engine(hash_mb=4)
    engine.set_threads(4)
    assert weakref.ref(engine.begin(Limits(nodes=1000)))() is None
