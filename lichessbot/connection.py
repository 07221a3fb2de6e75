"""Our connection to Lichess: the account we play for, and its event stream.

For the main thread. Asks who we are until Lichess answers, and then reads the event stream. What the events mean is
decided elsewhere.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from lichessbot.backoff import Backoff
from lichessbot.control.status import ConnectionStatus, HeldBack, RequestQueue, StreamStatus
from lichessbot.errors import ApiError, RateLimited, Unreachable
from lichessbot.lichess.answers import Account
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.commands import CommandDone, CommandFailed, ReadAccount
from lichessbot.lichess.outbox import Outbox
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.lichess.streams import PlayingWanted, StreamLost, StreamReader, StreamReport
from lichessbot.log import EventLog, try_start
from lichessbot.timeouts import Standstill, Timeouts

_LISTENING = "listening"
_RETRYING = "not connected, trying again"


class Connection:
    """The account, the event stream, and what every other request needs: the outbox and the rate limiter."""

    def __init__(
        self, access: Access, emit: Callable[[StreamReport | CommandDone | CommandFailed], None], timeouts: Timeouts
    ) -> None:
        self.access = access
        self.account: Account | None = None
        self.summary = "connecting"
        """In words, for the service manager."""
        self.rate_limiter = RateLimiter(timeouts)
        self.outbox = Outbox(self.open_client, emit, timeouts, self.rate_limiter)
        self._emit = emit
        self._timeouts = timeouts
        self._log = EventLog()
        self._backoff = Backoff(timeouts.backoff_first, timeouts.backoff_ceiling)
        self._standstill = Standstill()
        self._stream: StreamReader | None = None
        self.is_open = False
        self.was_open = False
        """Whether the event stream has ever been open."""
        self._asking = False
        self._is_refused = False
        self._denied_since: float | None = None
        self._missing_scopes: set[str] = set()

    def open_client(self, read_timeout: timedelta) -> LichessClient:
        """Return a session of its own, which says the name of our account once it is known."""
        return LichessClient(self.access, read_timeout)

    def read_account(self) -> None:
        """Ask for the account, after a growing delay; one question at a time."""
        if not self._asking:
            self._asking = True
            self.outbox.send(ReadAccount(), self._backoff.next_delay())

    def account_failed(self, error: ApiError) -> None:
        """Ask for the account again. An outage says nothing of our token: the minute for it starts over."""
        self._asking = False
        if isinstance(error, Unreachable | RateLimited):
            self._denied_since = None
        self.summary = _RETRYING
        self.read_account()

    def account_answered(self, account: Account) -> None:
        """Take the account, which also ends the wait of a refused event stream."""
        self._asking = False
        self.account = account
        if self.is_open:
            self.summary = _LISTENING
        if self._is_refused and self._stream is not None:
            self._stream.reopen()

    def succeeded(self) -> None:
        """Take note that a request got a good answer, so that our token is good."""
        self._denied_since = None

    def warn_of_missing_scope(self, error: ApiError) -> None:
        """Tell the operator, once for each scope, that Lichess asks for one that the token lacks."""
        scope = error.missing_scope
        if scope is not None and scope not in self._missing_scopes:
            self._missing_scopes.add(scope)
            page = f"{self.access.url}/account/oauth/token"
            self._log.warning("token.scope_missing", scope=scope, remedy=f"make a new token with this scope at {page}")

    def token_denied(self, reason: str, clocks_run_until: float) -> bool:
        """Take note that Lichess denied the token: return whether to give up, else ask for the account again.

        Lichess may deny a good token for a while: a game is lost for certain only when its clocks have run out. Moves
        go on meanwhile, and each good answer ends the doubt.
        """
        now = time.monotonic()
        if self._denied_since is None:
            self._denied_since = now
            patience_s = max(self._timeouts.denied_token.total_seconds(), clocks_run_until - now)
            self._log.warning("token.denied", reason=reason, patience_s=patience_s)
        self.summary = "token denied, trying again"
        self.read_account()
        return now >= max(self._denied_since + self._timeouts.denied_token.total_seconds(), clocks_run_until)

    def introduce(self, account: Account, *, renew_sessions: bool) -> None:
        """Say the account's name in new sessions, and in all if `renew_sessions`."""
        self.access = replace(self.access, user_name=account.username)
        if renew_sessions:
            self.outbox.close()

    def describe(self) -> ConnectionStatus:
        """Return the connection as it is now, for the operator."""
        stream, now, now_epoch_s = self._stream, time.monotonic(), time.time()
        held_back = (HeldBack(what, now_epoch_s + wait_s) for what, wait_s in self.rate_limiter.held_back.items())
        return ConnectionStatus(
            server_url=self.access.url,
            account=None if self.account is None else self.account.username,
            summary=self.summary,
            events=None if stream is None else StreamStatus.of(stream.open_since, stream.heard_at, now),
            held_back_s=self.rate_limiter.pause_s,
            requests=RequestQueue(dict(self.outbox.unanswered), tuple(held_back)),
        )

    def tick(self) -> None:
        """Do what is due in the outbox, and replace an event stream that hangs or may be dead.

        To be called every second.
        """
        self.outbox.tick()
        stood_still = self._standstill.look() is not None
        if self._stream is not None and stood_still and self.is_open:
            self._stream.reopen()
        elif self._stream is not None and self._stream.overdue:
            self._stream.stop()
            self._stream = None
            self._emit(StreamLost(None, "its thread hangs", timedelta()))
            self.listen()

    def listen(self) -> None:
        """Open the event stream, unless that is done already."""
        if self._stream is None:
            client = self.open_client(self._timeouts.liveness)
            reader = StreamReader(client, None, self._emit, self._timeouts, self.rate_limiter)
            if try_start(reader, self._log):
                self._stream = reader
            else:  # the next list of games tries again
                self._emit(PlayingWanted("the event stream has no thread"))

    def stream_opened(self) -> bool:
        """Take note that the event stream is open. Return whether it was open before, so that events may be lost."""
        was_open, self.was_open, self.is_open = self.was_open, True, True
        self._is_refused = False
        self._backoff.reset()
        self.summary = _LISTENING
        self._log.info("events.open")
        return was_open

    def stream_refused(self) -> None:
        """Take note that the event stream waits for `account_answered`."""
        self._is_refused, self.is_open = True, False

    def stream_lost(self, lost: StreamLost) -> None:
        """Take note that the event stream is opened again by itself."""
        self.summary, self.is_open, self._is_refused = _RETRYING, False, False
        self._log.warning("events.lost", reason=lost.reason, retry_in_s=lost.retry_in.total_seconds())

    def retry_now(self) -> None:
        """Retry at once if the event stream waits, because another stream was opened."""
        if self._stream is not None:
            self._stream.retry_now()

    def stop_listening(self) -> None:
        if self._stream is not None:
            self._stream.stop()
