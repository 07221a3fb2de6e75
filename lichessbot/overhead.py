"""What is kept back of every move's time for the way to Lichess and back, from the round trips so far.

Pure arithmetic; the round trips are recorded by others.
"""

import math
from collections import deque
from collections.abc import Iterable
from typing import Final

from lichessbot.config import EngineConfig

# The latest ones say how the network is now; so many are needed for a high percentile to mean anything.
ROUND_TRIPS_USED: Final = 200
_ENOUGH: Final = 20


class Overhead:
    """Learns from each round trip."""

    def __init__(self, round_trips_ms: Iterable[float]) -> None:
        """`round_trips_ms`: what earlier games measured, oldest first."""
        self._round_trips_ms = deque(round_trips_ms, maxlen=ROUND_TRIPS_USED)

    def note(self, round_trip_ms: float) -> None:
        self._round_trips_ms.append(round_trip_ms)

    def now_ms(self, config: EngineConfig) -> int:
        """What `config` says until enough is known, then the percentile between its bounds."""
        if len(self._round_trips_ms) < _ENOUGH:
            return config.move_overhead_ms
        ordered = sorted(self._round_trips_ms)
        rank = math.ceil(len(ordered) * config.move_overhead_percentile / 100)
        measured_ms = math.ceil(ordered[rank - 1])
        return min(max(measured_ms, config.min_move_overhead_ms), config.max_move_overhead_ms)
