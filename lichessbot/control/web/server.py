"""The web server as the daemon sees it: a thread that serves, which may fail and die without touching a game.

This module is cheap to import; what serves is imported by `load`.
"""

import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from lichessbot.control.commands import ControlRequest
from lichessbot.control.web.site import Site
from lichessbot.log import EventLog

if TYPE_CHECKING:
    from lichessbot.control.web.service import Service

_MOST_WAITING: Final = 128
_CLOSE_WAITS_AT_MOST_S: Final = 1.0

Emit = Callable[[ControlRequest], None]


class WebServer:
    """Serves a site from `start` to `close`."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._log = EventLog()
        self._service: Service | None = None
        self._thread: threading.Thread | None = None
        self.address: str | None = None
        """Where it listens; None while it does not."""

    def load(self) -> None:
        """Import what serves. If that fails, say so: the daemon runs on without it."""
        try:
            from lichessbot.control.web.service import Service

            self._service = Service(self._site)
        except Exception as error:
            self._log.crash("web.crashed", error)

    def start(self, emit: Emit) -> None:
        """Listen; if that is impossible, warn: the daemon runs on without it. `emit` passes on a ControlRequest."""
        if self._service is None:
            return
        try:
            listener = _listen(self._site.host, self._site.port)
        except OSError as error:
            self._warn(error.strerror or error)
            return
        address = address_text(*listener.getsockname()[:2])
        thread = threading.Thread(target=self._serve, args=(self._service, listener, emit), name="web", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no thread is left
            listener.close()
            self._warn(error)
            return
        self._thread, self.address = thread, address
        self._log.info("web.open", url=f"http://{address}")

    def _warn(self, reason: object) -> None:
        address, meaning = address_text(self._site.host, self._site.port), "the daemon runs without its page"
        self._log.warning("web.unavailable", address=address, error=reason, meaning=meaning)

    def _serve(self, service: "Service", listener: socket.socket, emit: Emit) -> None:
        try:
            service.run(listener, emit)
        except Exception as error:
            self._log.crash("web.crashed", error)
        finally:
            listener.close()

    def close(self) -> None:
        """End every stream and stop serving."""
        if self._service is not None and self._thread is not None:
            self._service.stop()
            self._thread.join(_CLOSE_WAITS_AT_MOST_S)


def address_text(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises OSError. Its protocol is named, because asyncio sets TCP_NODELAY only then."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1" if host == "localhost" else host, port))
        listener.listen(_MOST_WAITING)
    except BaseException:
        listener.close()
        raise
    return listener
