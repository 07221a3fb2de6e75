"""The SQLite file: locked, migrated after a copy, refused if newer, replaced if gone."""

import errno
import fcntl
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from lichessbot.config import EngineConfig
from lichessbot.errors import StateFailed, StateLocked, StateNewer
from lichessbot.storage import database, rescue
from lichessbot.storage.database import (
    FILE_NAME,
    LOCK_NAME,
    Database,
    in_use,
    newer_than_ours,
    older_than_ours,
    owner,
    write_beside,
)
from lichessbot.storage.migrations import MIGRATIONS
from lichessbot.uci.engine_process import start

PYTHON = (sys.executable, "-P", "-c")
TIMEOUT_S = 120.0
NEXT_SCHEMA = (*MIGRATIONS, "ALTER TABLE games ADD COLUMN of_the_future INTEGER")
INSERT = "INSERT INTO answers (challenge_id, answered_at) VALUES (?, ?)"
# Says `n` after each row that is safe.
WRITE_FOREVER = """
import sys
from pathlib import Path
from lichessbot.storage.database import Database
file = Database(Path(sys.argv[1]))
for number in range(1_000_000):
    file.write([("INSERT INTO answers (challenge_id, answered_at) VALUES (?, ?)", [(str(number), 0.0)])])
    print(number, flush=True)
"""
WRITE_BESIDE = f"""
import sys
from pathlib import Path
from lichessbot.storage.database import write_beside
write_beside(Path(sys.argv[1]), ("{INSERT}", [("c", 0.0)]))
"""
# Leaves what it wrote in the write-ahead log.
WRITE_AND_BE_KILLED = f"""
import os, signal, sys
from pathlib import Path
from lichessbot.storage.database import Database
from lichessbot.storage.migrations import MIGRATIONS
file = Database(Path(sys.argv[1]), (*MIGRATIONS, sys.argv[2]))
file.write([({INSERT!r}, [("b", 0.0)])])
os.kill(os.getpid(), signal.SIGKILL)
"""


def put(file: Database, *ids: str) -> None:
    file.write([(INSERT, [(challenge_id, 0.0) for challenge_id in ids])])


def ids(file: Database) -> list[str]:
    return [row[0] for row in file.read("SELECT challenge_id FROM answers ORDER BY rowid")]


def written(folder: Path, *challenge_ids: str, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Have a process of its own write these."""
    with closing(Database(folder, migrations)) as file:
        put(file, *challenge_ids)


def recorded(folder: Path) -> list[str]:
    """Return what the next process finds."""
    with closing(Database(folder)) as file:
        return ids(file)


def test_records_survive_the_process(tmp_path: Path) -> None:
    written(tmp_path, "a", "b")
    assert recorded(tmp_path) == ["a", "b"]


def test_only_the_owner_can_read_the_folder(tmp_path: Path) -> None:
    written(tmp_path / "state", "a")
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_only_the_owner_can_read_the_file_in_a_folder_that_is_open_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o755)
    (folder / FILE_NAME).touch(0o644)
    with closing(Database(folder)) as file:
        file.write([("INSERT INTO tournaments (id, team, password) VALUES ('x', NULL, 'secret')", [()])])
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert set(modes.values()) == {0o600}, modes


def test_every_acknowledged_row_survives_a_kill(tmp_path: Path) -> None:
    for wanted in (1, 7, 40):
        folder = tmp_path / str(wanted)
        with subprocess.Popen([*PYTHON, WRITE_FOREVER, str(folder)], stdout=subprocess.PIPE, text=True) as writer:
            safe = [writer.stdout.readline().strip() for _ in range(wanted)]
            writer.kill()
            safe += writer.stdout.read().split()
        found = recorded(folder)
        assert found[: len(safe)] == safe
        assert len(found) - len(safe) <= 1, "at most the row under way"


def test_a_second_daemon_is_refused_with_the_process_of_the_first(tmp_path: Path) -> None:
    file = Database(tmp_path)
    with pytest.raises(StateLocked, match=f"in use by process {os.getpid()}: stop that daemon first.*state_dir"):
        Database(tmp_path)
    file.close()
    Database(tmp_path).close()


def test_a_command_that_looks_whether_a_daemon_runs_does_not_keep_one_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Database(tmp_path).close()
    look = os.open(tmp_path / LOCK_NAME, os.O_RDONLY)
    fcntl.flock(look, fcntl.LOCK_SH)
    monkeypatch.setattr(database, "time", SimpleNamespace(sleep=lambda _: os.close(look)))
    Database(tmp_path).close()


def test_a_folder_that_cannot_be_locked_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(file: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    Database(tmp_path).close()
    assert "store.no_lock" in caplog.text
    assert not in_use(tmp_path), "as far as a command can see"


def test_a_lock_may_lack_the_process_id_as_on_a_full_disk(tmp_path: Path) -> None:
    with closing(Database(tmp_path)):
        (tmp_path / LOCK_NAME).write_text("")
        assert in_use(tmp_path)
        assert owner(tmp_path) is None


def test_a_killed_daemon_leaves_no_lock_behind(tmp_path: Path) -> None:
    with subprocess.Popen([*PYTHON, WRITE_FOREVER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        writer.stdout.readline()
        with pytest.raises(StateLocked, match=f"process {writer.pid}:"):
            Database(tmp_path)
        writer.kill()
    Database(tmp_path).close()
    assert (tmp_path / LOCK_NAME).read_text() == f"{os.getpid()}\n"


def test_an_engine_does_not_inherit_the_lock(tmp_path: Path) -> None:
    file = Database(tmp_path)
    with start(EngineConfig(command=("sleep", "60"))) as child:
        file.close()
        Database(tmp_path).close()
        child.kill()


def test_a_migration_keeps_a_copy_of_the_old_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    written(tmp_path, "a")
    kept = tmp_path / f"{FILE_NAME}.schema{len(MIGRATIONS)}"
    kept.with_name(f"{kept.name}.unfinished").write_bytes(b"of a daemon that was killed" * 1000)
    new = Database(tmp_path, NEXT_SCHEMA)
    assert ids(new) == ["a"]
    assert new.read("SELECT of_the_future FROM games") == []
    put(new, "b")
    new.close()
    assert "store.migrate_without_copy" not in caplog.text
    assert kept.stat().st_mode & 0o077 == 0, "it may hold passwords"
    with closing(sqlite3.connect(kept)) as copy:
        assert copy.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        assert copy.execute("SELECT challenge_id FROM answers").fetchall() == [("a",)]


def test_of_several_migrations_only_the_copy_of_the_last_one_is_kept(tmp_path: Path) -> None:
    written(tmp_path, "a")
    for number in (1, 2, 3):
        written(tmp_path, f"b{number}", migrations=(*NEXT_SCHEMA, *["SELECT 1"] * number))
    assert [it.name for it in tmp_path.glob(f"{FILE_NAME}.schema*")] == [f"{FILE_NAME}.schema{len(NEXT_SCHEMA) + 2}"]


@pytest.mark.parametrize("is_seen", [True, False], ids=["little room", "a quota"])
def test_a_disk_without_room_for_a_copy_gets_no_copy_but_is_migrated(
    tmp_path: Path, is_seen: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fill_disk(path: Path, _: sqlite3.Connection) -> None:
        path.write_bytes(b"some of it")
        raise OSError(errno.EDQUOT, "a quota")

    written(tmp_path, "a")
    if is_seen:
        free = (16 << 20) + 4096         # the file has more pages than one, and 16 MiB are left alone
        monkeypatch.setattr(rescue.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    else:
        monkeypatch.setattr(rescue, "copy_to", fill_disk)
    new = Database(tmp_path, NEXT_SCHEMA)
    assert ids(new) == ["a"]
    put(new, "b")
    new.close()
    assert not list(tmp_path.glob(f"{FILE_NAME}.schema*"))
    assert "store.migrate_without_copy" in caplog.text


def test_records_are_not_migrated_without_a_copy_on_a_disk_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, _: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    written(tmp_path, "a")
    new = Database(tmp_path, NEXT_SCHEMA)
    with monkeypatch.context() as failing:
        failing.setattr(rescue, "copy_to", fail)
        with pytest.raises(StateFailed, match="disk I/O error"):
            new.read("SELECT of_the_future FROM games")
    new.close()
    assert recorded(tmp_path) == ["a"]


def test_a_file_that_is_opened_again_stays_locked_while_others_read_it(tmp_path: Path) -> None:
    """A process that closes any descriptor of a file loses its locks on it; SQLite relies on them."""
    file = Database(tmp_path)
    put(file, "a")
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM answers").fetchone() == (1,)
        file._disconnect()
        put(file, "b")
    subprocess.run([*PYTHON, WRITE_BESIDE, str(tmp_path)], check=True)
    assert (tmp_path / f"{FILE_NAME}-wal").exists(), "the last to close it would delete it"
    assert ids(file) == ["a", "b", "c"]
    file.close()


def test_a_failed_migration_changes_nothing(tmp_path: Path) -> None:
    written(tmp_path, "a")
    broken = Database(tmp_path, (*MIGRATIONS, "CREATE TABLE extra (x); CREATE TABLE games (id)"))
    with pytest.raises(StateFailed, match="games already exists"):
        broken.read("SELECT 1")
    broken.close()
    again = Database(tmp_path)
    assert ids(again) == ["a"]
    assert again.read("SELECT name FROM sqlite_master WHERE name = 'extra'") == []
    again.close()


def test_a_newer_schema_is_refused_with_the_command_to_restore(tmp_path: Path) -> None:
    written(tmp_path, "a")
    written(tmp_path, "b", migrations=NEXT_SCHEMA)

    old = Database(tmp_path)
    with pytest.raises(StateNewer) as refusal:
        old.read("SELECT 1")
    old.close()
    assert str(refusal.value) == newer_than_ours(tmp_path)
    restore(str(refusal.value))

    assert newer_than_ours(tmp_path) is None
    assert recorded(tmp_path) == ["a"]


def restore(refusal: str) -> None:
    """Do what a refusal says."""
    subprocess.run(refusal.partition("`")[2].rstrip("`"), shell=True, check=True)


def test_the_command_to_restore_leaves_nothing_of_a_newer_daemon_that_was_killed(tmp_path: Path) -> None:
    written(tmp_path, "a")
    subprocess.run([*PYTHON, WRITE_AND_BE_KILLED, tmp_path, NEXT_SCHEMA[-1]], timeout=TIMEOUT_S)
    refusal = newer_than_ours(tmp_path)  # as `lichessbot check` does, which changes nothing
    assert (tmp_path / f"{FILE_NAME}-wal").stat().st_size > 0
    restore(refusal)
    assert newer_than_ours(tmp_path) is None
    assert recorded(tmp_path) == ["a"]


def test_a_missing_file_is_neither_newer_nor_older(tmp_path: Path) -> None:
    assert newer_than_ours(tmp_path / "nowhere") is None
    assert not older_than_ours(tmp_path / "nowhere")
    (tmp_path / FILE_NAME).write_text("no database")
    assert newer_than_ours(tmp_path) is None


@pytest.mark.parametrize("gone", ["file", "all files", "folder"])
def test_a_file_that_is_deleted_under_the_daemon_is_written_again(
    tmp_path: Path, gone: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "state"
    file = Database(folder)
    put(file, "before")
    if gone == "folder":
        shutil.rmtree(folder)
    for path in folder.glob(f"{FILE_NAME}*" if gone == "all files" else FILE_NAME):
        path.unlink()
    put(file, "after")
    assert ids(file) == ["before", "after"]
    assert caplog.text.count("store.deleted") == 1
    assert (folder / FILE_NAME).stat().st_mode & 0o077 == 0
    file.close()
    assert recorded(folder) == ["before", "after"]


def test_nobody_but_a_daemon_makes_the_file(tmp_path: Path) -> None:
    with pytest.raises(StateFailed):
        write_beside(tmp_path, ("INSERT INTO tournaments (id) VALUES ('abcd1234')", [()]))
    assert not (tmp_path / FILE_NAME).exists()


def test_a_folder_that_cannot_be_made_raises_state_failed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "taken").write_text("")
    file = Database(tmp_path / "taken" / "state")
    assert "store.no_lock" in caplog.text
    with pytest.raises(StateFailed):
        put(file, "a")
    file.close()


# The system says EFBIG where a full disk says ENOSPC: SQLite gives the same answer to both.
FULL_DISK = """
import resource, sys
from pathlib import Path
from lichessbot.errors import StateFailed
from lichessbot.storage.database import Database
file = Database(Path(sys.argv[1]))
write = lambda key: file.write([("INSERT INTO answers (challenge_id, answered_at) VALUES (?, ?)", [(key, 0.0)])])
write("before")
free = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, free[1]))
for number in range(10_000):
    try:
        write("x" * 10_000 + str(number))
    except StateFailed:
        break
else:
    sys.exit("the disk was not full")
resource.setrlimit(resource.RLIMIT_FSIZE, free)
write("after")
print(file.read("SELECT challenge_id FROM answers WHERE length(challenge_id) < 99 ORDER BY rowid"))
"""


def test_a_full_disk_raises_state_failed_until_there_is_room(tmp_path: Path) -> None:
    done = subprocess.run([*PYTHON, FULL_DISK, str(tmp_path)], capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[('before',), ('after',)]\n"


FULL_AT_START = """
import resource, sys
from pathlib import Path
from lichessbot.storage.database import Database
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
file = Database(Path(sys.argv[1]))
print(file.read("SELECT challenge_id FROM answers"), file.read("SELECT count(*) FROM games"))
"""


def test_a_file_is_read_though_the_disk_is_full_at_the_start(tmp_path: Path) -> None:
    written(tmp_path, "before")
    done = subprocess.run([*PYTHON, FULL_AT_START, str(tmp_path)], capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[('before',)] [(0,)]\n"
