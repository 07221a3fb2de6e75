"""The operator's end of the control socket: one request, one answer."""

import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from lichessbot.control.commands import ControlAnswer, ControlCommand, read_answer, request_line
from lichessbot.control.sockets import read_line, short_address
from lichessbot.errors import LichessBotError, UnreadableLine

_PATIENCE_S: Final = 10.0
BRIEFLY_S: Final = 3.0  # for a question that only adds to an answer
_MOST_BYTES: Final = 1 << 26
_BETWEEN_TRIES_S: Final = 0.05


class NoDaemon(LichessBotError):
    """No daemon listens in this state folder."""


class NoAnswer(LichessBotError):
    """The daemon did not answer, or with something unreadable."""


def ask(
    folder: Path,
    command: ControlCommand,
    argument: str = "",
    patience_s: float = _PATIENCE_S,
    options: Mapping[str, str] | None = None,
) -> ControlAnswer:
    """Send a command to the daemon that uses this state folder. Raises NoDaemon or NoAnswer."""
    deadline = time.monotonic() + patience_s
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(patience_s)
        try:
            with short_address(folder) as address:
                _connect(connection, address, deadline)
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError) as error:
            raise NoDaemon(f"no daemon is running with the state folder {folder}") from error
        except OSError as error:
            raise NoAnswer(f"{folder}: the daemon cannot be reached: {error.strerror or error}") from error
        try:
            connection.sendall(request_line(command, argument, options))
            return read_answer(read_line(connection, _MOST_BYTES, deadline))
        except TimeoutError as error:
            raise NoAnswer(f"the daemon did not answer within {patience_s:g} s") from error
        except UnreadableLine as error:
            raise NoAnswer(f"the answer of the daemon cannot be read: {error}") from error
        except OSError as error:
            raise NoAnswer(f"the daemon did not answer: {error}") from error


def _connect(connection: socket.socket, address: str, deadline: float) -> None:
    """Connect; wait while more clients than the system takes wait already. Raises OSError."""
    while True:
        try:
            connection.connect(address)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_BETWEEN_TRIES_S)
