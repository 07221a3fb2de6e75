"""How much we may ask of Lichess: the pause after a 429, and budgets for the limits it documents.

Knows when a request may begin; sends none and never waits. Moves and the streams of games in
progress do not ask here: they cannot wait, and heed their own clock instead.
"""

import threading
import time
from collections import deque
from datetime import timedelta
from enum import Enum, auto
from typing import Final

from lichessbot.timeouts import Timeouts


class Purpose(Enum):
    """What a request is for, as far as Lichess counts it separately."""

    EVENT_STREAM = auto()
    ACCOUNT = auto()
    CHALLENGE = auto()
    TOURNAMENT = auto()
    CLOUD = auto()
    OTHER = auto()


# Lichess allows 30 of the first two in their windows; the rest is left to `check`, to a restart, to a browser.
_EVENT_STREAMS: Final = 25
_ACCOUNTS: Final = 20
# Lichess allows 25 in a minute, and counts a challenge to a human five times.
_CHALLENGES: Final = 4
# Lichess allows 30 in its window: one a minute for each of two tournaments, and some that follow a game.
_TOURNAMENTS: Final = 25
# Lichess allows 3000 in its window.
_CLOUD: Final = 2500


class RateLimiter:
    """Shared by all threads that send requests."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._lock = threading.Lock()
        self._not_before = time.monotonic()
        self._budgets = {
            Purpose.EVENT_STREAM: _Budget(_EVENT_STREAMS, timeouts.event_stream_window),
            Purpose.ACCOUNT: _Budget(_ACCOUNTS, timeouts.account_window),
            Purpose.TOURNAMENT: _Budget(_TOURNAMENTS, timeouts.tournament_window),
            Purpose.CHALLENGE: _Budget(_CHALLENGES, timeouts.challenge_window),
            Purpose.CLOUD: _Budget(_CLOUD, timeouts.cloud_window),
        }

    def hold_back(self, pause: timedelta) -> None:
        """Lichess answered 429: nothing but moves for `pause`.

        A used-up quota asks for hours, but only of the one kind of request that used it up: the
        others wait no longer than after a 429 that names no pause.
        """
        if pause > self._timeouts.longest_pause:
            pause = self._timeouts.rate_limit
        until = time.monotonic() + pause.total_seconds()
        with self._lock:
            self._not_before = max(self._not_before, until)

    def ask(self, purpose: Purpose) -> float:
        """0 if a request may begin now, which is then counted; else the seconds after which to ask again."""
        now = time.monotonic()
        with self._lock:
            budget = self._budgets.get(purpose)
            wait_s = max(0.0, self._not_before - now, budget.wait_s(now) if budget else 0.0)
            if budget is not None and wait_s == 0.0:
                budget.spend(now)
        return wait_s


class _Budget:
    """At most so many in any window of time."""

    def __init__(self, most: int, window: timedelta) -> None:
        self._window_s = window.total_seconds()
        self._spent: deque[float] = deque(maxlen=most)

    def wait_s(self, now: float) -> float:
        if len(self._spent) < (self._spent.maxlen or 0):
            return 0.0
        return max(0.0, self._spent[0] + self._window_s - now)

    def spend(self, now: float) -> None:
        self._spent.append(now)
