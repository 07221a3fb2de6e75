"""What both ends of the control socket share: its address, which may be too long for the system, and bounded reads."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lichessbot.errors import UnreadableLine

SOCKET_NAME: Final = "control.sock"
_LONGEST_ADDRESS: Final = 103  # bytes; Linux takes 107, macOS 103
_DESCRIPTORS: Final = Path("/proc/self/fd")
_CHUNK_BYTES: Final = 1 << 16


@contextmanager
def short_address(folder: Path) -> Iterator[str]:
    """Yield an address for the socket in `folder` that is short enough, however deep the folder is. Raises OSError."""
    address = str(folder / SOCKET_NAME)
    length = len(os.fsencode(address))
    if length <= _LONGEST_ADDRESS:
        yield address
        return
    if not _DESCRIPTORS.exists():
        raise OSError(f"use a shorter state_dir: its socket's path has {length} bytes, at most {_LONGEST_ADDRESS} work")
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield str(_DESCRIPTORS / str(opened) / SOCKET_NAME)
    finally:
        os.close(opened)


def read_line(connection: socket.socket, most_bytes: int, deadline: float) -> bytes:
    """Return the first line, which must be complete by `deadline` (monotonic seconds).

    Raises UnreadableLine if it is too long or incomplete, TimeoutError, and OSError.
    """
    data = bytearray()
    while b"\n" not in data:
        left_s = deadline - time.monotonic()
        if left_s <= 0.0:
            raise TimeoutError
        connection.settimeout(left_s)
        chunk = connection.recv(_CHUNK_BYTES)
        data += chunk
        if len(data) > most_bytes:
            raise UnreadableLine(f"expected a line of at most {most_bytes} bytes")
        if not chunk:
            raise UnreadableLine("expected a line that ends with a newline, and the connection ended before")
    return bytes(data.partition(b"\n")[0])
