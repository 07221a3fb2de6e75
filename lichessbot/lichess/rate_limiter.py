"""When a request to Lichess may be sent: after the pause of a 429, and within the documented limits.

Sends nothing and never waits. Moves do not ask here, and the streams of games ignore the pause: a clock is running.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum

from lichessbot.timeouts import Timeouts


class Purpose(StrEnum):
    """The kinds of requests that Lichess counts separately, or that we limit ourselves, in words for the operator."""

    EVENT_STREAM = "event stream"
    ACCOUNT = "account"
    TOURNAMENT = "tournaments"
    CHALLENGE = "challenges"
    DECLINE = "declines"
    CLOUD = "cloud evaluations"
    OTHER = "other requests"


class RateLimiter:
    """Shared by all threads that send requests."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._lock = threading.Lock()
        self._not_before = time.monotonic()
        # Our own limit for all streams together: a stream that ends as soon as it is open must not flood Lichess.
        self._reopenings = _Budget(4, timeouts.stream_window)
        self._waiting_streams: dict[object, float] = {}  # and when each should be open
        self._budgets = {
            # Lichess allows 30 of each of these two; the rest is for `check`, restarts and browsers.
            Purpose.EVENT_STREAM: _Budget(25, timeouts.event_stream_window),
            Purpose.ACCOUNT: _Budget(20, timeouts.account_window),
            # Lichess allows 30: one a minute for each of two tournaments, and some after games.
            Purpose.TOURNAMENT: _Budget(25, timeouts.tournament_window),
            # Lichess allows 25, and counts a challenge to a human as five.
            Purpose.CHALLENGE: _Budget(4, timeouts.challenge_window),
            # Our own limit: a flood of challenges must not use up what moves need, as Lichess counts all requests of
            # an address.
            Purpose.DECLINE: _Budget(20, timeouts.decline_window),
            # Lichess allows 3000, and counts one without the `User-Agent` of a browser as five; from a data centre's
            # address as more.
            Purpose.CLOUD: _Budget(500, timeouts.cloud_window),
        }

    def hold_back(self, pause: timedelta, quota: str = "") -> None:
        """Send nothing but moves for `pause`, after a 429.

        A named quota forbids one kind of request, which its sender knows: nothing else waits. Without a name a pause of
        hours must be a quota too: all requests wait as after a 429 that names no pause.
        """
        if quota:
            return
        if pause > self._timeouts.longest_pause:
            pause = self._timeouts.rate_limit
        until = time.monotonic() + pause.total_seconds()
        with self._lock:
            self._not_before = max(self._not_before, until)

    @property
    def pause_s(self) -> float:
        """Return the seconds until anything but moves may be sent again."""
        with self._lock:
            return max(0.0, self._not_before - time.monotonic())

    @property
    def held_back(self) -> Mapping[str, float]:
        """For how many seconds each kind of request must still wait, in words; without those that need not."""
        now = time.monotonic()
        with self._lock:
            waits_s = {"all but moves": self._not_before - now}
            waits_s |= {purpose.value: budget.wait_s(now) for purpose, budget in self._budgets.items()}
            waits_s["streams of games"] = self._reopenings.wait_s(now)
        return {what: wait_s for what, wait_s in waits_s.items() if wait_s > 0.0}

    def wait_s(self, purpose: Purpose) -> float:
        """Return the seconds until such a request may be sent, without counting one."""
        now = time.monotonic()
        with self._lock:
            return self._wait_s(purpose, now)

    def ask(self, purpose: Purpose) -> float:
        """Return 0 and count the request if it may be sent now, else the seconds after which to ask again."""
        now = time.monotonic()
        with self._lock:
            wait_s = self._wait_s(purpose, now)
            if wait_s == 0.0 and purpose in self._budgets:
                self._budgets[purpose].spend(now)
        return wait_s

    def ask_to_reopen(self, stream: object, due_at: float) -> float:
        """Return 0 if `stream` may be opened again now, else the seconds after which to ask again.

        Streams that should be open sooner, by `due_at` in monotonic seconds, go first. One that is no longer wanted
        must `withdraw`.
        """
        now = time.monotonic()
        with self._lock:
            self._waiting_streams[stream] = due_at
            ahead = sum(other < due_at for other in self._waiting_streams.values())
            wait_s = self._reopenings.wait_s(now, ahead)
            if wait_s == 0.0:
                self._reopenings.spend(now)
                del self._waiting_streams[stream]
        return wait_s

    def withdraw(self, stream: object) -> None:
        """Forget that `stream` waits to be opened again."""
        with self._lock:
            self._waiting_streams.pop(stream, None)

    def _wait_s(self, purpose: Purpose, now: float) -> float:
        budget = self._budgets.get(purpose)
        return max(0.0, self._not_before - now, budget.wait_s(now) if budget else 0.0)


class _Budget:
    """At most `most` requests in any window of time."""

    def __init__(self, most: int, window: timedelta) -> None:
        self._window_s = window.total_seconds()
        self._spent = deque([-math.inf] * most, maxlen=most)

    def wait_s(self, now: float, ahead: int = 0) -> float:
        """Return the seconds until there is room for a request behind `ahead` others, at most the window."""
        if ahead >= len(self._spent):
            return self._window_s
        return max(0.0, self._spent[ahead] + self._window_s - now)

    def spend(self, now: float) -> None:
        self._spent.append(now)
