"""Fixtures for several packages: a scripted server, a rude engine, a daemon."""

import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from lichessbot import tournaments
from lichessbot.storage.database import Database
from lichessbot.storage.store import Store
from tests.fakes.main_thread import FakeMainThread
from tests.fakes.oracle import Oracle
from tests.fakes.scripted_lichess import ScriptedLichess
from tests.lichessbot.scripted_daemon import TOKEN, Daemon
from tests.lichessbot.tournament_desk import Desk, Hand

_numbers = itertools.count()


@pytest.fixture(autouse=True)
def _untouched_by_other_tests(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test leaves behind is nothing to the next one.

    A daemon that is told nothing else keeps its records in a folder for this test, which is not made before. The log
    tells of a bug that repeats ever more seldom, and other tests have met the same one. What a test has recorded is on
    the disk once the store is closed, however slow the disk is.
    """
    monkeypatch.setenv("XDG_STATE_HOME", f"{tmp_path_factory.getbasetemp()}/state{next(_numbers)}")
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    monkeypatch.setattr("lichessbot.log.event_log._crashes", Counter())
    monkeypatch.setattr("lichessbot.storage.store.CLOSE_WAITS_AT_MOST", timedelta(seconds=60))


@pytest.fixture
def lichess() -> Iterator[ScriptedLichess]:
    """A scripted server on a real socket."""
    server = ScriptedLichess()
    yield server
    server.close()


@pytest.fixture
def oracle() -> Iterator[Oracle]:
    """A scripted server of openings, endgames and evaluations."""
    server = Oracle()
    yield server
    server.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Records in the folder of the test."""
    with closing(Store(Database(tmp_path))) as store:
        yield store


@pytest.fixture
def main_thread(tmp_path: Path) -> Iterator[FakeMainThread]:
    main_thread = FakeMainThread(tmp_path)
    yield main_thread
    main_thread.close()


@pytest.fixture
def no_thread_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next thread cannot be started; the later ones can."""
    failures = [RuntimeError("can't start new thread")]
    start = threading.Thread.start

    def fail_once(thread: threading.Thread) -> None:
        if failures:
            raise failures.pop()
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", fail_once)


@pytest.fixture
def rude_engine() -> Path:
    """A UCI engine that misbehaves as its arguments say."""
    return Path(__file__).parents[1] / "fakes" / "rude_engine.py"


@pytest.fixture
def daemon(lichess: ScriptedLichess, tmp_path: Path) -> Iterator[Daemon]:
    daemon = Daemon(lichess, tmp_path)
    yield daemon
    daemon.stop()
    assert "Traceback" not in daemon.log
    assert TOKEN not in daemon.log


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    hand = Hand()
    monkeypatch.setattr(tournaments, "time", hand)
    return Desk(hand)
