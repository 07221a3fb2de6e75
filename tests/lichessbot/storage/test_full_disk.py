"""What waits for a full disk is limited; what matters least is lost first, and told."""

import errno
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from lichessbot.errors import StateFailed, StateLocked
from lichessbot.storage import store as store_room
from lichessbot.storage.database import Database, read_only
from lichessbot.storage.game_records import ChatRecord, MoveRecord, played, said
from lichessbot.storage.store import LimitedAction, Store
from lichessbot.storage.tables import Table
from tests.patience import until

QUICKLY = timedelta(milliseconds=20)
MOST = 50


class FullDisk(Database):
    is_full = True

    def write(self, statements):  # type: ignore[no-untyped-def]
        if self.is_full:
            raise StateFailed("no space left")
        super().write(statements)


def block(store: Store, player: str) -> None:
    store.add(Table.BLOCKED_PLAYERS, id=player, blocked_at=1.0)


def log_after_outage(folder: Path, caplog: pytest.LogCaptureFixture, write: Callable[[Store], object]) -> str:
    """Return the line that tells that the disk works again, after the first of two outages."""
    caplog.set_level(logging.INFO)
    file = FullDisk(folder)
    began = time.monotonic()
    with closing(Store(file, QUICKLY)) as store:
        until(lambda: "store.failed" in caplog.text)
        failure = store.failure
        assert began <= failure[0] <= time.monotonic()
        assert failure[1] == "no space left"
        write(store)
        assert store.note_done("game", LimitedAction.GREETING).wait(60), "after all other notes"
        assert store.failure == failure, "since the first failure"
        file.is_full = False
        until(lambda: "store.works_again" in caplog.text)
        assert store.failure is None
        file.is_full = True
        store.note_done("game", LimitedAction.GREETING)
        until(lambda: store.failure is not None)
        file.is_full = False
        until(lambda: store.failure is None)
    messages = [record.getMessage() for record in caplog.records]
    first, second = (it for it in messages if it.startswith("store.works_again"))
    assert second == "store.works_again", "what the first outage cost is not told again"
    return first


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_room, "_MOST_UNWRITTEN", MOST)


def test_moves_chat_and_counts_are_lost_before_games_and_commands(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The moves of a day pushed out whom the operator had blocked, in silence."""

    def write(store: Store) -> None:
        block(store, "first")
        for game in range(10):
            store.note_game(f"game{game}", "ada")
            for ply in range(1, 21):
                store.record(played(f"game{game}", [MoveRecord(ply, "e2e4")]))
                store.record(said(f"game{game}", ChatRecord(1.0, "player", "ada", "hi")))
                store.note_played(ply, "e2e4")
        block(store, "last")

    line = log_after_outage(tmp_path, caplog, write)
    assert read_only(tmp_path, "SELECT id FROM blocked_players ORDER BY rowid") == [("first",), ("last",)]
    assert read_only(tmp_path, "SELECT count(*) FROM games") == [(10,)]
    lines = read_only(tmp_path, "SELECT (SELECT count(*) FROM moves) + (SELECT count(*) FROM chat)")[0][0]
    assert 0 < lines <= MOST - 13
    assert read_only(tmp_path, "SELECT DISTINCT game_id FROM moves") == [("game9",)], "the latest"
    notes = 2 + 10 * (1 + 20 * 3)
    assert line == f"store.works_again lost={notes + 2 - MOST}", "with the tidying at the start and the greeting"


def test_the_oldest_are_lost_if_all_matter(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def write(store: Store) -> None:
        for number in range(MOST + 10):
            block(store, f"player{number:02}")

    line = log_after_outage(tmp_path, caplog, write)
    kept = [player for (player,) in read_only(tmp_path, "SELECT id FROM blocked_players ORDER BY rowid")]
    assert kept == [f"player{number:02}" for number in range(11, MOST + 10)]
    assert line == "store.works_again lost=12"


def test_nothing_is_told_if_nothing_is_lost(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert log_after_outage(tmp_path, caplog, lambda store: block(store, "ada")) == "store.works_again"
    assert read_only(tmp_path, "SELECT id FROM blocked_players") == [("ada",)]


def test_a_full_disk_does_not_weaken_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", refuse)
        first = Database(tmp_path)
    with closing(first), pytest.raises(StateLocked, match="is in use: stop that daemon first"):
        Database(tmp_path)
    assert "store.no_lock" not in caplog.text


def test_a_disk_that_fails_while_the_file_is_made_smaller_is_no_bug(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StateFailed("no space left")

    monkeypatch.setattr(Database, "shrink", fail)
    with closing(Store(Database(tmp_path), QUICKLY)) as store:
        until(lambda: "store.failed" in caplog.text)
        until(lambda: store.failure is None)
    assert "crashed" not in caplog.text


def test_records_that_a_slow_disk_has_not_written_at_the_end_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file, may_write = Database(tmp_path), threading.Event()
    monkeypatch.setattr(file, "write", lambda _: may_write.wait(60))
    monkeypatch.setattr(store_room, "CLOSE_WAITS_AT_MOST", timedelta(0))
    store = Store(file, QUICKLY)
    try:
        store.close()
        assert "store.too_slow" in caplog.text
    finally:
        may_write.set()
        store._writer.join(60)
        file.close()
