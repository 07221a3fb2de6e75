"""A state file that is damaged: found when it is used or looked for, and replaced with what is intact."""

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lichessbot.errors import StateFailed
from lichessbot.storage.database import FILE_NAME, Database, read_only
from lichessbot.storage.migrations import MIGRATIONS
from lichessbot.storage.rescue import damage_in
from lichessbot.storage.store import Store
from tests.lichessbot.storage.test_database import ids, put, recorded, written
from tests.patience import until


@pytest.mark.parametrize("damage", ["text", "middle", "foreign"])
def test_a_damaged_file_is_replaced_by_a_new_one_with_its_intact_tables(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / FILE_NAME
    intact = list(map(str, range(2000))) if damage == "middle" else []
    if damage == "text":
        path.write_text("not a database, whatever its name says\n" * 100)
    elif damage == "foreign":
        with closing(sqlite3.connect(path)) as foreign:
            foreign.execute("CREATE TABLE games (something_else)")
    else:
        written(tmp_path, *intact)
        with path.open("r+b") as bytes_:
            bytes_.seek(4096)  # the table `games`
            bytes_.write(b"\xff" * 8192)
    before = path.read_bytes()
    file = Database(tmp_path)
    assert ids(file) == intact
    assert file.read("SELECT * FROM games") == []
    put(file, "new")
    file.close()
    (damaged,) = [record for record in caplog.records if "store.damaged" in record.getMessage()]
    lost = damaged.getMessage().partition(" lost=")[2]
    assert "games" in lost
    assert ("answers" in lost) == (not intact)
    assert path.with_name(f"{FILE_NAME}.damaged").read_bytes()[4096:] == before[4096:]
    assert recorded(tmp_path) == [*intact, "new"]


def put_moves(file: Database) -> None:
    """Write a table of many pages."""
    move = "INSERT INTO moves (game_id, ply, move) VALUES (?, ?, ?)"
    file.write([(move, [(f"game{number:04}", 0, "e2e4" * 100) for number in range(100)])])


def test_of_a_file_that_was_cut_the_tables_before_the_cut_are_taken_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As by a copy that did not end. All was lost, such as who is blocked."""
    with closing(Database(tmp_path)) as file:
        put(file, "before")
        put_moves(file)
    os.truncate(file.path, file.path.stat().st_size - 8192)
    with closing(Database(tmp_path)) as file:
        assert ids(file) == ["before"]
        assert file.read("SELECT * FROM moves") == []
    assert " lost=moves " in caplog.text


def damage_moves(file: Database) -> bytes:
    """Write a table of many pages, damage one of them, and return the file's bytes."""
    put_moves(file)
    file.close()
    (at,) = re.finditer(b"game0050", file.path.read_bytes())
    with file.path.open("r+b") as bytes_:
        bytes_.seek(at.start() // 4096 * 4096)
        bytes_.write(b"\xff" * 4096)
    return file.path.read_bytes()


def test_damage_that_the_start_does_not_meet_is_looked_for_later_and_replaced_at_the_next_write(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = Database(tmp_path)
    put(file, "before")
    before = damage_moves(file)
    file = Database(tmp_path)
    assert ids(file) == ["before"]
    assert file.path.read_bytes()[4096:] == before[4096:], "the start reads only what it needs"
    file.look_for_damage()
    assert "store.damaged" not in caplog.text, "another thread may be using the file"
    put(file, "after")
    assert "lost=moves" in caplog.text
    assert ids(file) == ["before", "after"]
    assert file.read("SELECT * FROM moves") == []
    file.look_for_damage()
    put(file, "last")
    assert caplog.text.count("store.damaged") == 1
    file.close()


def test_damage_that_only_the_readers_of_moves_meet_is_replaced_at_the_next_write(tmp_path: Path) -> None:
    count = "SELECT count(*) FROM games WHERE id = ?"
    with closing(Store(Database(tmp_path))) as store:
        store.note_game("game0001", "eve")
        until(lambda: read_only(tmp_path, count, "game0001") == [(1,)])
        for path in (tmp_path / FILE_NAME, tmp_path / f"{FILE_NAME}-wal"):
            with path.open("r+b") as bytes_:
                bytes_.write(b"\xff" * path.stat().st_size)
        assert store.moves_of("game0001") == ()
        store.note_game("game0002", "eve")
    assert read_only(tmp_path, count, "game0002") == [(1,)]


def test_a_file_whose_damage_was_met_while_it_was_looked_for_is_replaced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = damage_moves(Database(tmp_path))
    file = Database(tmp_path)

    def look(path: Path) -> sqlite3.DatabaseError | None:
        found = damage_in(path)
        assert file.read("SELECT * FROM moves") == []
        return found

    monkeypatch.setattr("lichessbot.storage.rescue.damage_in", look)
    file.look_for_damage()
    put(file, "after")
    file.close()
    assert caplog.text.count("store.damaged") == 1
    assert file.path.with_name(f"{FILE_NAME}.damaged").read_bytes()[4096:] == before[4096:]


def test_a_text_is_a_damaged_file_and_a_missing_file_is_none(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    assert damage_in(path) is None
    path.write_text("no database\n" * 100)
    assert damage_in(path) is not None


@pytest.mark.parametrize("use", ["read", "write", "shrink"])
def test_a_file_is_replaced_once_its_damage_is_met(tmp_path: Path, use: str, caplog: pytest.LogCaptureFixture) -> None:
    file = Database(tmp_path)
    put(file, "before")
    damage_moves(file)
    file = Database(tmp_path)
    everything = ("DELETE FROM moves", [()])
    if use == "read":
        assert file.read("SELECT move FROM moves") == []
    elif use == "write":
        file.write([everything, ("INSERT INTO moves (game_id, ply, move) VALUES ('new', 0, 'e2e4')", [()])])
        assert file.read("SELECT game_id FROM moves") == [("new",)]
    else:
        with pytest.raises(StateFailed):
            file.shrink(0, [everything])
    assert ids(file) == ["before"]
    assert "lost=moves" in caplog.text
    file.close()


def test_the_newest_rows_are_taken_over_while_others_read_the_file(tmp_path: Path) -> None:
    file = Database(tmp_path)
    put(file, "before")
    for newest in ("first", "second"):
        damage_moves(file)
        file = Database(tmp_path)
        with closing(sqlite3.connect(f"{file.path.as_uri()}?mode=ro", uri=True)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM answers").fetchone()
            put(file, newest)  # into the write-ahead log, which stays as long as there is a reader
            assert file.read("SELECT move FROM moves") == []
            assert newest in ids(file)
    assert ids(file) == ["before", "first", "second"]
    assert b"second" in file.path.with_name(f"{FILE_NAME}.damaged-wal").read_bytes()
    file.close()


def test_what_is_intact_is_taken_over_later_if_the_disk_fails_just_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    written(tmp_path, "kept")
    with (tmp_path / FILE_NAME).open("r+b") as bytes_:
        bytes_.seek(4096)
        bytes_.write(b"\xff" * 4096)
    file = Database(tmp_path, ("CREATE TABLE fails (x); no SQL", *MIGRATIONS[1:]))
    with pytest.raises(StateFailed):
        file.read("SELECT * FROM games")
    assert "store.damaged" not in caplog.text
    monkeypatch.setattr(file, "_migrations", MIGRATIONS)
    assert ids(file) == ["kept"]
    assert caplog.text.count("store.damaged") == 1
    file.close()
