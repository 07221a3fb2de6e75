from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.whole_file import write_whole


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.net"

    def parts() -> Iterator[bytes]:
        yield b"new"
        raise OSError(28, "No space left on device")

    write_whole(path, [b"o", b"ld"])
    with pytest.raises(OSError, match="No space"):
        write_whole(path, parts())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
