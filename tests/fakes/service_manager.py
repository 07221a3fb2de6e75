"""A service manager that reads every message of sd_notify at once: a socket holds only ten unread ones."""

import socket
import threading
from pathlib import Path
from types import TracebackType
from typing import Self


class ListeningManager:
    """Listens at `path` while its block runs; `heard` has the messages so far, oldest first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.heard: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._reader = threading.Thread(target=self._read, name="service manager")

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"", str(self.path))
        self._reader.join()
        self._socket.close()

    def _read(self) -> None:
        while message := self._socket.recv(4096):
            self.heard.append(message.decode())
