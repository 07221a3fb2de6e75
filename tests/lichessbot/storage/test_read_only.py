"""A state file that cannot be written: it is read as far as it can be, and errors name it."""

import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from lichessbot.storage import rescue
from lichessbot.storage.database import FILE_NAME, Database
from tests.lichessbot.storage.test_database import PYTHON, TIMEOUT_S, ids, put, recorded, written

READ_ONLY = """
import encodings.unicode_escape, os, sys, urllib.parse     # later the files of Python may be out of reach
from pathlib import Path
from lichessbot.errors import StateFailed
from lichessbot.storage.database import Database
if os.geteuid() == 0:
    os.setuid(65534)        # nothing is read-only for root
file = Database(Path(sys.argv[1]))
try:
    file.write([("INSERT INTO answers (challenge_id, answered_at) VALUES ('a', 0.0)", [()])])
except StateFailed as error:
    print(error)
if len(sys.argv) == 3:
    print(file.read("SELECT challenge_id FROM answers"))
"""
KILLED = """
import os, sys
from pathlib import Path
from lichessbot.storage.database import Database
file = Database(Path(sys.argv[1]))
file.write([("INSERT INTO answers (challenge_id, answered_at) VALUES ('before', 0.0)", [()])])
os._exit(0)
"""


def test_a_read_only_file_is_read_with_the_last_rows_of_a_killed_daemon() -> None:
    with tempfile.TemporaryDirectory() as name:  # which another user can reach
        subprocess.run([*PYTHON, KILLED, name], check=True, timeout=TIMEOUT_S)
        for entry in Path(name).iterdir():
            entry.chmod(0o444)
        Path(name).chmod(0o555)
        done = subprocess.run([*PYTHON, READ_ONLY, name, "read"], capture_output=True, text=True, timeout=TIMEOUT_S)
        Path(name).chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\n[('before',)]\n")


READ_BESIDE = """
import encodings.unicode_escape, os, sys, urllib.parse     # later the files of Python may be out of reach
from pathlib import Path
from lichessbot.storage.database import older_than_ours, read_only
if os.geteuid() == 0:
    os.setuid(65534)        # nothing is read-only for root
print(older_than_ours(Path(sys.argv[1])))
print(read_only(Path(sys.argv[1]), "SELECT challenge_id FROM answers"))
"""


@pytest.mark.parametrize("is_complete", [True, False])
def test_a_command_reads_a_file_in_a_read_only_folder_only_with_every_row(is_complete: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([*PYTHON, KILLED, name], check=True, timeout=TIMEOUT_S)
        (folder / f"{FILE_NAME}-shm").unlink()
        if is_complete:
            assert recorded(folder) == ["before"]
        for entry in folder.iterdir():
            entry.chmod(0o444)
        folder.chmod(0o555)
        done = subprocess.run([*PYTHON, READ_BESIDE, name], capture_output=True, text=True, timeout=TIMEOUT_S)
        folder.chmod(0o755)
    assert done.stdout == ("False\n[('before',)]\n" if is_complete else "False\n"), done.stderr
    assert is_complete or "unable to open database file" in done.stderr


def test_a_read_only_folder_raises_state_failed() -> None:
    with tempfile.TemporaryDirectory() as name:
        Database(Path(name)).close()
        for entry in Path(name).iterdir():
            entry.chmod(0o444)
        Path(name).chmod(0o555)
        done = subprocess.run([*PYTHON, READ_ONLY, name], capture_output=True, text=True, timeout=TIMEOUT_S)
        Path(name).chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert name in done.stdout


def test_a_locked_file_is_tried_once_for_all_reads_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each try waits some seconds for the lock, and the start reads many tables."""
    tries: list[Path] = []

    def refuse(path: Path) -> None:
        tries.append(path)
        raise sqlite3.OperationalError("database is locked")

    written(tmp_path, "before")
    with closing(Database(tmp_path)) as file:
        with monkeypatch.context() as locked, closing(sqlite3.connect(file.path, isolation_level=None)) as other:
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("BEGIN EXCLUSIVE")
            locked.setattr(rescue, "make_private", refuse)
            assert [ids(file), ids(file), len(tries)] == [["before"], ["before"], 1]
        put(file, "after")
        assert ids(file) == ["before", "after"]
