"""Files that are written whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Name the file in errors of the block that name none, as when the disk is full. Raises OSError."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def write_whole(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file that has its name only once it is complete, and on the disk: a power cut must not leave it empty.

    Raises OSError, and leaves nothing behind then.
    """
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with errors_of(path), unfinished.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
