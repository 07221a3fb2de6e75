"""Child processes of a test: they find the packages, carry a mark, and end with the test."""

import os
import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import lichessbot
from lichessbot.rehearsal.cli import bot_process
from tests.fakes import forked
from tests.patience import PATIENCE_S

WHERE_THE_PACKAGES_ARE = str(Path(lichessbot.__file__).parents[1])


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Child processes find the packages that this process uses, installed or not."""
    monkeypatch.setenv("PYTHONPATH", WHERE_THE_PACKAGES_ARE)


@pytest.fixture(autouse=True)
def _temporary_folders_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a failed rehearsal leaves behind goes with the test."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def copied_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rehearsal in this process starts its daemon as a copy. The original starts now, before `mark` is set."""
    forked.run(["--version"], os.environ, PATIENCE_S)
    monkeypatch.setattr(bot_process, "subprocess", forked.AsCopies)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """Every process started from here, by whatever generation, carries this word in its environment."""
    word = f"MARK_{secrets.token_hex(6)}"
    monkeypatch.setenv(word, "1")
    return word


@pytest.fixture
def rehearsal(mark: str) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes to be ended with the test."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()
