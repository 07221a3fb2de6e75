"""What is counted for the status: faults survived since the start, the speed of searches, and memory."""

import os
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from lichessbot.control.status import EngineStatus, Faults
from lichessbot.log import crashes

_SEARCHES: Final = 20
# Shorter searches say more about their start than about the engine's speed.
_FEWEST_NODES: Final = 1000
_MOST_NODES: Final = 2**53  # an engine may report anything
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


class Counters:
    """For the main thread; the archive's thread counts `games_without_pgn`."""

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

    def engine(self, processes: Iterable[int]) -> EngineStatus:
        """Return how the engines with these process ids do."""
        nodes = sum(nodes for nodes, _ in self._speeds)
        took_s = sum(nodes / nodes_per_s for nodes, nodes_per_s in self._speeds)
        running = tuple(processes)
        return EngineStatus(
            name=self._engine_name,
            nodes_per_s=round(nodes / took_s) if took_s else 0,
            searches=len(self._speeds),
            processes=len(running),
            memory_bytes=sum(map(_resident_bytes, (os.getpid(), *running))),
        )


def _resident_bytes(process_id: int) -> int:
    """Return the resident memory of a process; 0 if it has ended, or if this system does not tell."""
    try:
        pages = Path(f"/proc/{process_id}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * _PAGE_BYTES
