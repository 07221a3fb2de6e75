"""When to look at the games in progress, which tells what the streams may have lost.

Pure: `now` is monotonic seconds, passed in. Looks are spared: one at a time, some seconds apart, one
for all games, and without any doubt only now and then.
"""

import math

from lichessbot.waits import Waits


class Reconciler:
    """Collects doubts until the next look."""

    def __init__(self, waits: Waits) -> None:
        self._spacing_s = waits.playing_spacing.total_seconds()
        self._heartbeat_s = waits.heartbeat.total_seconds()
        self._asked_at = -math.inf
        self._due_at = math.inf
        self._under_way = False

    @property
    def wake_at(self) -> float | None:
        """When the next look is due; None while one is under way or none is planned."""
        return None if self._under_way or self._due_at == math.inf else self._due_at

    def want(self, now: float) -> None:
        """Somebody has a doubt that only a look begun from now on can settle."""
        self._due_at = min(self._due_at, max(now, self._asked_at + self._spacing_s))

    def begin(self, now: float) -> bool:
        """Whether to look now; a look then counts as under way until it is `done`."""
        if self.wake_at is None or now < self._due_at:
            return False
        self._asked_at, self._due_at, self._under_way = now, math.inf, True
        return True

    def done(self, now: float, *, answered: bool) -> None:
        """The look ended; one without an answer is made again."""
        self._under_way = False
        pause_s = self._heartbeat_s if answered else self._spacing_s
        self._due_at = min(self._due_at, now + pause_s)
