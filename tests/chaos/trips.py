"""How long a request takes on this machine, and thus which requests were sent before the bot could know better."""

import re
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import requests

from lichessbot.rehearsal.faults.client_checks import UNDER_WAY_MS

EVERY_S = 0.1
TOO_LATE = re.compile(r"(?:a request \(.*\)|game \w+: \S+ is late or doubled,) (\d+) ms into ")


class Trips:
    """Sends requests of its own to a rehearsal's server and keeps the time of the longest."""

    def __init__(self, url: str) -> None:
        self.longest_ms = 0.0
        self._url = f"{url}/api/user/nobody"
        self._over = threading.Event()

    def send(self) -> None:
        with requests.Session() as session:
            session.trust_env = False
            while not self._over.wait(EVERY_S):
                began = time.monotonic()
                session.get(self._url)
                self.longest_ms = max(self.longest_ms, 1000 * (time.monotonic() - began))

    def end(self) -> None:
        self._over.set()

    def judge(self, offences: Iterable[str]) -> list[str]:
        """Return the offences but those requests that may have been under way when the pause or the position began.

        The bot has more threads than we have: its request may take twice as long as our longest.
        """
        most_ms = UNDER_WAY_MS + 2 * self.longest_ms
        return [it for it in offences if (found := TOO_LATE.match(it)) is None or int(found[1]) > most_ms]


@contextmanager
def trips_to(url: str) -> Iterator[Trips]:
    """Measure while the block runs."""
    trips = Trips(url)
    sender = threading.Thread(target=trips.send, name="trips")
    sender.start()
    try:
        yield trips
    finally:
        trips.end()
        sender.join()
