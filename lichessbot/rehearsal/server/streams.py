"""Open responses: lines, ticks, eviction, clean ends.

Every byte of every ndjson stream leaves through `LineStream.body`. Must not know: the content of lines.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

QUEUE_LINES = 32        # waiting lines at most; the oldest are dropped

_TICK = b"\n"

Key = TypeVar("Key")

Writing = Callable[[dict[str, Any]], list[bytes]]       # turns a payload into lines


def encode(payload: object) -> bytes:
    """Return a payload as one line."""
    return json.dumps(payload, separators=(",", ":")).encode() + b"\n"


def one_line(payload: dict[str, Any]) -> list[bytes]:
    """Return a payload as its only line."""
    return [encode(payload)]


class StreamedResponse(StreamingResponse):
    """An open response; calls `on_close` when either side has ended it."""

    def __init__(self, body: AsyncIterator[bytes], media_type: str, on_close: Callable[[], None]) -> None:
        super().__init__(body, media_type=media_type)
        self._on_close = on_close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_close()


class LineStream:
    """An open response: `write` takes payloads, `body` yields bytes."""

    def __init__(self, tick_s: float, opening: Iterable[dict[str, Any]] = (), writing: Writing = one_line) -> None:
        self._tick_s = tick_s
        self._writing = writing
        self._waiting: deque[bytes] = deque(maxlen=QUEUE_LINES)
        self._news = asyncio.Event()
        self._ended = False
        for payload in opening:
            self.write(payload)

    def write(self, payload: dict[str, Any]) -> None:
        """Queue the lines of a payload; if too many wait, drop the oldest."""
        if not self._ended:
            self._waiting.extend(self._writing(payload))
            self._news.set()

    def end(self) -> None:
        """End cleanly after the waiting lines."""
        self._ended = True
        self._news.set()

    async def body(self) -> AsyncIterator[bytes]:
        """Yield one chunk for each line, and an empty line at every tick."""
        clock = asyncio.get_running_loop().time
        next_tick = clock() + self._tick_s
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            if self._ended:
                return
            self._news.clear()
            try:
                async with asyncio.timeout_at(next_tick):
                    await self._news.wait()
            except TimeoutError:
                next_tick += self._tick_s
                yield _TICK


class StreamBook(Generic[Key]):
    """Streams by key: opening a second one for a key ends the first cleanly."""

    def __init__(self) -> None:
        self._streams: dict[Key, LineStream] = {}

    def __iter__(self) -> Iterator[tuple[Key, LineStream]]:
        return iter(list(self._streams.items()))

    def open(self, key: Key, stream: LineStream) -> None:
        older = self._streams.get(key)
        if older is not None:
            older.end()
        self._streams[key] = stream

    def close(self, key: Key, stream: LineStream) -> bool:
        """Forget a stream whose connection ended; return False if a newer one has replaced it."""
        is_latest = self._streams.get(key) is stream
        if is_latest:
            del self._streams[key]
        return is_latest

    def end_all(self) -> None:
        for stream in self._streams.values():
            stream.end()
