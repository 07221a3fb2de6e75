"""Folders and files in which one command works at a time."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = ".lock"                     # in a folder; it stays, but the lock ends with the process


class InUse(RuntimeError):
    """Another command works there."""


@contextmanager
def exclusive(place: Path) -> Iterator[None]:
    """Keep other commands out of a folder, or from a file, which is made if it is missing. Raises InUse or OSError."""
    with (place / LOCK if place.is_dir() else place).open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(f"another command works in {place}") from None
        yield
