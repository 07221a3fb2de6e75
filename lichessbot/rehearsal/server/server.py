"""The serving thread: one event loop that owns the site, an HTTP server on loopback in front of it.

The only room where threads and the event loop meet: `call` runs a function on the loop.
"""

import asyncio
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from lichessbot.rehearsal.rules.enums import CastlingSpelling
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.routes import application
from lichessbot.rehearsal.server.site import Site

LOOPBACK = "127.0.0.1"
START_TIMEOUT_S = 10.0
CALL_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 10.0
IDLE_CONNECTION_S = 75          # as long as common web servers keep an idle connection

Result = TypeVar("Result")
Guard = Callable[[ASGIApp, Scope, Receive, Send], Awaitable[None]]


class ServerDidNotStart(Exception):
    """The port is taken, or the event loop did not come up."""


class _Front:
    """The API, and the guard that every request passes first."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.guard: Guard | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.guard is None or scope["type"] != "http":
            await self._app(scope, receive, send)
        else:
            await self.guard(self._app, scope, receive, send)


class RehearsalServer:
    """An embedded Lichess that can be reached at `site.url` while the context is open."""

    def __init__(
        self,
        port: int = 0,
        *,
        timing: Timing | None = None,
        seed: int = 0,
        spelling: CastlingSpelling = CastlingSpelling.KING_TO_TARGET,
    ) -> None:
        """Bind at once, so that the address is known; port 0 takes a free one."""
        self._socket = _listen(port)
        url = f"http://{LOOPBACK}:{self._socket.getsockname()[1]}"
        self.site = Site(url, timing=timing, seed=seed, spelling=spelling)
        self._front = _Front(application(self.site))
        self._http = uvicorn.Server(
            uvicorn.Config(
                self._front,
                http="h11",
                ws="none",
                lifespan="off",
                access_log=False,
                log_config=None,
                timeout_keep_alive=IDLE_CONNECTION_S,
                timeout_graceful_shutdown=1,
            )
        )
        self._loop = asyncio.new_event_loop()
        self._up = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="rehearsal-server", daemon=True)

    def __enter__(self) -> "RehearsalServer":
        self._thread.start()
        if not self._up.wait(START_TIMEOUT_S):
            raise ServerDidNotStart(f"no event loop after {START_TIMEOUT_S:g} s")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End every stream cleanly, then stop serving."""
        logger = logging.getLogger("uvicorn.error")
        logger.addFilter(_is_failure)
        self.call(self.site.end_streams)
        self._http.should_exit = True
        self._thread.join(STOP_TIMEOUT_S)
        logger.removeFilter(_is_failure)

    def call(self, function: Callable[[], Result]) -> Result:
        """Run `function` on the event loop, which owns the site, and return what it returns."""

        async def run() -> Result:
            return function()

        return self.wait_for(run())

    def wait_for(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """The same for a coroutine."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(CALL_TIMEOUT_S)

    def guard_with(self, guard: Guard) -> None:
        """Every request goes to `guard` from now on, which lets it through to the API or does not."""
        self._front.guard = guard

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.call_soon(self._up.set)
        try:
            self._loop.run_until_complete(self._http.serve(sockets=[self._socket]))
        finally:
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()


def _is_failure(record: logging.LogRecord) -> bool:
    """Whether a record is more than that a client stays connected: for each one, uvicorn logs a traceback."""
    is_cancelled = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not is_cancelled and "timeout graceful shutdown exceeded" not in record.getMessage()


def _listen(port: int) -> socket.socket:
    """The protocol is named because asyncio sets TCP_NODELAY only where it is: lines must not wait."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        raise ServerDidNotStart(f"cannot listen on {LOOPBACK}:{port}: {error}") from error
    return listener
