"""What survives a restart, and that a bad disk costs records but no time."""

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from lichessbot.errors import StateFailed, StateNewer
from lichessbot.storage import store as store_room
from lichessbot.storage.database import FILE_NAME, Database
from lichessbot.storage.game_records import MoveRecord, played
from lichessbot.storage.migrations import MIGRATIONS
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import ROUND_TRIPS_KEPT, LimitedAction, Store
from lichessbot.storage.tables import Table
from tests.patience import PATIENCE_S, until

QUICKLY = timedelta(milliseconds=20)
LARGE_KEY = 0xF00D_0000_0000_0010      # of a position


class SlowFile(Database):
    """A file on a slow or failing disk."""

    refusing = False

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.ready = threading.Event()
        self.ready.set()

    def write(self, statements):  # type: ignore[no-untyped-def]
        self.ready.wait(PATIENCE_S)
        if self.refusing:
            raise StateFailed("no space left")
        super().write(statements)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SlowFile]:
    file = SlowFile(tmp_path)
    yield file
    file.ready.set()
    # A store gives up waiting for a slow disk, but SQLite does not survive a connection that is closed while it writes.
    for writer in (thread for thread in threading.enumerate() if thread.name == "store"):
        writer.join(PATIENCE_S)
    file.close()


def count(folder: Path, table: str) -> int:
    """Read the file as another process would."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])",
            str(folder / FILE_NAME),
            f"SELECT count(*) FROM {table}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def test_limited_actions_survive_a_restart(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        assert store.times_done("game1", LimitedAction.GREETING) == 0
        store.note_done("game1", LimitedAction.GREETING)
        store.note_done("game1", LimitedAction.DRAW_OFFER)
        store.note_done("game1", LimitedAction.DRAW_OFFER)
    with closing(Store(Database(tmp_path))) as store:
        assert store.times_done("game1", LimitedAction.GREETING) == 1
        assert store.times_done("game1", LimitedAction.DRAW_OFFER) == 2
        assert store.times_done("game2", LimitedAction.GREETING) == 0


def test_a_limited_action_is_on_the_disk_before_it_is_done(file: SlowFile, tmp_path: Path) -> None:
    with closing(Store(file)) as store:
        file.ready.clear()
        recorded = store.note_done("game1", LimitedAction.GREETING)
        assert not recorded.wait(0.2)
        file.ready.set()
        assert recorded.wait(PATIENCE_S)
        assert count(tmp_path, "deeds") == 1


def test_a_limited_action_does_not_wait_for_a_disk_that_fails(file: SlowFile) -> None:
    with closing(Store(file)) as store:
        file.refusing = True
        for _ in range(2):
            assert store.note_done("game1", LimitedAction.GREETING).wait(PATIENCE_S)


def test_only_answers_that_arrived_survive_a_restart(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        store.note_answering("arrived")
        store.note_answered("arrived")
        store.note_answering("on its way")
        store.note_answering("failed")
        store.forget_answer("failed")
        assert [store.answered(it) for it in ("arrived", "on its way", "failed")] == [True, True, False]
    with closing(Store(Database(tmp_path))) as store:
        assert [store.answered(it) for it in ("arrived", "on its way", "failed")] == [True, False, False]


def test_a_game_joined_twice_is_one_game(file: SlowFile, tmp_path: Path) -> None:
    with closing(Store(file)) as store:
        store.note_game("game1", "Ferdinand")
        store.note_game("game1", "Ferdinand")
        store.note_game("game2", "half a \ud83d character")
    assert count(tmp_path, "games") == 2


def test_the_latest_round_trips_come_oldest_first(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        for number in range(ROUND_TRIPS_KEPT + 50):
            store.note_round_trip(float(number))
        assert store.round_trips(3) == (1047.0, 1048.0, 1049.0)
    with closing(Store(Database(tmp_path))) as store:
        assert store.round_trips(3) == (1047.0, 1048.0, 1049.0)
        assert len(store.round_trips(10_000)) == ROUND_TRIPS_KEPT
        until(lambda: count(tmp_path, "round_trips") == ROUND_TRIPS_KEPT)


def test_each_round_trip_is_written_once(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        for number in range(50):
            store.note_round_trip(float(number))
    with closing(Store(Database(tmp_path))) as store:
        assert store.round_trips(100) == tuple(map(float, range(50)))


def test_memories_keep_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_room, "_MOST_REMEMBERED", 3)
    for _ in range(2):
        with closing(Store(Database(tmp_path))) as store:
            for number in range(5):
                store.note_done(f"game{number}", LimitedAction.GREETING)
                store.note_answering(f"challenge{number}")
                store.note_answered(f"challenge{number}")
                store.note_played(number, "e2e4")
                store.note_chosen_level(f"game{number}", 3)
            newest = [False, False, True, True, True]
            assert [store.times_done(f"game{it}", LimitedAction.GREETING) > 0 for it in range(5)] == newest
            assert [store.answered(f"challenge{it}") for it in range(5)] == newest
            assert [bool(store.times_played(it)) for it in range(5)] == newest
            assert [store.chosen_level(f"game{it}") == 3 for it in range(5)] == newest


def test_player_lists_survive_a_restart(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        for names in ({"old"}, {"ada", "bob"}):
            store.note_player_list(PlayerList("https://example.org/list", frozenset(names), "tag"))
    with closing(Store(Database(tmp_path))) as store:
        (fetched,) = store.player_lists.values()
        assert (fetched.names, fetched.etag) == ({"ada", "bob"}, "tag")


# By table: its rows, and for how many days they are kept after the last value.
KEPT = {
    "games (id, opponent, joined_at, left_at) VALUES (?, 'ada', 0, ?)": 1095,
    "challenges (id, received_at, challenger, is_bot, variant, speed, terms, has_clock, answer, reason, rule, because) "
    "VALUES (?, ?, 'ada', 1, 'standard', 'blitz', '3+0', 1, 'accepted', '', '', '')": 90,
    "deeds (game_id, deed, done_at) VALUES (?, 'greeting', ?)": 365,
    "answers (challenge_id, answered_at) VALUES (?, ?)": 2,
    "bot_games (id, opponent, speed, ours, began_at) VALUES (?, 'ada', 'blitz', 1, ?)": 365,
    "sent_challenges (id, cost, sent_at) VALUES (?, 1, ?)": 2,
    "rests (opponent, subject, times, until) VALUES (?, 'later', 1, ?)": 60,
    "declines (opponent, terms, reason, declined_at) VALUES (?, '3+0', 'later', ?)": 1095,
}


@pytest.mark.parametrize(("row", "days"), KEPT.items(), ids=lambda it: str(it).partition(" ")[0])
def test_rows_are_kept_for_their_time_and_no_longer(tmp_path: Path, row: str, days: int) -> None:
    limit = time.time() - timedelta(days=days).total_seconds()
    with closing(Store(Database(tmp_path))) as store:
        for name, at in (("old", limit - 60), ("new", limit + 60)):
            store.record((f"INSERT INTO {row}", [(name, at)]))
        store.note_game("newest", "ada")
    table, column = row.split(" (")[0], row.partition("(")[2].partition(",")[0]
    with closing(Store(Database(tmp_path))):
        until(lambda: count(tmp_path, f"{table} WHERE {column} = 'old'") == 0)
        assert count(tmp_path, f"{table} WHERE {column} = 'new'") == 1


def test_round_trips_are_written_twenty_at_a_time(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        for number in range(39):
            store.note_round_trip(float(number))
        assert store.note_done("later", LimitedAction.GREETING).wait(PATIENCE_S)
        assert count(tmp_path, "round_trips") == 20
        store.note_round_trip(39.0)
        until(lambda: count(tmp_path, "round_trips") == 40)


def test_the_rows_of_an_owner_are_there_after_a_restart_oldest_first(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        store.add(Table.TOURNAMENTS, id="first123")
        store.add(Table.TOURNAMENTS, id="abcd1234")
        store.replace(Table.TOURNAMENTS, id="last1234", team="coders", password="sesame")
        store.delete(Table.TOURNAMENTS, id="abcd1234")
    with closing(Store(Database(tmp_path))) as store:
        rows = [("first123", None, None), ("last1234", "coders", "sesame")]
        assert list(store.remembered(Table.TOURNAMENTS)) == rows


def test_without_a_disk_no_moves_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*given: object) -> None:
        raise StateFailed("no disk")

    with closing(Store(Database(tmp_path))) as store:
        monkeypatch.setattr(store_room, "read_only", fail)
        assert list(store.moves_of("game1")) == []
    assert [record.getMessage().partition(" ")[0] for record in caplog.records] == ["store.failed"]


def test_moves_are_read_from_the_disk(tmp_path: Path) -> None:
    moves = [MoveRecord(1, "e2e4"), MoveRecord(2, "e7e5")]
    with closing(Store(Database(tmp_path))) as store:
        store.record(played("game1", moves), played("game2", moves[:1]))
        assert store.note_done("game1", LimitedAction.GREETING).wait(PATIENCE_S)
        assert list(store.moves_of("game1")) == moves


def test_rematches_in_a_row_are_counted_once_and_up_to_a_limit(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        for number in range(1, 40):
            for _ in range(2):
                store.note_rematch(f"game{number}", of=f"game{number - 1}")
        counts = [store.times_done(f"game{number}", LimitedAction.REMATCH) for number in range(40)]
        assert counts == [min(number, store_room.MOST_REMATCHES_COUNTED) for number in range(40)]


def test_only_so_many_games_are_left_over_for_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_room, "_MOST_LEFT_OVER", 2)
    with closing(Store(Database(tmp_path))) as store:
        for number in range(4):
            store.note_game(f"game{number}", "Ferdinand")
    with closing(Store(Database(tmp_path))) as store:
        assert [game_id for game_id, _ in store.left_over] == ["game3", "game2"]


def test_a_bug_loses_the_notes_at_hand_is_logged_and_nothing_else(
    file: SlowFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(Store(file)) as store:
        assert store.note_done("game1", LimitedAction.GREETING).wait(PATIENCE_S)
        with monkeypatch.context() as bug:
            bug.setattr(file, "write", lambda statements: 1 / 0)
            assert store.note_done("game2", LimitedAction.GREETING).wait(PATIENCE_S)
        assert store.note_done("game3", LimitedAction.GREETING).wait(PATIENCE_S)
        assert count(tmp_path, "deeds") == 2
    (record,) = (it for it in caplog.records if it.getMessage().startswith("store.crashed"))
    assert "lost=1" in record.getMessage()
    assert record.exc_info is not None


def test_unfinished_games_are_left_over_for_the_next_process(tmp_path: Path) -> None:
    for _ in range(2):
        with closing(Store(Database(tmp_path))) as store:
            for game_id in ("one", "two", "three"):
                store.note_game(game_id, "Ferdinand")
            store.note_game("of days", "Ferdinand", has_clock=False)
            store.note_left("one")
            until(lambda: count(tmp_path, "games WHERE left_at IS NULL") == 3)
    for _ in range(2):  # a process that ends at once forgets nothing
        with closing(Store(Database(tmp_path))) as store:
            assert store.left_over == [("three", "Ferdinand"), ("two", "Ferdinand")]
            assert store.left_over_by_days == [("of days", "Ferdinand")]


def test_moves_are_counted_by_position_across_restarts(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        for position, move in ((1, "e2e4"), (2, "e2e4"), (1, "e2e4"), (1, "d2d4"), (LARGE_KEY, "d2d4")):
            store.note_played(position, move)
    for _ in range(2):
        with closing(Store(Database(tmp_path))) as store:
            found = [store.times_played(position) for position in (1, 2, LARGE_KEY, 4)]
            assert found == [{"e2e4": 2, "d2d4": 1}, {"e2e4": 1}, {"d2d4": 1}, {}]


def test_a_slow_disk_does_not_delay_a_game(file: SlowFile, tmp_path: Path) -> None:
    with closing(Store(file)) as store:
        store.note_game("before", "Ferdinand")
        file.ready.clear()
        store.note_done("game1", LimitedAction.GREETING)
        store.record(played("game1", [MoveRecord(1, "e2e4")]))
        assert count(tmp_path, "deeds") == 0, "no caller waits for the disk"
        file.ready.set()
        until(lambda: count(tmp_path, "deeds") == 1)


def test_a_full_disk_is_logged_once_and_the_notes_are_written_later(
    file: SlowFile, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with closing(Store(file, QUICKLY)) as store:
        file.refusing = True
        store.note_done("game1", LimitedAction.GREETING)
        until(lambda: "store.failed" in caplog.text)
        file.ready.clear()
        started_at = time.monotonic()
        for number in range(200):
            store.note_done(f"game{number}", LimitedAction.DRAW_OFFER)
        assert time.monotonic() - started_at < PATIENCE_S, "no caller waits for a disk known to fail"
        file.ready.set()
        assert store.times_done("game1", LimitedAction.GREETING) == 1
        time.sleep(5 * QUICKLY.total_seconds())
        file.refusing = False
        until(lambda: "store.works_again" in caplog.text)
        until(lambda: count(tmp_path, "deeds") == 201)
        assert caplog.text.count("store.failed") == 1
        store.note_done("game2", LimitedAction.GREETING).wait(PATIENCE_S)
        assert caplog.text.count("store.works_again") == 1
        file.refusing = True
        store.note_done("game3", LimitedAction.GREETING)
        until(lambda: caplog.text.count("store.failed") == 2)


def test_an_unusable_folder_leaves_the_memory_working(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "taken").write_text("")
    with closing(Store(Database(tmp_path / "taken" / "state"))) as store:
        store.note_done("game1", LimitedAction.GREETING)
        assert store.times_done("game1", LimitedAction.GREETING) == 1
    assert caplog.text.count("store.failed") == 1
    assert "blocked players, are unknown until a restart" in caplog.text


def test_the_whole_file_is_checked_after_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = Database(tmp_path)
    large = "a table that is not read at the start"
    file.write([("INSERT INTO chat VALUES ('game1', 0, 'player', 'Someone', ?)", [(large * 1000,)])])
    file.close()
    with file.path.open("r+b") as bytes_:
        page = file.path.read_bytes().rindex(large.encode()) // 4096
        bytes_.seek((page - 3) * 4096)
        bytes_.write(b"\xff" * 4 * 4096)

    def is_replaced() -> bool:
        return store.note_done("game1", LimitedAction.GREETING).wait(PATIENCE_S) and "lost=chat" in caplog.text

    with closing(Store(Database(tmp_path))) as store:
        until(is_replaced)


def test_a_newer_file_prevents_the_start(tmp_path: Path) -> None:
    file = Database(tmp_path, (*MIGRATIONS, "CREATE TABLE future (x)"))
    file.read("SELECT 1")
    file.close()
    file = Database(tmp_path)
    with pytest.raises(StateNewer):
        Store(file)
    file.close()
