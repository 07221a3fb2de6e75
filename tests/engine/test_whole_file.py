import os
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
    with pytest.raises(OSError, match=r"No space .*a\.net"):
        write_whole(path, parts())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_gets_its_name_only_once_it_is_on_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After a power cut an empty shard would count as played."""
    path, synced = tmp_path / "a.shard", []

    def note(descriptor: int) -> None:
        synced.append((path.exists(), os.fstat(descriptor).st_size))

    monkeypatch.setattr(os, "fsync", note)
    write_whole(path, [b"who", b"le"])
    assert synced == [(False, 5)]
    assert path.read_bytes() == b"whole"
