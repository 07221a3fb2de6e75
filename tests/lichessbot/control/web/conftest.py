"""A web server whose requests for the status are answered by a thread of the test, and what a client sees of it."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from lichessbot.control.commands import ControlAnswer, ControlRequest
from lichessbot.control.status import Status
from lichessbot.control.web.server import WebServer
from lichessbot.control.web.site import Site
from lichessbot.recorded_games import RecordedGames
from tests.lichessbot.control.status_of import STATUS
from tests.patience import PATIENCE_S


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Daemon:
    """Stands in for the main thread, and holds the server that asks it."""

    def __init__(self, folder: Path, host: str = "127.0.0.1", password: str | None = None) -> None:
        self.status = STATUS
        self.describe: Callable[[], Status | None] = lambda: self.status
        self.asked = 0
        self.files = folder / "static"
        (self.files / "operator").mkdir(parents=True)
        self._inbox: SimpleQueue[ControlRequest | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()
        self.web = WebServer(Site(host, 0, RecordedGames(folder / "state"), self.files, password))
        self.web.load()
        self.web.start(self._inbox.put)

    def _work(self) -> None:
        while (request := self._inbox.get()) is not None:
            self.asked += 1
            found = self.describe()
            if found is not None:
                request.reply(ControlAnswer(ok=True, status=found))

    def close(self) -> None:
        self.web.close()
        self._inbox.put(None)
        self._thread.join()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.web.address, timeout=PATIENCE_S)

    def get(self, path: str, method: str = "GET", **headers: str) -> Reply:
        """Ask once; underscores in the names of headers are hyphens."""
        with closing(self.connect()) as connection:
            connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders()
            response = connection.getresponse()
            return Reply(response.status, {key.lower(): it for key, it in response.getheaders()}, response.read())

    @contextmanager
    def follow(self) -> Iterator[Iterator[Any]]:
        """Yield the statuses that the events bring, one after the other; None if the daemon does not answer."""
        with closing(self.connect()) as connection:
            connection.request("GET", "/api/events")
            response = connection.getresponse()
            assert response.headers["Content-Type"] == "text/event-stream"
            yield _events(response)


def _events(response: http.client.HTTPResponse) -> Iterator[Any]:
    for block in _blocks(response):
        name, _, data = block.partition("\n")
        if name == "event: status":
            assert data.startswith("data: ")
            yield json.loads(data.removeprefix("data: "))
        elif name == "event: stale":
            yield None
        else:
            assert block == "retry: 2000"


def _blocks(response: http.client.HTTPResponse) -> Iterator[str]:
    lines: list[str] = []
    while line := response.readline().decode():
        if line == "\n":
            yield "\n".join(lines)
            lines = []
        else:
            lines.append(line.removesuffix("\n"))


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody gives up waiting for a slow main thread, except in tests of that."""
    monkeypatch.setattr("lichessbot.control.web.snapshots.PATIENCE_S", PATIENCE_S)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path)
    yield daemon
    daemon.close()
