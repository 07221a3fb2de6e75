"""Files that are written whole or not at all."""

from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file that has its name only once it is complete. Raises OSError, and leaves nothing behind then."""
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with unfinished.open("wb") as file:
            file.writelines(parts)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
