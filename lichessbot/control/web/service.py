"""The event loop of the web server, in the thread `web`: one listening socket, and uvicorn's connections behind it."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import uvicorn
from uvicorn.server import ServerState

from lichessbot.control.commands import ControlRequest, adapter_of
from lichessbot.control.status import Status
from lichessbot.control.web.connections import REQUEST_PATIENCE_S, BoundedConnection
from lichessbot.control.web.guard import AccessRules, Guard
from lichessbot.control.web.routes import application
from lichessbot.control.web.site import Site
from lichessbot.control.web.snapshots import Snapshots
from lichessbot.log import EventLog

_LONGEST_REQUEST: Final = 16 << 10  # bytes, of the line and the headers; a request has no body
_LAST_WORDS_S: Final = 0.1


class Service:
    """Serves a site from `run` to `stop`."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._log = EventLog()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = asyncio.Event()
        self._stopping = False
        adapter_of(Status)  # made now, not while games are played

    def run(self, listener: socket.socket, emit: Callable[[ControlRequest], None]) -> None:
        """Serve until `stop`."""
        self._loop = loop = asyncio.new_event_loop()
        loop.set_exception_handler(self._note_fault)
        try:
            if not self._stopping:
                loop.run_until_complete(self._serve(listener, emit))
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0))
        finally:
            loop.close()

    def stop(self) -> None:
        """Stop serving, from any thread."""
        self._stopping = True
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended already
                self._loop.call_soon_threadsafe(self._stopped.set)

    async def _serve(self, listener: socket.socket, emit: Callable[[ControlRequest], None]) -> None:
        loop = asyncio.get_running_loop()
        snapshots = Snapshots(emit)
        rules = AccessRules(self._site.password, self._site.host)
        app = Guard(application(self._site, snapshots), rules, lambda error: self._log.crash("web.crashed", error))
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            proxy_headers=False,
            timeout_keep_alive=int(REQUEST_PATIENCE_S),
            h11_max_incomplete_event_size=_LONGEST_REQUEST,
        )
        config.load()
        state = ServerState()
        server = await loop.create_server(lambda: BoundedConnection(config, state, {}, loop), sock=listener)
        await self._stopped.wait()
        server.close()
        snapshots.stop()
        for connection in list(state.connections):
            connection.shutdown()
        if state.connections:
            await asyncio.sleep(_LAST_WORDS_S)
        for connection in list(state.connections):
            connection.transport.abort()

    def _note_fault(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log what was not caught: a bug, or a system call that failed, as for lack of file descriptors."""
        error = context.get("exception")
        if isinstance(error, OSError):
            self._log.debug("web.failed", error=error)
        elif isinstance(error, Exception):
            self._log.crash("web.crashed", error)
        else:
            self._log.debug("web.failed", error=context.get("message"))
