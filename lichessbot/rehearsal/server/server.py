"""The server thread: an event loop that owns the site, and an HTTP server on loopback in front of it.

The only module that connects threads and the event loop: `call` runs a function on the loop.
"""

import asyncio
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import uvicorn
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.routes import application
from lichessbot.rehearsal.server.site import Site

LOOPBACK = "127.0.0.1"
START_TIMEOUT_S = 10.0
CALL_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 10.0
IDLE_CONNECTION_S = 75          # before an idle connection is closed, as web servers usually do

Result = TypeVar("Result")
Guard = Callable[[ASGIApp, Scope, Receive, Send], Awaitable[None]]


class ServerDidNotStart(Exception):
    """The port is taken, or the event loop did not start."""


class RehearsalServer:
    """An embedded Lichess at `site.url` while the context is open."""

    def __init__(self, port: int = 0, *, timing: Timing | None = None, seed: int | None = 0) -> None:
        """Bind at once, so that the address is known; port 0 chooses a free one."""
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        self.site = Site(f"http://{LOOPBACK}:{self.port}", timing=timing, seed=seed)
        self.failures: list[str] = []
        """What the server's own code raised, and nothing caught: its bugs, in words."""
        self._api = application(self.site)
        self._guard: Guard | None = None
        self._beside: tuple[Callable[[str], bool], ASGIApp] | None = None
        self._http = uvicorn.Server(
            uvicorn.Config(
                self._answer,
                interface="asgi3",
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
        self._loop.set_exception_handler(self._on_lost_error)
        self._up = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="rehearsal-server", daemon=True)

    def __enter__(self) -> "RehearsalServer":
        self._thread.start()
        if not self._up.wait(START_TIMEOUT_S):
            raise ServerDidNotStart(f"no event loop after {START_TIMEOUT_S:g} s")
        return self

    def __exit__(self, *_error: object) -> None:
        """End every stream cleanly, then stop serving."""
        logger = logging.getLogger("uvicorn.error")
        logger.addFilter(_is_failure)
        self.call(self.site.end_streams)
        self._http.should_exit = True
        self._thread.join(STOP_TIMEOUT_S)
        logger.removeFilter(_is_failure)

    def call(self, function: Callable[[], Result]) -> Result:
        """Return the result of `function`, run on the event loop."""

        async def run() -> Result:
            return function()

        return self.wait_for(run())

    def wait_for(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of a coroutine, run on the event loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(CALL_TIMEOUT_S)

    def guard_with(self, guard: Guard) -> None:
        """Pass every request to `guard`, which passes it on to the API or answers it."""
        self._guard = guard

    def serve_beside(self, is_its_path: Callable[[str], bool], app: ASGIApp) -> None:
        """Let `app` answer the requests of its paths, in place of the API and its guard."""
        self._beside = (is_its_path, app)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request by the application whose path it names, else by the API behind its guard."""
        try:
            if self._beside is not None and self._beside[0](scope["path"]):
                await self._beside[1](scope, receive, send)
            elif self._guard is not None:
                await self._guard(self._api, scope, receive, send)
            else:
                await self._api(scope, receive, send)
        except ClientDisconnect:
            return                  # the client broke its connection before its request was complete
        except Exception as error:
            self._note_failure(error)
            raise

    def _note_failure(self, error: Exception) -> None:
        self.failures.append(f"{error.__class__.__name__}: {error}")

    def _on_lost_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Note what a callback or a task raised; the default handler logs it, and what else goes wrong in the loop."""
        error = context.get("exception")
        if isinstance(error, Exception) and not isinstance(error, OSError):
            self._note_failure(error)
        loop.default_exception_handler(context)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.call_soon(self._up.set)
        try:
            self._loop.run_until_complete(self._http.serve(sockets=[self._socket]))
        finally:
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()


def _is_failure(record: logging.LogRecord) -> bool:
    """Return whether a record reports a failure: uvicorn also logs a traceback for each client that stays connected."""
    is_cancelled = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not is_cancelled and "timeout graceful shutdown exceeded" not in record.getMessage()


def _listen(port: int) -> socket.socket:
    """Return a listening socket. Its protocol is named, because asyncio sets TCP_NODELAY only then."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        raise ServerDidNotStart(f"cannot listen on {LOOPBACK}:{port}: {error}") from error
    return listener
