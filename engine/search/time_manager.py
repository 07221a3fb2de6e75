# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""How long a move may take: a soft deadline after which no new depth is begun, a hard one that stops the search."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cython

from engine.core import params

if not cython.compiled:
    from time import monotonic_ns

    def now_us() -> int:
        """Microseconds on a clock that never jumps."""
        return monotonic_ns() // 1000


FOREVER_US = 10**15                # 31 years: no deadline
LEAST_US = 100                     # every search gets so much
CLOCK_PERIOD = cython.declare(cython.int, 1024)     # nodes between two looks at the clock: well under a millisecond
UNLIMITED_NODES = 1 << 62


@dataclass(frozen=True)
class Limits:
    """What a search may cost: UCI's `go`. Times in milliseconds; None means "no such limit".

    `mate_in`: stop at a mate in so many moves or fewer. `ponder`: no time limit counts before the ponder hit.
    """

    white_time_ms: int | None = None
    black_time_ms: int | None = None
    white_increment_ms: int | None = None
    black_increment_ms: int | None = None
    moves_to_go: int | None = None
    depth: int | None = None
    nodes: int | None = None
    move_time_ms: int | None = None
    mate_in: int | None = None
    infinite: bool = False
    ponder: bool = False

    def clock_of(self, white: bool) -> tuple[int | None, int]:
        """The side's remaining time and its increment, in milliseconds."""
        if white:
            return self.white_time_ms, self.white_increment_ms or 0
        return self.black_time_ms, self.black_increment_ms or 0


def deadlines_us(limits: Limits, white: bool, overhead_ms: int) -> tuple[int, int]:
    """The soft and the hard deadline of a search in microseconds, LEAST_US <= soft <= hard; equal if they do not bend.

    `overhead_ms` is what a move costs between our clock and the referee's, over and above the search. It is kept back
    for every move still expected, and of a clock with `t` ms left at most `t - overhead_ms` is used, LEAST_US at least.
    When not even the overhead of those moves is left, each gets so small a part of the rest that the game can last.
    An increment that pays for the overhead keeps the longest game alive; without one it must last for more moves.
    A fixed time for the move is never more than the clock allows, where there is one.
    """
    if limits.move_time_ms is not None:
        budget = max(LEAST_US, (limits.move_time_ms - overhead_ms) * 1000)
        budget = min(budget, deadlines_us(replace(limits, move_time_ms=None), white, overhead_ms)[1])
        return budget, budget
    remaining, increment = limits.clock_of(white)
    if limits.infinite or remaining is None:
        return FOREVER_US, FOREVER_US
    usable = max(LEAST_US, (remaining - overhead_ms) * 1000)
    expected = params.MOVES_TO_GO if increment > overhead_ms else params.MOVES_TO_GO_UNPAID
    moves = max(1, min(limits.moves_to_go or expected, expected))
    soft = (remaining + increment * (moves - 1) - overhead_ms * moves) * 1000 // moves
    scramble = min(usable, max(LEAST_US, remaining * 1000 // params.SCRAMBLE_MOVES))
    if soft <= scramble:
        return scramble, scramble
    share = usable if moves == 1 else usable * params.HARD_PERCENT // 100
    hard = max(scramble, min(soft * params.HARD_FACTOR, share))
    return max(LEAST_US, min(soft, hard - 1)), hard


def bend_percent(steady_depths: int, score_drop_cp: int, best_move_share: int) -> int:
    """How much of the soft deadline a move deserves, in percent.

    Less, the longer the best move has stayed the same and the more of the nodes it took, for then hardly anything can
    change; more, if the score has dropped since the depth before, for then something better must be found.
    """
    steadiness = params.STEADY_PERCENT[min(steady_depths, len(params.STEADY_PERCENT) - 1)]
    drop = max(-params.SCORE_TREND_LIMIT, min(score_drop_cp, params.SCORE_TREND_LIMIT))
    trend = 100 + drop * params.SCORE_TREND_PERCENT // 100
    doubt = params.SHARE_BASE - best_move_share * params.SHARE_PERCENT // 100
    bend = steadiness * trend * doubt // 10000
    return max(params.BEND_LEAST, min(bend, params.BEND_MOST))


@cython.final
@cython.cclass
class TimeManager:
    """The running clock of one search, started when it is made."""

    def __init__(self, soft_us: int = FOREVER_US, hard_us: int = FOREVER_US, pondering: bool = False) -> None:
        """Deadlines in microseconds from now. `pondering`: the hard one counts only from `ponder_hit` on."""
        self.started_us = now_us()
        self.soft_us = soft_us
        self.hard_us = hard_us
        self.pondering = pondering
        self.is_done = False       # set by the search: without pondering it would stop now
        self.end_us = self.started_us + (FOREVER_US if pondering else hard_us)

    def ponder_hit(self) -> None:
        """The opponent played the move pondered on: the hard deadline counts from now, the soft one from the start.

        What was thought on the opponent's time is kept. From any thread.
        """
        self.end_us = now_us() + self.hard_us
        self.pondering = False

    def elapsed_ms(self) -> int:
        """Since the start."""
        return (now_us() - self.started_us) // 1000

    def too_late_for_another_depth(self, percent: int = 100) -> bool:
        """Is so much of the soft deadline gone that the next depth would hardly finish?

        `percent` of the soft deadline count: see `bend_percent`. A fixed time per move does not bend.
        """
        elapsed_us = now_us() - self.started_us
        if self.soft_us == self.hard_us:
            return elapsed_us >= self.soft_us
        return elapsed_us * 10000 >= self.soft_us * params.NEXT_DEPTH_PERCENT * percent

    def late_ms(self) -> int:
        """How far the hard deadline has passed; 0 if it has not. While pondering there is none."""
        return max(0, now_us() - self.end_us) // 1000

    def expired(self) -> cython.bint:
        """Has the hard deadline passed?"""
        return now_us() >= self.end_us


@cython.final
@cython.cclass
class NodeCounter:
    """Of one thread's search. `stopped` may be set from any thread; once it is, whatever nodes return is void."""

    def __init__(self, time_manager: TimeManager, node_limit: int = 0) -> None:
        self.time_manager = time_manager
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

    def count(self, ply: cython.int) -> cython.void:
        """One more node; now and then a look at the clock."""
        self.nodes += 1
        if self.nodes >= self.look_at:
            self.look_at_limits()
        if ply > self.deepest:
            self.deepest = ply

    def look_at_limits(self) -> cython.void:
        """Stop if the nodes or the time are used up, and say at which node to look again."""
        if self.nodes > self.node_limit or self.time_manager.expired():
            self.stopped = True
        self.look_at = self.nodes + CLOCK_PERIOD
        if self.look_at > self.node_limit + 1:
            self.look_at = self.node_limit + 1
