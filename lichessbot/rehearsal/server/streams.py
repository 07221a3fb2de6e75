"""Open ndjson responses: lines, ticks, eviction, clean ends (contract 1, 4 and 5).

Every byte of every stream leaves through `LineStream.body`. What the lines say is not known here.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

QUEUE_LINES = 32        # more waiting lines than this: the oldest are lost

_TICK = b"\n"

Key = TypeVar("Key")

Writing = Callable[[dict[str, Any]], list[bytes]]       # a payload as the lines that are sent for it


def encode(payload: object) -> bytes:
    """One payload as one line."""
    return json.dumps(payload, separators=(",", ":")).encode() + b"\n"


def one_line(payload: dict[str, Any]) -> list[bytes]:
    """Write a payload unchanged."""
    return [encode(payload)]


class LineStream:
    """One response in progress: lines go in from the event loop, bytes come out of `body`."""

    def __init__(
        self, tick_s: float, opening: Iterable[dict[str, Any]] = (), writing: Writing = one_line
    ) -> None:
        self._tick_s = tick_s
        self._writing = writing
        self._opening = [line for payload in opening for line in writing(payload)]
        self._waiting: deque[bytes] = deque(maxlen=QUEUE_LINES)
        self._news = asyncio.Event()
        self._ended = False

    def write(self, payload: dict[str, Any]) -> None:
        """Queue what is written for a payload; on overflow the oldest waiting line is dropped."""
        if not self._ended:
            self._waiting.extend(self._writing(payload))
            self._news.set()

    def end(self) -> None:
        """Finish cleanly once the waiting lines are out."""
        self._ended = True
        self._news.set()

    async def body(self) -> AsyncIterator[bytes]:
        """One chunk for each line, and an empty line at every tick, busy or not."""
        for line in self._opening:
            yield line
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
    """Streams of one kind by key: opening a second one for a key ends the first, cleanly."""

    def __init__(self) -> None:
        self._streams: dict[Key, LineStream] = {}

    def __iter__(self) -> Iterator[tuple[Key, LineStream]]:
        return iter(list(self._streams.items()))

    def open(self, key: Key, stream: LineStream) -> None:
        older = self._streams.get(key)
        if older is not None:
            older.end()
        self._streams[key] = stream

    def close(self, key: Key, stream: LineStream) -> None:
        """Forget a stream whose connection is gone, unless a newer one has its place."""
        if self._streams.get(key) is stream:
            del self._streams[key]

    def end_all(self) -> None:
        for stream in self._streams.values():
            stream.end()
