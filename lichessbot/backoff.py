"""Exponential backoff with equal jitter: delays for repeated attempts. No clock, no sleeping, no I/O.

Each random delay lies between half of a bound and the bound, which doubles with each failure, so that clients that
lost the same server do not return at the same moment.
"""

from datetime import timedelta
from random import Random
from typing import Final, TypeVar

# Shared, because seeding costs more than everything else here.
_RANDOM: Final = Random()


Duration = TypeVar("Duration", float, timedelta)


def doubled(first: Duration, times: int, ceiling: Duration) -> Duration:
    """Return `first` doubled `times` times (not at all if negative), at most `ceiling`."""
    for _ in range(times):
        if first >= ceiling:
            break
        first = first + first
    return min(ceiling, first)


class Backoff:
    """The delays of one series of attempts."""

    def __init__(self, first: timedelta, ceiling: timedelta, *, random: Random | None = None) -> None:
        """The first retry is immediate, the second waits at most `first`, and none waits longer than `ceiling`."""
        assert timedelta() < first <= ceiling
        self._first = first
        self._ceiling = ceiling
        self._random = random or _RANDOM
        self._failures = 0

    def next_delay(self) -> timedelta:
        """Return the delay before the next attempt: zero once, then growing."""
        self._failures += 1
        if self._failures == 1:
            return timedelta()
        return doubled(self._first, self._failures - 2, self._ceiling) * self._random.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Start a new series after a success."""
        self._failures = 0
