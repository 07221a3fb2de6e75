"""A state folder that is deleted under the daemon: it is locked again, so that no second daemon starts in it."""

import os
import shutil
from pathlib import Path

import pytest

from lichessbot.errors import StateFailed, StateLocked
from lichessbot.storage.database import Database, owner
from tests.lichessbot.storage.test_database import put, recorded


def test_a_folder_that_is_deleted_under_the_daemon_is_locked_again(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    file = Database(folder)
    put(file, "a")
    shutil.rmtree(folder)
    put(file, "b")
    assert owner(folder) == os.getpid()
    with pytest.raises(StateLocked):
        Database(folder)
    file.close()
    assert owner(folder) is None
    assert recorded(folder) == ["a", "b"]


def test_a_deleted_folder_that_cannot_be_made_at_once_is_locked_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "disk"
    file = Database(place / "state")
    put(file, "a")
    shutil.rmtree(place)
    place.write_text("in the way")
    for _ in range(3):
        with pytest.raises(StateFailed):
            put(file, "b")
    assert "store.no_lock" not in caplog.text, "that nothing is recorded is said once, elsewhere"
    place.unlink()
    put(file, "c")
    assert owner(place / "state") == os.getpid()
    file.close()
