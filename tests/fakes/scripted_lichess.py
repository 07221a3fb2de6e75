"""A scripted HTTP server on a real socket, in place of Lichess."""

import json
import socket
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.fakes.http_server import LocalServer
from tests.patience import until


class End(Enum):
    """How a scripted stream ends."""

    CLEAN = auto()
    CUT = auto()
    """The connection closes without the last chunk."""
    RESET = auto()
    STALL = auto()
    """The stream falls silent and the connection stays open."""


@dataclass(frozen=True)
class Reply:
    """One response; `lines` makes it a chunked stream, in which a number is a pause in seconds and an event a wait."""

    status: int = 200
    body: Any = field(default_factory=lambda: {"ok": True})
    headers: Sequence[tuple[str, str]] = ()
    lines: Sequence[bytes | float | threading.Event] | None = None
    end: End = End.CLEAN
    delay_s: float = 0.0
    held: threading.Event | None = None
    """Nothing is answered before it is set."""
    chunked: bool = True


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    client_port: int = 0
    """Of the connection that it came on."""


class ScriptedLichess:
    """Answers each path with its scripted replies in order; the last one is repeated."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._scripts: dict[str, list[Reply]] = {}
        self._lock = threading.Lock()
        self.over = threading.Event()
        self._server = LocalServer(_handler(self))
        self.url = self._server.url

    def answer(self, path: str, *replies: Reply) -> None:
        self._scripts[path] = list(replies)

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def until_asked(self, count: int = 1) -> None:
        """Wait until this many requests have come."""
        until(lambda: len(self.requests) >= count, self.paths)

    def take(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            script = self._scripts.get(request.path.partition("?")[0], [Reply(404, {"error": "Not found"})])
            return script.pop(0) if len(script) > 1 else script[0]

    def close(self) -> None:
        self.over.set()
        self._server.close()


def _handler(lichess: ScriptedLichess) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            client_port = self.client_address[1]
            reply = lichess.take(Request(self.command, self.path, dict(self.headers), body, client_port))
            lichess.over.wait(reply.delay_s)
            if reply.held is not None:
                self._wait_for(reply.held)
            if reply.lines is None:
                self._plain(reply)
            else:
                self._stream(reply, reply.lines)

        def _wait_for(self, event: threading.Event) -> None:
            while not event.wait(0.02) and not lichess.over.is_set():
                pass

        def _plain(self, reply: Reply) -> None:
            body = reply.body.encode() if isinstance(reply.body, str) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, reply: Reply, lines: Sequence[bytes | float | threading.Event]) -> None:
            self.send_response(reply.status)
            self.send_header("Connection", "close")
            if reply.chunked:
                self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for line in lines:
                if isinstance(line, bytes):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line) if reply.chunked else line)
                elif isinstance(line, threading.Event):
                    self._wait_for(line)
                else:
                    time.sleep(line)
            self._finish(reply)

        def _finish(self, reply: Reply) -> None:
            if reply.end is End.STALL:
                lichess.over.wait()
            elif reply.end is End.RESET:
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
            elif reply.end is End.CLEAN and reply.chunked:
                self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
