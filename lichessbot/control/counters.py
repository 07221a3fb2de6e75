"""What is counted for the status, since the start of the process: faults survived, and the speed of searches."""

from collections import deque
from dataclasses import replace
from typing import Final

from lichessbot.control.status import EngineStatus, Faults
from lichessbot.log import crashes

_SEARCHES: Final = 20
# Shorter searches say more about their start than about the engine's speed.
_FEWEST_NODES: Final = 1000
_MOST_NODES: Final = 2**53  # an engine may report anything


class Counters:
    """For the main thread."""

    def __init__(self) -> None:
        self.counted = Faults()
        """Everything but the internal errors, which the log counts."""
        self._speeds: deque[tuple[int, int]] = deque(maxlen=_SEARCHES)
        self._engine_name = ""

    @property
    def faults(self) -> Faults:
        return replace(self.counted, internal_errors=crashes())

    def note_search(self, engine_name: str, nodes: int, nodes_per_s: int) -> None:
        """Count a search that found our move."""
        self._engine_name = engine_name or self._engine_name
        if _FEWEST_NODES <= nodes <= _MOST_NODES and 0 < nodes_per_s <= _MOST_NODES:
            self._speeds.append((nodes, nodes_per_s))

    @property
    def engine(self) -> EngineStatus:
        nodes = sum(nodes for nodes, _ in self._speeds)
        took_s = sum(nodes / nodes_per_s for nodes, nodes_per_s in self._speeds)
        return EngineStatus(self._engine_name, round(nodes / took_s) if took_s else 0, len(self._speeds))
