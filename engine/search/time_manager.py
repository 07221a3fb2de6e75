# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Limits of a search: a soft and a hard deadline, and a number of nodes.

The soft deadline, adapted after each depth, decides whether another depth begins. The hard one stops the search.
(chessprogramming wiki: Time Management)
"""

from __future__ import annotations

from typing import NamedTuple

import cython

from engine.board import Board
from engine.core import params

if not cython.compiled:
    from time import monotonic_ns

    def now_us() -> int:
        """Return microseconds on a monotonic clock."""
        return monotonic_ns() // 1000


FOREVER_US = 10**15                # 31 years: no deadline
LEAST_US = 100                     # the shortest deadline
CLOCK_PERIOD = cython.declare(cython.int, 1024)     # nodes between two checks of the limits: 0.5 ms at 2 million per s
UNLIMITED_NODES = 1 << 62


class Limits(NamedTuple):
    """The limits of UCI's `go`: times in milliseconds, None for no such limit.

    `mate_in`: stop at a mate in this many moves or fewer. `ponder`: ignore time limits until the ponder hit.
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
        """Return a side's remaining time, None without a clock, and its increment in milliseconds."""
        if white:
            return self.white_time_ms, self.white_increment_ms or 0
        return self.black_time_ms, self.black_increment_ms or 0


def moves_left(piece_count: int, move_number: int) -> int:
    """Return how many moves we expect still to play: the fewer, the fewer pieces are left and the later in the game."""
    change = params.MOVES_LEFT_PER_PIECE * piece_count - params.MOVES_LEFT_PER_MOVE * move_number
    return max(params.LEAST_MOVES_LEFT, params.MOVES_LEFT + change // 100)


def deadlines_on_us(board: Board, limits: Limits, overhead_ms: int) -> tuple[int, int]:
    """Return the soft and the hard deadline for the side to move on a board, as `deadlines_us` does."""
    moves = moves_left(board.piece_count, board.fullmove_number)
    return deadlines_us(limits, board.turn == "white", overhead_ms, moves)


def deadlines_us(limits: Limits, white: bool, overhead_ms: int, moves: int) -> tuple[int, int]:
    """Return the soft and the hard deadline in microseconds from now, LEAST_US <= soft <= hard.

    - Time per move: both are that time less the overhead, at least half of it, and no more than the clock allows.
    - No clock, or `infinite`: none (FOREVER_US).
    - A clock: the soft one is an equal share for each of the `moves` still expected (more of them without an
      increment larger than the overhead), with the increments to come and less `overhead_ms` for each move. The hard
      one is HARD_FACTOR times the soft one, at most HARD_PERCENT of the clock (LAST_MOVE_PERCENT for the last move).
    - A clock too short for the overhead of these moves: both are 1/SCRAMBLE_MOVES of it.

    Of a clock with `t` ms left at most `t - overhead_ms` is used, but at least LEAST_US. With 60 s + 0.6 s and 10 ms of
    overhead and 18 moves the deadlines are 3.9 s and 15.6 s.
    """
    if limits.move_time_ms is not None:
        budget = max(LEAST_US, limits.move_time_ms * 500, (limits.move_time_ms - overhead_ms) * 1000)
        budget = min(budget, deadlines_us(limits._replace(move_time_ms=None), white, overhead_ms, moves)[1])
        return budget, budget
    remaining, increment = limits.clock_of(white)
    if limits.infinite or remaining is None:
        return FOREVER_US, FOREVER_US
    usable = max(LEAST_US, (remaining - overhead_ms) * 1000)
    if increment <= overhead_ms:
        moves = max(params.NO_INCREMENT_LEAST, moves * params.NO_INCREMENT_PERCENT // 100)
    moves = min(limits.moves_to_go or moves, moves)
    soft = (remaining + increment * (moves - 1) - overhead_ms * moves) * 1000 // moves
    scramble = min(usable, max(LEAST_US, remaining * 1000 // params.SCRAMBLE_MOVES))
    if soft <= scramble:
        return scramble, scramble
    share = usable * (params.LAST_MOVE_PERCENT if moves == 1 else params.HARD_PERCENT) // 100
    hard = max(scramble, min(soft * params.HARD_FACTOR, share))
    return max(LEAST_US, min(soft, hard - 1)), hard


def soft_percent(steady_depths: int, score_drop_cp: int, best_move_share: int) -> int:
    """Return the percentage of the soft deadline to use for this move.

    Less if the best move has been the same for many depths and takes most of the nodes; more if the score has
    dropped since the previous depth. `best_move_share` is in percent.
    """
    stability = params.STEADY_PERCENT[min(steady_depths, len(params.STEADY_PERCENT) - 1)]
    drop = max(-params.SCORE_TREND_LIMIT, min(score_drop_cp, params.SCORE_TREND_LIMIT))
    trend = 100 + drop * params.SCORE_TREND_PERCENT // 100
    share = params.SHARE_BASE - best_move_share * params.SHARE_PERCENT // 100
    percent = stability * trend * share // 10000
    return max(params.SOFT_PERCENT_MIN, min(percent, params.SOFT_PERCENT_MAX))


@cython.final
@cython.cclass
class TimeManager:
    """The deadlines of one search, whose clock starts when this is created."""

    def __init__(self, soft_us: int = FOREVER_US, hard_us: int = FOREVER_US, pondering: bool = False) -> None:
        """The deadlines are in microseconds from now. If pondering, the hard one counts from `ponder_hit`."""
        self.started_us = now_us()
        self.soft_us = min(soft_us, FOREVER_US)
        self.hard_us = min(hard_us, FOREVER_US)
        self.pondering = pondering
        self.is_done = False       # set by the search: without pondering it would stop now
        self.end_us = self.started_us + (FOREVER_US if pondering else self.hard_us)

    def ponder_hit(self) -> None:
        """Start the hard deadline, as the expected move was played; the soft one counts from the start.

        Callable from any thread.
        """
        self.end_us = now_us() + self.hard_us
        self.pondering = False

    def elapsed_ms(self) -> int:
        """Return the milliseconds since the start."""
        return (now_us() - self.started_us) // 1000

    def too_late_for_another_depth(self, percent: int = 100) -> bool:
        """Return whether another depth would hardly finish within `percent` of the soft deadline.

        A fixed time per move ignores `percent`.
        """
        elapsed_us = now_us() - self.started_us
        if self.soft_us == self.hard_us:
            return elapsed_us >= self.soft_us
        return elapsed_us * 10000 >= self.soft_us * params.NEXT_DEPTH_PERCENT * percent

    def late_ms(self) -> int:
        """Return by how many milliseconds the hard deadline has passed, 0 if it has not or while pondering."""
        return max(0, now_us() - self.end_us) // 1000

    def expired(self) -> cython.bint:
        """Return whether the hard deadline has passed."""
        return now_us() >= self.end_us


@cython.final
@cython.cclass
class NodeCounter:
    """Counts the nodes of one thread's search and sets `stopped` at a limit.

    Any thread may set `stopped`; scores returned after that are meaningless.
    """

    def __init__(self, time_manager: TimeManager, node_limit: int = 0) -> None:
        self.time_manager = time_manager
        self.node_limit = min(node_limit, UNLIMITED_NODES) if node_limit > 0 else UNLIMITED_NODES
        self.reset()

    def reset(self) -> None:
        """Count from zero."""
        self.nodes = 0
        self.stopped = False
        self.deepest = 0
        self.plan_check()          # no check yet: one period nearly always completes depth 1, however short the time

    def count(self, ply: cython.int) -> cython.void:
        """Count a node; check the limits every CLOCK_PERIOD nodes."""
        self.nodes += 1
        if self.nodes >= self.next_check:
            self.check_limits()
        if ply > self.deepest:
            self.deepest = ply

    def check_limits(self) -> cython.void:
        """Stop if the nodes or the time are used up."""
        if self.nodes > self.node_limit or self.time_manager.expired():
            self.stopped = True
        self.plan_check()

    def plan_check(self) -> cython.void:
        """Set when to check the limits again: in CLOCK_PERIOD nodes, or sooner at the node limit."""
        self.next_check = self.nodes + CLOCK_PERIOD
        if self.next_check > self.node_limit + 1:
            self.next_check = self.node_limit + 1


@cython.cclass
class CountedSearch:
    """What every search with a `counter` offers to Python callers."""

    def stop(self) -> None:
        """End the search now; callable from any thread."""
        self.counter.stopped = True

    def was_stopped(self) -> bool:
        """Return whether `stop`, the clock or the node limit ended the search."""
        return self.counter.stopped

    def node_count(self) -> int:
        """Return the nodes visited, at most the limit, since the search was created or reset."""
        return min(self.counter.nodes, self.counter.node_limit)

    def deepest(self) -> int:
        """Return the deepest ply reached, quiescence included."""
        return self.counter.deepest
