"""Lists of players on the web, one name a line: fetched by a thread each, the last good version kept.

Knows addresses, sizes and time limits; not what a list is good for. No token is sent. Whatever a server does, it costs
at most the updates of its own list: challenges and games never wait for a list.
"""

import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urljoin, urlsplit

import requests

from lichessbot.backoff import Backoff
from lichessbot.config import LOOPBACK
from lichessbot.errors import Unreachable
from lichessbot.lichess.http import PROGRAM, configured, network_error, read_body
from lichessbot.log import EventLog
from lichessbot.storage.records import ListFetched
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts

LONGEST_LIST_BYTES: Final = 1 << 20
_MOST_REDIRECTS: Final = 5
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{2,30}")
_UNCHANGED: Final = 304


class ListUnusable(Exception):
    """The list could not be fetched, or is not a list of players."""


Emit = Callable[[ListFetched], None]


class PlayerLists:
    """The newest good version of every list. For the main thread."""

    def __init__(self, store: Store, emit: Emit, timeouts: Timeouts, proxy: str | None) -> None:
        self._store = store
        self._emit = emit
        self._timeouts = timeouts
        self._proxy = proxy
        self._readers: dict[str, _ListReader] = {}

    def watch(self, addresses: Sequence[str]) -> None:
        """Fetch these lists from now on, and no others."""
        for address in self._readers.keys() - set(addresses):
            self._readers.pop(address).stop()
        for address in addresses:
            if address not in self._readers:
                known = self._store.player_lists.get(address)
                fetcher = Fetcher(address, self._timeouts, self._proxy, etag=known.etag if known else "")
                self._readers[address] = reader = _ListReader(fetcher, self._emit, self._timeouts)
                reader.start()

    def heard(self, fetched: ListFetched) -> None:
        """Keep a new version."""
        EventLog().info("list.fetched", address=fetched.address, players=len(fetched.names))
        self._store.note_player_list(fetched)

    def naming(self, user_id: str, addresses: Sequence[str]) -> str | None:
        """Return the first of these lists that names the player; None if none does."""
        known = self._store.player_lists
        return next((it for it in addresses if it in known and user_id in known[it].names), None)

    def close(self) -> None:
        self.watch(())


class _ListReader(threading.Thread):
    """The thread that fetches one list periodically."""

    def __init__(self, fetcher: "Fetcher", emit: Emit, timeouts: Timeouts) -> None:
        super().__init__(name=f"list-{fetcher.address}", daemon=True)
        self._fetcher = fetcher
        self._emit = emit
        self._timeouts = timeouts
        self._over = threading.Event()

    def stop(self) -> None:
        """End after the present request, if there is one."""
        self._over.set()

    def run(self) -> None:
        backoff = Backoff(self._timeouts.backoff_first, self._timeouts.list_refresh)
        failing = False
        while not self._over.is_set():
            pause = self._timeouts.list_refresh
            try:
                fetched = self._fetcher.fetch()
                failing = False
                backoff.reset()
                if fetched is not None and not self._over.is_set():
                    self._emit(fetched)
            except Exception as error:
                pause = max(backoff.next_delay(), self._timeouts.list_retry)
                if not isinstance(error, ListUnusable):
                    EventLog().crash("list.crashed", error, address=self._fetcher.address)
                elif not failing:
                    meaning = "the last good one stays in force"
                    EventLog().warning("list.failed", address=self._fetcher.address, error=error, meaning=meaning)
                failing = True
            self._over.wait(pause.total_seconds())


class Fetcher:
    """Requests one list, and whether it changed since the last request."""

    def __init__(self, address: str, timeouts: Timeouts, proxy: str | None, etag: str = "") -> None:
        self.address = address
        self._timeouts = timeouts
        self._proxy = proxy
        self._etag = etag

    def fetch(self) -> ListFetched | None:
        """Return the list if it changed. Raises ListUnusable."""
        deadline = time.monotonic() + self._timeouts.list_answer.total_seconds()
        with configured(requests.Session(), self._proxy) as session:
            try:
                with self._final_answer(session) as response:
                    if response.status_code == _UNCHANGED:
                        return None
                    if response.headers.get("Content-Encoding", "identity") != "identity":
                        raise ListUnusable("compressed, though that was not asked for")
                    names = parse(read_body(response, LONGEST_LIST_BYTES, deadline))
            except Unreachable as error:
                raise ListUnusable(str(error)) from error
            except (requests.RequestException, OSError, ValueError) as error:
                raise ListUnusable(network_error(error)) from error
        self._etag = response.headers.get("ETag", "")
        return ListFetched(self.address, names, self._etag)

    def _final_answer(self, session: requests.Session) -> requests.Response:
        """Follow redirects, but only to addresses that the config would accept."""
        timeout = (self._timeouts.connect.total_seconds(), self._timeouts.list_answer.total_seconds())
        headers = {"User-Agent": PROGRAM, "Accept-Encoding": "identity"}
        if self._etag:
            headers["If-None-Match"] = self._etag
        address = self.address
        for _ in range(_MOST_REDIRECTS):
            response = session.get(address, headers=headers, timeout=timeout, stream=True, allow_redirects=False)
            if response.status_code in (requests.codes.ok, _UNCHANGED):
                return response
            response.close()
            if not response.is_redirect:
                raise ListUnusable(f"status {response.status_code}")
            address = urljoin(address, response.headers["Location"])
            if not self._may_lead_to(address):
                raise ListUnusable(f"leads to {address}")
        raise ListUnusable("leads from address to address")

    def _may_lead_to(self, address: str) -> bool:
        """Refuse a redirect to this machine: the keeper of a list must not choose what is requested here."""
        from_loopback, to_loopback = (urlsplit(it).hostname in LOOPBACK for it in (self.address, address))
        return from_loopback if to_loopback else urlsplit(address).scheme == "https"


def parse(body: bytes) -> frozenset[str]:
    """Return the ids of the players in a list: one a line, `#` begins a comment. Raises ListUnusable."""
    lines = [line.partition("#")[0].strip() for line in body.decode("utf-8-sig", "replace").splitlines()]
    entries = [line for line in lines if line]
    names = [line.lower() for line in entries if _NAME.fullmatch(line)]
    if 2 * len(names) < len(entries):
        raise ListUnusable("most of its lines are no names of players")
    return frozenset(names)
