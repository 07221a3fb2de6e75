"""Lists of players on the web and in files: read by a thread each, the last good version kept.

A list has one name a line, perhaps with `until YYYY-MM-DD`. Knows addresses, sizes and time limits; not what a list is
good for. No token is sent. Whatever a server or a disk does, it costs at most the updates of its own list: challenges
and games never wait for a list. Beside them stands the operator's own list, which `lichessbot block` changes.
"""

import math
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from datetime import date
from typing import Final
from urllib.parse import urljoin, urlsplit

import requests

from lichessbot.backoff import Backoff
from lichessbot.config import LOOPBACK
from lichessbot.errors import Unreachable
from lichessbot.lichess.enums import PLAYER_NAME
from lichessbot.lichess.http import PROGRAM, configured, network_error, read_body
from lichessbot.log import EventLog, silenced, try_start
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.state_reader import StateReader
from lichessbot.storage.store import Store
from lichessbot.storage.tables import Table
from lichessbot.timeouts import Timeouts

LONGEST_LIST_BYTES: Final = 1 << 20
_MOST_REDIRECTS: Final = 5
_ENTRY: Final = re.compile(rf"({PLAYER_NAME})(?:\s+until\s+(\d{{4}}-\d\d-\d\d))?")
_UNCHANGED: Final = 304
_MOST_LINES_NAMED: Final = 10


class ListUnusable(Exception):
    """The list could not be read, or is not a list of players."""


Emit = Callable[[PlayerList], None]


class PlayerLists:
    """The newest good version of every list. For the main thread."""

    def __init__(self, store: Store, emit: Emit, timeouts: Timeouts, proxy: str | None) -> None:
        self._store = store
        self._emit = emit
        self._timeouts = timeouts
        self._proxy = proxy
        self._readers: dict[str, _ListReader] = {}
        self._refusals = Backoff(timeouts.backoff_first, timeouts.list_retry)
        self._start_at = -math.inf
        self.blocked: Set[str] = {str(user_id) for (user_id,) in store.remembered(Table.BLOCKED_PLAYERS)}
        """The ids of players blocked by command, also before a restart."""

    def watch(self, addresses: Sequence[str]) -> None:
        """Read these lists from now on, at web addresses or absolute paths, and no others."""
        for address in self._readers.keys() - set(addresses):
            self._readers.pop(address).stop()
        for address in addresses:
            if address not in self._readers:
                known = self._store.player_lists.get(address)
                etag = known.etag if known else ""
                source: Fetcher | ListFile = Fetcher(address, self._timeouts, self._proxy, etag)
                if address.startswith("/"):
                    source = ListFile(address, self._timeouts, etag)
                self._readers[address] = _ListReader(source, self._emit, self._timeouts)
        self.tick()

    def tick(self) -> None:
        """Start the readers that are not started yet; without a free thread or memory, try again later."""
        now = time.monotonic()
        for reader in self._readers.values():
            if reader.ident is None and now >= self._start_at:
                if try_start(reader, EventLog()):
                    self._refusals.reset()
                else:
                    self._start_at = now + self._refusals.next_delay().total_seconds()

    def update(self, fetched: PlayerList) -> None:
        """Keep a new version."""
        EventLog().info("list.fetched", address=fetched.address, players=len(fetched.words))
        self._store.note_player_list(fetched)

    def naming(self, user_id: str, addresses: Sequence[str]) -> str | None:
        """Return the first of these lists that names the player now; None if none does."""
        known, now_s = self._store.player_lists, time.time()
        return next((it for it in addresses if it in known and known[it].has(user_id, now_s)), None)

    def block(self, user_id: str) -> bool:
        """Block a player until `unblock`; return whether that is new."""
        if user_id in self.blocked:
            return False
        self.blocked |= {user_id}
        self._store.add(Table.BLOCKED_PLAYERS, id=user_id, blocked_at=time.time())
        return True

    def unblock(self, user_id: str) -> bool:
        """Return whether the player was blocked by command."""
        if user_id not in self.blocked:
            return False
        self.blocked -= {user_id}
        self._store.delete(Table.BLOCKED_PLAYERS, id=user_id)
        return True

    def close(self) -> None:
        self.watch(())


def listed_on(records: StateReader, user_id: str, sources: Sequence[str]) -> str | None:
    """Return the first of these lists that names the player now; None if none does.

    Files are read. A list on the web, and a file that cannot be read, is as recorded last. Raises StateError.
    """
    recorded = records.player_lists()
    listings = ((it, _list_in(it) or recorded.get(it)) for it in sources)
    return next((it for it, listing in listings if listing is not None and listing.has(user_id, time.time())), None)


def _list_in(source: str) -> PlayerList | None:
    """Return the list in a file; None if it cannot be read, or is on the web."""
    with silenced(), suppress(ListUnusable):
        return ListFile(source, Timeouts()).fetch() if source.startswith("/") else None
    return None


class _ListReader(threading.Thread):
    """The thread that reads one list periodically."""

    def __init__(self, source: "Fetcher | ListFile", emit: Emit, timeouts: Timeouts) -> None:
        super().__init__(name=f"list-{source.address}", daemon=True)
        self._source = source
        self._emit = emit
        self._timeouts = timeouts
        self._over = threading.Event()

    def stop(self) -> None:
        """End after the present request, if there is one."""
        self._over.set()

    def run(self) -> None:
        refresh = self._source.refresh
        backoff = Backoff(self._timeouts.backoff_first, refresh)
        failing = False
        while not self._over.is_set():
            pause = refresh
            try:
                fetched = self._source.fetch()
                failing = False
                backoff.reset()
                if fetched is not None and not self._over.is_set():
                    self._emit(fetched)
            except Exception as error:
                pause = max(backoff.next_delay(), min(refresh, self._timeouts.list_retry))
                if not isinstance(error, ListUnusable):
                    EventLog().crash("list.crashed", error, address=self._source.address)
                elif not failing:
                    meaning = "the last good one stays in force"
                    EventLog().warning("list.failed", address=self._source.address, error=error, meaning=meaning)
                failing = True
            self._over.wait(pause.total_seconds())


class Fetcher:
    """Requests one list, and whether it changed since the last request."""

    def __init__(self, address: str, timeouts: Timeouts, proxy: str | None, etag: str = "") -> None:
        self.address = address
        self.refresh = timeouts.list_refresh
        self._timeouts = timeouts
        self._proxy = proxy
        self._etag = etag

    def fetch(self) -> PlayerList | None:
        """Return the list if it changed. Raises ListUnusable."""
        deadline = time.monotonic() + self._timeouts.list_answer.total_seconds()
        with configured(requests.Session(), self._proxy) as session:
            try:
                with self._final_answer(session) as response:
                    if response.status_code == _UNCHANGED:
                        return None
                    if response.headers.get("Content-Encoding", "identity") != "identity":
                        raise ListUnusable("compressed, though that was not asked for")
                    words = parse(read_body(response, LONGEST_LIST_BYTES, deadline), self.address)
            except Unreachable as error:
                raise ListUnusable(str(error)) from error
            except (requests.RequestException, OSError, ValueError) as error:
                raise ListUnusable(network_error(error)) from error
        self._etag = response.headers.get("ETag", "")
        return PlayerList.of_words(self.address, words, self._etag)

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
                raise ListUnusable(f"HTTP status {response.status_code}")
            address = urljoin(address, response.headers["Location"])
            if not self._may_lead_to(address):
                raise ListUnusable(f"redirects to {address}, which is not allowed")
        raise ListUnusable("too many redirects")

    def _may_lead_to(self, address: str) -> bool:
        """Refuse a redirect to this machine: the keeper of a list must not choose what is requested here."""
        from_loopback, to_loopback = (urlsplit(it).hostname in LOOPBACK for it in (self.address, address))
        return from_loopback if to_loopback else urlsplit(address).scheme == "https"


class ListFile:
    """A list in a file, read when the file changes."""

    def __init__(self, address: str, timeouts: Timeouts, etag: str = "") -> None:
        self.address = address
        self.refresh = timeouts.list_look
        self._etag = etag

    def fetch(self) -> PlayerList | None:
        """Return the list if the file changed. Raises ListUnusable."""
        try:
            state = os.stat(self.address)
            if not stat.S_ISREG(state.st_mode):  # to open a pipe could take for ever
                raise ListUnusable("not a file")
            etag = f"{state.st_mtime_ns}-{state.st_size}-{state.st_ino}"
            if etag == self._etag:
                return None
            with open(self.address, "rb") as file:
                body = file.read(LONGEST_LIST_BYTES + 1)
        except OSError as error:
            raise ListUnusable(error.strerror or str(error)) from error
        if len(body) > LONGEST_LIST_BYTES:
            raise ListUnusable(f"more than {LONGEST_LIST_BYTES} bytes")
        words = parse(body, self.address)
        self._etag = etag
        return PlayerList.of_words(self.address, words, etag)


def parse(body: bytes, address: str = "") -> list[str]:
    """Return the entries of a list as `PlayerList.words` has them. Raises ListUnusable.

    A line is `name`, or `name until 2026-12-31`; `#` begins a comment. Lines of another form are logged and ignored.
    """
    words: list[str] = []
    unreadable: list[int] = []
    for number, line in enumerate(body.decode("utf-8-sig", "replace").splitlines(), 1):
        text = line.partition("#")[0].strip()
        found = _ENTRY.fullmatch(text)
        if found is not None and _is_day(found[2]):
            words.append(found[1].lower() + (f"@{found[2]}" if found[2] else ""))
        elif text:
            unreadable.append(number)
    if len(words) < len(unreadable):
        raise ListUnusable("most of its lines are not names of players")
    if unreadable:
        lines = ", ".join(map(str, unreadable[:_MOST_LINES_NAMED]))
        expected = "a name, or a name with until and a day such as 2026-12-31"
        EventLog().warning("list.unreadable_lines", address=address, lines=lines, expected=expected)
    return words


def _is_day(text: str | None) -> bool:
    try:
        return text is None or date.fromisoformat(text) is not None
    except ValueError:
        return False
