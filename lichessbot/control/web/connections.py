"""The connections of the web server: few enough, and none that waits for a client for ever.

A client that sends no complete request, or does not read its answer, is cut off after some seconds. So clients cost
neither file descriptors nor memory that the games need.
"""

import asyncio
import logging
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS: Final = 100
REQUEST_PATIENCE_S: Final = 10.0
READING_PATIENCE_S: Final = 20.0


# What clients send is not logged, and bugs are caught before uvicorn sees them.
_SILENT: Final = logging.getLogger("uvicorn.operator_page")
_SILENT.disabled = True


class BoundedConnection(H11Protocol):
    """One connection of uvicorn's, with time limits."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = _SILENT
        self._until_request: asyncio.TimerHandle | None = None
        self._until_read: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if len(self.connections) >= MOST_CONNECTIONS:
            transport.abort()
        super().connection_made(transport)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for timer in (self._until_request, self._until_read):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._await_request()

    def _await_request(self) -> None:
        """Give the client some time for its request, unless one is being answered."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering and self._until_request is not None:
            self._until_request.cancel()
            self._until_request = None
        elif not is_answering and self._until_request is None:
            self._until_request = self.loop.call_later(REQUEST_PATIENCE_S, self._cut_off)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._until_read = self.loop.call_later(READING_PATIENCE_S, self._cut_off)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._until_read is not None:
            self._until_read.cancel()
            self._until_read = None

    def _cut_off(self) -> None:
        self.transport.abort()
