"""Randomized growing delays for repeated attempts; no clock, no sleeping, no I/O.

Each delay is drawn between half and the whole of a bound that doubles, so that many clients
which lost the same server do not come back in step (exponential back-off with equal jitter).
"""

from datetime import timedelta
from random import Random
from typing import Final

# One for all: most series never fail, and to seed costs more than all else they do.
_RANDOM: Final = Random()


class Backoff:
    """The delays of one series of attempts."""

    def __init__(self, first: timedelta, ceiling: timedelta, *, random: Random | None = None) -> None:
        """The first attempt again is immediate; the next waits up to `first`, never over `ceiling`."""
        assert timedelta() < first <= ceiling
        self._first = first
        self._ceiling = ceiling
        self._random = random or _RANDOM
        self._failures = 0

    def next_delay(self) -> timedelta:
        """How long to wait before the next attempt: zero once, then growing."""
        self._failures += 1
        if self._failures == 1:
            return timedelta()
        # The exponent is bounded: 2**n of a day-long outage would overflow the timedelta.
        bound = min(self._ceiling, self._first * float(2 ** min(self._failures - 2, 32)))
        return bound * self._random.uniform(0.5, 1.0)

    def reset(self) -> None:
        """An attempt succeeded: the next failure starts a new series."""
        self._failures = 0
