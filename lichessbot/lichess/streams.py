"""One thread per stream turns its lines into typed events and reopens it whenever it ends.

Knows when a stream is dead. Must not know: what the events mean. The end of a stream never means the end of its game:
only the owner stops the reader. A refused stream is opened again when the owner asks for it.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from lichessbot.backoff import Backoff
from lichessbot.errors import RateLimited, Refused, Unreachable, UnreadableLine
from lichessbot.lichess.client import LichessClient, LineStream
from lichessbot.lichess.models import GameFull, GameState, StreamLine
from lichessbot.lichess.parsing import parse_account_event, parse_game_event
from lichessbot.lichess.rate_limiter import Purpose, RateLimiter
from lichessbot.log import EventLog
from lichessbot.timeouts import Timeouts


@dataclass(frozen=True, slots=True)
class StreamOpened:
    """The stream is open; its first line follows."""

    game_id: str | None


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One parsed line of the stream, received at the monotonic second `received_at`."""

    game_id: str | None
    event: StreamLine
    received_at: float = field(compare=False)


@dataclass(frozen=True, slots=True)
class StreamLost:
    """The stream ended or could not be opened; its reader tries again after `retry_in`."""

    game_id: str | None
    reason: str
    retry_in: timedelta
    as_asked: bool = False
    """Whether Lichess asked for the pause or another client took the stream; otherwise the reader chose it."""
    on_request: bool = False
    """Whether the owner asked for `reopen`, which is no fault."""


@dataclass(frozen=True, slots=True)
class StreamRefused:
    """Lichess refused the stream; its reader waits until `reopen` or `stop`."""

    game_id: str | None
    status: int
    text: str
    certain: bool = True
    """Whether Lichess itself refused it, and not perhaps a proxy."""


@dataclass(frozen=True, slots=True)
class PlayingWanted:
    """The streams may have missed something: read the games in progress."""

    reason: str
    again: bool = False
    """Whether to read them more often for a while: the next list may lack something, too."""


StreamReport = StreamOpened | StreamEvent | StreamLost | StreamRefused | PlayingWanted
Emit = Callable[[StreamReport], None]


# A connection with more of them is no event stream of Lichess, or damaged on the way.
_MOST_UNREADABLE_EVENTS = 10
# One early clean end is a server restart; the second in a row means another client.
_EARLY_ENDS_OF_AN_EVICTION = 2


class StreamReader(threading.Thread):
    """Reads one stream and reopens it whenever it ends, until stopped or refused."""

    def __init__(
        self,
        client: LichessClient,
        game_id: str | None,
        emit: Emit,
        timeouts: Timeouts,
        rate_limiter: RateLimiter,
        tried_at: float | None = None,
    ) -> None:
        """Read the stream of a game, or with `game_id` None that of events; `client` is for this reader alone.

        `tried_at`: when an earlier reader last tried to open this stream.
        """
        super().__init__(name=f"stream-{game_id or 'events'}", daemon=True)
        self._client = client
        self._game_id = game_id
        self._emit = emit
        self._timeouts = timeouts
        self._rate_limiter = rate_limiter
        self._log = EventLog(game_id)
        ceiling = timeouts.backoff_ceiling if game_id is None else timeouts.game_backoff_ceiling
        self._openings = Backoff(timeouts.backoff_first, ceiling)
        self._endings = Backoff(timeouts.backoff_first, ceiling)
        self._lock = threading.Lock()
        self._stream: LineStream | None = None
        self._stopping = False
        self._wakeup = threading.Event()
        self.due_at: float | None = None
        """When the owner expects the stream to be open, which goes before those due later. None: not known."""
        self._chose_wait = False
        self.tried_at = tried_at
        """When the stream was last tried to be opened, in monotonic seconds; None if it never was."""
        self.is_queued = False
        """Whether our own limit delays the next opening: no fault of the connection."""
        self._opened_at: float | None = None
        self.heard_at: float | None = None
        """When the last line came, keep-alive lines included."""
        self._progress_due_at: float | None = None
        self._early_ends = 0
        self._unreadable_events = 0
        """Those of the present connection."""
        self._finished = False

    @property
    def overdue(self) -> bool:
        """Whether the thread hangs: it neither reads nor waits on schedule, and nothing here can free it."""
        due_at = self._progress_due_at
        return self.is_alive() and due_at is not None and time.monotonic() > due_at

    @property
    def open_since(self) -> float | None:
        """When the stream was opened, in monotonic seconds; None while it is not open."""
        with self._lock:
            return None if self._stream is None else self._opened_at

    def stop(self) -> None:
        """End the thread at once without further reports; from any thread, any number of times."""
        with self._lock:
            self._stopping = True
        self.reopen()

    def reopen(self) -> None:
        """Reopen the stream at once, even during a wait or after a refusal."""
        self._wakeup.set()
        with self._lock:
            if self._stream is not None:
                self._stream.interrupt()

    def retry_now(self) -> None:
        """End a wait after a failure to open the stream, because another stream is read again.

        A stream that opened and ended keeps its own backoff: else two such streams would wake each other for ever.
        """
        with self._lock:
            if self._chose_wait and self._opened_at is None:
                self._wakeup.set()

    def run(self) -> None:
        try:
            while not self._stopping and not self._finished:
                retry_in = self._read_until_lost()
                self._expect_progress(retry_in)
                self._wakeup.wait(None if retry_in is None else retry_in.total_seconds())
                with self._lock:
                    self._chose_wait = False
                    self._wakeup.clear()
        finally:
            self._client.close()

    def _read_until_lost(self) -> timedelta | None:
        """Open and read the stream once; return the pause before the next time, None to wait for `reopen`."""
        self._opened_at = None
        try:
            self._wait_for_turn()
            if self._stopping:
                return timedelta()
            self._read_lines()
            return self._lost_cleanly()
        except Refused as error:
            if self._game_id is None and not error.denies_token:
                # The daemon needs its events: only a denied token ends the attempts.
                return self._lost(str(error), self._delay())
            self._put(StreamRefused(self._game_id, error.status, error.text, error.certain))
            return None
        except RateLimited as error:
            self._rate_limiter.hold_back(error.pause, error.quota)
            return self._lost(str(error), min(error.pause, self._timeouts.longest_pause), as_asked=True)
        except (Unreachable, UnreadableLine) as error:
            return self._lost(str(error), self._delay())
        except Exception as error:
            self._log.crash("stream.crashed", error)
            return self._lost(f"internal error: {error!r}", self._delay())

    def _wait_for_turn(self) -> None:
        """Wait until the stream may be opened; the first opening of a game's stream never waits."""
        spacing_s = self._timeouts.stream_spacing.total_seconds()
        usually_due_at = time.monotonic() + self._timeouts.stream_answer.total_seconds()
        self.is_queued = self.tried_at is not None
        while self.tried_at is not None and not self._stopping:
            wait_s = self.tried_at + spacing_s - time.monotonic()
            if wait_s <= 0.0:
                wait_s = self._rate_limiter.ask_to_reopen(self, self.due_at or usually_due_at)
            if wait_s == 0.0:
                break
            self._wait_unshortened(wait_s)
        self._rate_limiter.withdraw(self)
        while self._game_id is None and not self._stopping:
            wait_s = self._rate_limiter.ask(Purpose.EVENT_STREAM)
            if wait_s == 0.0:
                break
            self._wait_unshortened(wait_s)
        self.tried_at, self.is_queued = time.monotonic(), False

    def _wait_unshortened(self, wait_s: float) -> None:
        """Wait; only `stop` ends this wait."""
        self._expect_progress(timedelta(seconds=wait_s))
        ends_at = time.monotonic() + wait_s
        while not self._stopping and self._wakeup.wait(max(0.0, ends_at - time.monotonic())):
            self._wakeup.clear()

    def _read_lines(self) -> None:
        """Report every line of one connection. Raises ApiError, or UnreadableLine."""
        self._unreadable_events = 0
        self._expect_progress(self._timeouts.connect + self._timeouts.liveness)
        stream = self._client.event_stream() if self._game_id is None else self._client.game_stream(self._game_id)
        try:
            with self._lock:
                self._stream = stream
                self._opened_at = time.monotonic()
                self._openings.reset()
                # This also serves a `reopen` that was called meanwhile.
                self._wakeup.clear()
            if self._stopping:
                return
            self._put(StreamOpened(self._game_id))
            for line in stream:
                self.heard_at = time.monotonic()
                self._expect_progress(self._timeouts.liveness)
                if self._wakeup.is_set():
                    break
                if line.lstrip().startswith(b"<"):
                    raise Unreachable("a web page came instead of the stream")
                if line.strip():
                    self._take(line)
        finally:
            with self._lock:
                self._stream = None
            stream.close()

    def _expect_progress(self, within: timedelta | None) -> None:
        """Expect the next call of this method `within` this time; None: no limit."""
        stuck = self._timeouts.stream_stuck
        self._progress_due_at = None if within is None else time.monotonic() + (within + stuck).total_seconds()

    def _take(self, line: bytes) -> None:
        received_at = time.monotonic()
        try:
            event = parse_account_event(line) if self._game_id is None else parse_game_event(line)
            if isinstance(event, GameFull) and event.id != self._game_id:
                raise UnreadableLine(f"the state of another game, {event.id}")
        except UnreadableLine as error:
            self._unreadable_events += self._game_id is None
            if self._game_id is not None or self._unreadable_events == _MOST_UNREADABLE_EVENTS:
                raise  # In a game, the line may have held a move: the whole state is read again.
            self._log.warning("stream.unreadable", line=error)
            self._put(PlayingWanted("an unreadable event"))
            return
        self._finished |= _is_last(event)
        self._put(StreamEvent(self._game_id, event, received_at))

    def _delay(self) -> timedelta:
        """Return the delay before the next attempt: zero after the first failure, then growing until a stream lasts."""
        if self._opened_at is None:
            return self._openings.next_delay()
        if self._lasted():
            self._endings.reset()
            self._early_ends = 0
        return self._endings.next_delay()

    def _lost_cleanly(self) -> timedelta:
        """Report a clean end; pause if it looks as if another client took the event stream."""
        reason = "ended by the server"
        if self._wakeup.is_set():  # our own `reopen` or `stop` ended it
            return self._lost(reason, self._delay())
        self._early_ends = 0 if self._lasted() else self._early_ends + 1
        if self._game_id is not None or self._early_ends < _EARLY_ENDS_OF_AN_EVICTION:
            return self._lost(reason, self._delay())
        self._log.warning(
            "stream.evicted",
            times_in_a_row=self._early_ends,
            meaning="another client seems to use this token; Lichess serves only the newest event stream",
        )
        return self._lost(reason, self._timeouts.eviction_pause, as_asked=True)

    def _lasted(self) -> bool:
        if self._opened_at is None:
            return False
        return time.monotonic() - self._opened_at > self._timeouts.stream_proven.total_seconds()

    def _lost(self, reason: str, retry_in: timedelta, *, as_asked: bool = False) -> timedelta:
        if self._finished:
            return timedelta()
        on_request = self._wakeup.is_set()
        if on_request:
            reason, retry_in = "reopened on request", timedelta()
        self._chose_wait = not as_asked
        told = retry_in
        if self._game_id is None:  # whose next opening our own limit may hold back for longer
            told = max(told, timedelta(seconds=self._rate_limiter.wait_s(Purpose.EVENT_STREAM)))
        self._put(StreamLost(self._game_id, reason, told, as_asked, on_request))
        return retry_in

    def _put(self, report: StreamReport) -> None:
        with self._lock:  # after `stop` another reader may report what is newer
            if not self._stopping:
                self._emit(report)


def _is_last(event: StreamLine) -> bool:
    """Return whether the game is over, after which its stream ends for good."""
    if isinstance(event, GameFull):
        return event.state.status.is_over
    return isinstance(event, GameState) and event.status.is_over
