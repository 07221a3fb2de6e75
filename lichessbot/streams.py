"""One thread per stream: lines to typed events on the queue, for as long as the stream is wanted.

Knows when a stream is dead and how to get it back; not what the events mean. A stream's end is
never taken for the end of what it reports: only the owner stops the reader.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from lichessbot.api import LineStream
from lichessbot.backoff import Backoff
from lichessbot.errors import RateLimited, Refused, Unreachable, UnreadableLine
from lichessbot.events import GameFull, GameState, StreamLine
from lichessbot.journal import Journal
from lichessbot.messages import Inbox, StreamEvent, StreamLost, StreamOpened, StreamRefused
from lichessbot.waits import Waits

# One early clean end is a restart of the server; the second in a row is another client.
_EARLY_ENDS_OF_AN_EVICTION = 2


class Connection(Protocol):
    """What a reader needs of its own session."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Source:
    """Where a stream comes from: `game_id` is None for the event stream."""

    game_id: str | None
    connection: Connection
    open: Callable[[], LineStream]
    parse: Callable[[bytes], StreamLine]


class StreamReader(threading.Thread):
    """Reads one stream, and opens it again whenever it ends, until stopped or refused."""

    def __init__(self, source: Source, inbox: Inbox, waits: Waits) -> None:
        super().__init__(name=f"stream-{source.game_id or 'events'}", daemon=True)
        self._source = source
        self._inbox = inbox
        self._waits = waits
        self._journal = Journal(source.game_id)
        ceiling = waits.backoff_ceiling if source.game_id is None else waits.game_backoff_ceiling
        self._backoff = Backoff(waits.backoff_first, ceiling)
        self._lock = threading.Lock()
        self._stream: LineStream | None = None
        self._stopping = False
        self._hurry = threading.Event()
        self._opened_at: float | None = None
        self._early_ends = 0
        self._finished = False

    def stop(self) -> None:
        """End the thread at once and say nothing more; from any thread, any number of times."""
        self._stopping = True
        self.reopen()

    def reopen(self) -> None:
        """Read the stream from its beginning, at once, even in the middle of a wait."""
        self._hurry.set()
        with self._lock:
            if self._stream is not None:
                self._stream.interrupt()

    def run(self) -> None:
        try:
            while not self._stopping and not self._finished:
                retry_in = self._read_until_lost()
                self._hurry.wait(retry_in.total_seconds())
                self._hurry.clear()
        finally:
            self._source.connection.close()

    def _read_until_lost(self) -> timedelta:
        """One life of the stream; returns how long to wait before the next."""
        self._opened_at = None
        try:
            self._read_lines()
            return self._lost("ended by the server", self._delay_after_clean_end())
        except Refused as error:
            if self._source.game_id is None and not error.denies_token:
                # Without its events the daemon is deaf: only a dead token ends them.
                return self._lost(str(error), self._delay())
            self._finished = True
            self._put(StreamRefused(self._source.game_id, error.status, error.text))
            return timedelta()
        except RateLimited as error:
            return self._lost(str(error), error.pause)
        except Unreachable as error:
            return self._lost(str(error), self._delay())

    def _read_lines(self) -> None:
        """Put every line of one connection on the queue. Raises ApiError."""
        stream = self._source.open()
        try:
            with self._lock:
                self._stream = stream
                self._opened_at = time.monotonic()
                # Whoever asked for a fresh look meanwhile gets it now.
                self._hurry.clear()
            if self._stopping:
                return
            self._put(StreamOpened(self._source.game_id))
            for line in stream:
                if self._stopping or self._hurry.is_set():
                    break
                if line.strip():
                    self._take(line)
        finally:
            with self._lock:
                self._stream = None
            stream.close()

    def _take(self, line: bytes) -> None:
        try:
            event = self._source.parse(line)
        except UnreadableLine as error:
            self._journal.warning("stream.unreadable", line=error)
            return
        self._finished = self._finished or _is_last(event)
        self._put(StreamEvent(self._source.game_id, event))

    def _delay(self) -> timedelta:
        """None for the first failure of a proven stream; growing while it never stands for long."""
        if self._stood_long():
            self._backoff.reset()
        return self._backoff.next_delay()

    def _delay_after_clean_end(self) -> timedelta:
        """Like any other failure, unless it looks as if another client took the event stream."""
        self._early_ends = 0 if self._stood_long() else self._early_ends + 1
        evicted = self._source.game_id is None and self._early_ends >= _EARLY_ENDS_OF_AN_EVICTION
        if not evicted or self._stopping:
            return self._delay()
        self._journal.warning(
            "stream.evicted",
            times_in_a_row=self._early_ends,
            meaning="another client seems to use this token: Lichess gives the stream to the newest",
        )
        return self._waits.eviction_pause

    def _stood_long(self) -> bool:
        if self._opened_at is None:
            return False
        return time.monotonic() - self._opened_at > self._waits.stream_proven.total_seconds()

    def _lost(self, reason: str, retry_in: timedelta) -> timedelta:
        if self._finished:
            return timedelta()
        if self._hurry.is_set():
            reason, retry_in = "asked to read it anew", timedelta()
        self._put(StreamLost(self._source.game_id, reason, retry_in))
        return retry_in

    def _put(self, report: StreamOpened | StreamEvent | StreamLost | StreamRefused) -> None:
        if not self._stopping:
            self._inbox.put(report)


def _is_last(event: StreamLine) -> bool:
    """After the final state of a game its stream ends for good."""
    if isinstance(event, GameFull):
        return event.state.status.is_over
    return isinstance(event, GameState) and event.status.is_over
