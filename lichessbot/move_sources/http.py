"""HTTP for the move sources: sessions, time limits, and pauses after failures, shared by all games.

Returns bodies without knowing what they mean. The token is sent only to the server it belongs to, redirects are not
followed, and the length of a body is limited.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Final, TypeVar
from urllib.parse import urlsplit

import requests

from lichessbot.backoff import doubled
from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable, UnreadableLine
from lichessbot.lichess.client import Access, answer_error
from lichessbot.lichess.http import configured, network_error, read_body, refused_redirect
from lichessbot.lichess.rate_limiter import Purpose, RateLimiter
from lichessbot.log import EventLog

# Ordinary answers have some tens of kilobytes.
MAX_BODY_BYTES: Final = 1 << 19
_FAIR_SHARE: Final = 1 / 6  # of the usual time for an answer: a server that had less has not failed
# Of the time for an answer that grows: the game must still get it in time.
_SHARE_FOR_GROWING: Final = 0.8
_MAX_CONNECTIONS: Final = 4

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """One request, which is useless after the monotonic second `until`.

    `growing`: the answer comes in lines of which the latest counts, so that a part of it is enough. Reading ends early
    enough that this part can be used.
    """

    path: str
    query: Mapping[str, object]
    until: float
    retries: int = 0
    with_token: bool = False
    growing: bool = field(default=False, kw_only=True)


class HostPaused(ApiError):
    """The server is not asked for a while."""


class _NoAnswer(Unreachable):
    """Not even a status came, so that the request may be repeated."""


class Hosts:
    """All servers by address."""

    def __init__(self, access: Access, rate_limiter: RateLimiter) -> None:
        self.access = access
        self._rate_limiter = rate_limiter
        self._lock = threading.Lock()
        self._hosts: dict[str, Host] = {}

    def at(self, address: str) -> "Host":
        """Return the host for this address, the same for every game."""
        with self._lock:
            if address not in self._hosts:
                rate_limiter = self._rate_limiter if address == self.access.url else None
                self._hosts[address] = Host(address, self.access, rate_limiter)
            return self._hosts[address]


class Host:
    """One server, asked by several threads at a time up to a limit."""

    def __init__(self, address: str, access: Access, rate_limiter: RateLimiter | None = None) -> None:
        """`rate_limiter`: shared with the daemon if this is the Lichess server."""
        self.address = address
        self._access = access
        self._rate_limiter = rate_limiter
        self._log = EventLog()
        self._lock = threading.Lock()
        self._permits = threading.BoundedSemaphore(_MAX_CONNECTIONS)
        self._idle: list[requests.Session] = []
        self._failures = 0
        self._paused_until = time.monotonic()

    def ask(self, request: Request, parse: Callable[[bytes], T]) -> T:
        """Return the parsed body of a good answer. `parse` may raise UnreadableLine or ApiError.

        Raises ApiError: HostPaused, Unreachable, or the server's own error.
        """
        fair_s = _FAIR_SHARE * self._access.timeouts.source_answer.total_seconds()
        with self._permit(request.until):
            had_time = request.until - time.monotonic() >= fair_s
            try:
                found = self._try(request, parse)
            except RateLimited as error:
                self._note_failure(error)
                if self._rate_limiter is not None:
                    self._rate_limiter.hold_back(error.pause, error.quota)
                raise
            except Refused as error:
                if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                    with self._lock:
                        self._pause(self._access.timeouts.source_rest_ceiling, error)
                else:
                    self._note_answer()
                raise
            except Unreachable as error:
                if had_time:           # else our clock was too short for any server
                    self._note_failure(error)
                raise
            self._note_answer()
            return found

    def _try(self, request: Request, parse: Callable[[bytes], T]) -> T:
        """Send the request, and repeat it if no answer begins, unless a pause began meanwhile. Raises ApiError."""
        retries_left = request.retries
        while True:
            try:
                return parse(self._get(request))
            except UnreadableLine as error:
                raise Unreachable(f"unexpected reply: {error}") from error
            except _NoAnswer:
                if retries_left == 0 or time.monotonic() >= request.until or not self._may_send():
                    raise
                retries_left -= 1

    def _note_answer(self) -> None:
        with self._lock:
            self._failures = 0

    def _note_failure(self, error: ApiError) -> None:
        """Pause the server, longer with each failure in a row. Simultaneous failures of several games count once."""
        timeouts = self._access.timeouts
        requested = error.pause if isinstance(error, RateLimited) else timedelta()
        with self._lock:
            is_new = time.monotonic() >= self._paused_until
            self._failures += is_new
            if is_new or requested:
                shortest = max(timeouts.source_rest, requested)
                growing = doubled(shortest, self._failures - 1, timeouts.source_rest_ceiling)
                self._pause(max(requested, growing), error)

    def _pause(self, pause: timedelta, reason: ApiError) -> None:
        """For the thread that holds the lock."""
        self._paused_until = max(self._paused_until, time.monotonic() + pause.total_seconds())
        self._log.warning("source.rests", host=self.address, reason=reason, pause_s=pause.total_seconds())

    @contextmanager
    def _permit(self, until: float) -> Iterator[None]:
        """Raises HostPaused if the server is not to be asked now, or if too many games ask it already."""
        self._check_pause()
        if not self._permits.acquire(timeout=max(0.0, until - time.monotonic())):
            raise HostPaused(f"{self.address} is busy with other games")
        try:
            self._check_pause()
            if not self._may_send():
                raise HostPaused(f"{self.address} is not asked now: rate limit")
            yield
        finally:
            self._permits.release()

    def _may_send(self) -> bool:
        """Count the request and return True, unless Lichess asked for a pause or our daily budget is used up."""
        return self._rate_limiter is None or self._rate_limiter.ask(Purpose.CLOUD) == 0.0

    def _check_pause(self) -> None:
        if time.monotonic() < self._paused_until:
            raise HostPaused(f"{self.address} is paused")

    def _get(self, request: Request) -> bytes:
        """Return the body of a good answer. Raises ApiError."""
        session = self._session()
        try:
            body = self._read(session, request)
        except (requests.RequestException, OSError) as error:
            session.close()
            raise _NoAnswer(f"{network_error(error)} at {self.address}") from error
        except Unreachable:
            session.close()
            raise
        except ApiError:                   # an answer too, such as 404 for an unknown position
            self._keep(session)
            raise
        self._keep(session)
        return body

    def _read(self, session: requests.Session, request: Request) -> bytes:
        left_s = request.until - time.monotonic()
        if left_s <= 0:
            raise Unreachable(f"no time left for {self.address}")
        until = request.until
        if request.growing:
            until -= (1 - _SHARE_FOR_GROWING) * left_s
        token = self._access.token.get_secret_value() if request.with_token and self.may_see_token else None
        with session.get(
            self.address + request.path,
            params={name: str(value) for name, value in request.query.items()},
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=(min(left_s, self._access.timeouts.connect.total_seconds()), left_s),
            allow_redirects=False,
            stream=True,
        ) as response:
            body = read_body(response, MAX_BODY_BYTES, until, partial=request.growing)
            if response.status_code >= HTTPStatus.BAD_REQUEST:
                raise answer_error(response, body, self._access.timeouts.rate_limit)
            if response.is_redirect:
                raise Unreachable(refused_redirect(response))
            if response.status_code != HTTPStatus.OK:
                raise Unreachable(f"{response.status_code} from {self.address}")
            return body

    @property
    def rate_limit_pause(self) -> timedelta:
        """The pause after an answer that reports a rate limit without its length."""
        return self._access.timeouts.rate_limit

    @property
    def may_see_token(self) -> bool:
        """Return whether this is the server that our token belongs to, or a subdomain of it."""
        ours, home = urlsplit(self.address), urlsplit(self._access.url)
        belongs = ours.hostname == home.hostname or (ours.hostname or "").endswith(f".{home.hostname}")
        return belongs and (ours.scheme == "https" or home.scheme == "http")

    def _keep(self, session: requests.Session) -> None:
        with self._lock:
            self._idle.append(session)

    def _session(self) -> requests.Session:
        """Return an idle session, or a new one."""
        with suppress(IndexError), self._lock:
            return self._idle.pop()
        # Uncompressed, so that a small answer cannot become a huge one.
        headers = {"User-Agent": self._access.user_agent, "Accept": "application/json", "Accept-Encoding": "identity"}
        return configured(requests.Session(), self._access.proxy, **headers)
