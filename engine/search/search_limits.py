# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What a search has cost so far, and whether it must end: by the clock, by its nodes, or because somebody said so."""

import cython
from cython.cimports.engine.search.time_manager import Clock

CLOCK_PERIOD = cython.declare(cython.int, 1024)     # nodes between two looks at the clock: well under a millisecond
UNLIMITED_NODES = 1 << 62


@cython.final
@cython.cclass
class Meter:
    """Of one thread's search. `stopped` may be set from any thread; once it is, whatever nodes return is void."""

    def __init__(self, clock: Clock, node_limit: int = 0) -> None:
        self.clock = clock
        self.node_limit = node_limit if node_limit > 0 else UNLIMITED_NODES
        self.reset()

    def reset(self) -> None:
        """Count anew."""
        self.nodes = 0
        self.look_at = CLOCK_PERIOD        # the first depth fits in, however short the time
        if self.look_at > self.node_limit:
            self.look_at = self.node_limit + 1
        self.stopped = False
        self.deepest = 0

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def count(self, ply: cython.int) -> cython.void:
        """One more node; now and then a look at the clock. Never raises."""
        self.nodes += 1
        if self.nodes >= self.look_at:
            self.look_at_limits()
        if ply > self.deepest:
            self.deepest = ply

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def look_at_limits(self) -> cython.void:
        """Stop if the nodes or the time are used up, and say at which node to look again. Never raises."""
        if self.nodes > self.node_limit or self.clock.expired():
            self.stopped = True
        self.look_at = self.nodes + CLOCK_PERIOD
        if self.look_at > self.node_limit + 1:
            self.look_at = self.node_limit + 1
