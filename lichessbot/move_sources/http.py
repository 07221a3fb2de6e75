"""The servers that move sources ask, shared by all games: sessions, time limits, rests after failures.

Knows how to get a body from a server; not what it means. The token goes to the server it belongs to and to no other,
nothing is redirected, and no body is longer than a limit.
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
from lichessbot.lichess.http import configured, network_error, read_body
from lichessbot.lichess.rate_limiter import Purpose, RateLimiter
from lichessbot.log import EventLog

# A table of an ending with many moves, or what an explorer knows of a position, takes some tens of kilobytes.
LONGEST_ANSWER_BYTES: Final = 1 << 19
_MOST_AT_ONCE: Final = 4

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Errand:
    """One request, worth nothing any more at the monotonic second `until`.

    `growing`: the answer comes in lines of which the latest counts; what came until then is enough.
    """

    path: str
    query: Mapping[str, object]
    until: float
    retries: int = 0
    with_token: bool = False
    growing: bool = field(default=False, kw_only=True)


class Resting(ApiError):
    """The server is not asked at all for a while."""


class Hosts:
    """Every server by its address."""

    def __init__(self, access: Access, rate_limiter: RateLimiter) -> None:
        self.access = access
        self._rate_limiter = rate_limiter
        self._lock = threading.Lock()
        self._hosts: dict[str, Host] = {}

    def at(self, address: str) -> "Host":
        """The one for this address, whichever game asks."""
        with self._lock:
            if address not in self._hosts:
                rate_limiter = self._rate_limiter if address == self.access.url else None
                self._hosts[address] = Host(address, self.access, rate_limiter)
            return self._hosts[address]


class Host:
    """One server. Asked by several threads at a time, but only by so many."""

    def __init__(self, address: str, access: Access, rate_limiter: RateLimiter | None = None) -> None:
        """`rate_limiter`: of the server that the daemon itself talks to, whose limits are shared."""
        self.address = address
        self._access = access
        self._rate_limiter = rate_limiter
        self._log = EventLog()
        self._lock = threading.Lock()
        self._permits = threading.BoundedSemaphore(_MOST_AT_ONCE)
        self._idle: list[requests.Session] = []
        self._failures = 0
        self._rests_until = time.monotonic()

    def ask(self, errand: Errand, parse: Callable[[bytes], T]) -> T:
        """What the body of a good answer says. `parse` raises UnreadableLine if that is nothing, or ApiError.

        Raises ApiError: Resting and Unreachable as well as what the server says.
        """
        with self._permit(errand.until):
            try:
                found = self._try(errand, parse)
            except RateLimited as error:
                self._rest(error.pause, error)
                if self._rate_limiter is not None:
                    self._rate_limiter.hold_back(error.pause)
                raise
            except Refused as error:
                if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                    self._rest(self._access.timeouts.source_rest_ceiling, error)
                raise
            except Unreachable as error:
                self._note_failure(error)
                raise
            with self._lock:
                self._failures = 0
            return found

    def _try(self, errand: Errand, parse: Callable[[bytes], T]) -> T:
        """Once, and again as often as the errand allows if nothing comes back. Raises ApiError."""
        for retry in range(errand.retries + 1):
            try:
                return parse(self._get(errand))
            except UnreadableLine as error:
                raise Unreachable(f"unexpected reply: {error}") from error
            except Unreachable:
                if retry == errand.retries or time.monotonic() >= errand.until:
                    raise
        raise AssertionError("the last try returns or raises")

    def _note_failure(self, error: ApiError) -> None:
        """It rests the longer, the more often in a row it failed; failures of several games at a time are one."""
        timeouts = self._access.timeouts
        with self._lock:
            if time.monotonic() < self._rests_until:
                return
            self._failures += 1
            pause = doubled(timeouts.source_rest, self._failures - 1, timeouts.source_rest_ceiling)
        self._rest(pause, error)

    def _rest(self, pause: timedelta, reason: ApiError) -> None:
        with self._lock:
            self._rests_until = max(self._rests_until, time.monotonic() + pause.total_seconds())
        self._log.warning("source.rests", host=self.address, reason=reason, pause_s=pause.total_seconds())

    @contextmanager
    def _permit(self, until: float) -> Iterator[None]:
        """Raises Resting if the server is not to be asked now, or if too many games ask it already."""
        self._refuse_while_resting()
        if not self._permits.acquire(timeout=max(0.0, until - time.monotonic())):
            raise Resting(f"{self.address} is busy with other games")
        try:
            self._refuse_while_resting()
            if time.monotonic() >= until:
                raise Resting(f"{self.address} was busy with other games")
            if self._rate_limiter is not None and self._rate_limiter.ask(Purpose.CLOUD) > 0:
                raise Resting(f"{self.address} asked for a pause")
            yield
        finally:
            self._permits.release()

    def _refuse_while_resting(self) -> None:
        if time.monotonic() < self._rests_until:
            raise Resting(f"{self.address} rests")

    def _get(self, errand: Errand) -> bytes:
        """The body of a good answer. Raises ApiError."""
        session = self._session()
        try:
            body = self._read(session, errand)
        except (requests.RequestException, OSError) as error:
            session.close()
            raise Unreachable(f"{network_error(error)} at {self.address}") from error
        except ApiError:
            session.close()
            raise
        with self._lock:
            self._idle.append(session)
        return body

    def _read(self, session: requests.Session, errand: Errand) -> bytes:
        left_s = errand.until - time.monotonic()
        if left_s <= 0:
            raise Unreachable(f"no time left for {self.address}")
        token = self._access.token.get_secret_value() if errand.with_token and self.may_see_token else None
        with session.get(
            self.address + errand.path,
            params={name: str(value) for name, value in errand.query.items()},
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=(min(left_s, self._access.timeouts.connect.total_seconds()), left_s),
            allow_redirects=False,
            stream=True,
        ) as response:
            body = read_body(response, LONGEST_ANSWER_BYTES, errand.until, partial=errand.growing)
            if response.status_code >= HTTPStatus.BAD_REQUEST:
                raise answer_error(response, body, self._access.timeouts.rate_limit)
            if response.status_code != HTTPStatus.OK:
                raise Unreachable(f"{response.status_code} from {self.address}")
            return body

    @property
    def may_see_token(self) -> bool:
        """Whether this is the server that our token belongs to, or one of its own."""
        ours, home = urlsplit(self.address), urlsplit(self._access.url)
        belongs = ours.hostname == home.hostname or (ours.hostname or "").endswith(f".{home.hostname}")
        return belongs and (ours.scheme == "https" or home.scheme == "http")

    def _session(self) -> requests.Session:
        """One that nobody uses now."""
        with suppress(IndexError), self._lock:
            return self._idle.pop()
        # Uncompressed, so that a small answer cannot become a huge one.
        headers = {"User-Agent": self._access.user_agent, "Accept": "application/json", "Accept-Encoding": "identity"}
        return configured(requests.Session(), self._access.proxy, **headers)
