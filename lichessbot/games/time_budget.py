"""The time budget of a game: for the search, and for every wait that costs our clock; and what moves took.

Arithmetic on the clocks of one state; `now` is monotonic seconds.
"""

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Self

from engine.facade import Board, Limits, longest_think_s
from lichessbot.config import EngineConfig
from lichessbot.lichess.enums import Colour, Speed
from lichessbot.lichess.models import GameFull, GameInfo, GameState
from lichessbot.timeouts import Timeouts

# The clocks run from the third ply on.
FREE_PLIES: Final = 2
# For the first move the engine is shown at most this: an opponent aborts a game that does not begin.
_FIRST_MOVE_CLOCK_MS: Final = 120_000
# The clocks of an untimed game, as Lichess writes them.
UNLIMITED_MS: Final = 2**31 - 1
# An engine manages its time itself; after this share of the clock, it is told to stop.
_SHARE_FOR_ONE_MOVE: Final = 1 / 2
_MOST_FOR_ONE_MOVE: Final = 3 / 4
# The next one, after a search that hung: else two of them would take nearly all of the clock.
_SHARE_AFTER_A_HANG: Final = 1 / 8
# Our own engine may exceed its known maximum by this share on a busy machine.
_SHARE_FOR_AN_OVERRUN: Final = 1 / 10
# A fixed move time is used while the clock lasts for this many more moves.
_FIXED_TIME_MOVES: Final = 20
# A ponder search goes on if our clock shows at least this share of what the engine was told.
_SHARE_OF_PONDER_CLOCK: Final = 0.9
# The share of the days per move that a search may take.
_SHARE_OF_DAYS: Final = 1 / 4
# The share of the remaining clock in which an engine has to stop.
_SHARE_FOR_STOPPING: Final = 1 / 4
# The share for the search in this process: it may have to find many moves until an engine runs again.
_SHARE_FOR_THE_FALLBACK: Final = 1 / 40
# If the pause that Lichess asks for could lose the game, the move is sent again after this share of the clock ...
_SHARE_FOR_A_REFUSED_MOVE: Final = 1 / 2
# ... which is so if less than this share would be left.
_SHARE_AFTER_A_PAUSE: Final = 1 / 4
# How long a move waits for a new engine, which goes on starting afterwards: the first move of ours, and others.
_SHARE_FOR_THE_FIRST_START: Final = 1 / 8
_SHARE_FOR_A_START: Final = 1 / 20
# All move sources together.
_SHARE_FOR_SOURCES: Final = 1 / 40
# `fake_think_time`: the share of the clock at the sixth move, and its decay per ply.
_FAKE_SHARE: Final = 0.025
_FAKE_DECAY: Final = 0.99
_FAKE_FROM_PLY: Final = 10
# The most that `rate_limiting_delay` and `fake_think_time` may cost, beside the increment ...
_SHARE_FOR_A_PAUSE: Final = 1 / 40
# ... which comes only after the move: no pause may take more than this share of the clock itself.
MOST_FOR_A_PAUSE: Final = 1 / 4
# The answer to each try of a move: if it does not come, others fit into the clock ...
_SHARE_FOR_AN_ANSWER: Final = 1 / 4
# ... but a slow answer is no reason to send a move twice.
_LEAST_ANSWER_S: Final = 1.0
# Over a slow connection, a shorter wait than for this many round trips would give up each answer.
_ROUND_TRIPS_AWAITED: Final = 2
# In slower games an opponent may claim the game only after this multiple of the absence in bullet and blitz.
_ABSENCE_FACTORS: Final[dict[str, int]] = {Speed.RAPID: 2, Speed.CLASSICAL: 3}
# The most that any other wait may cost.
_SHARE_FOR_A_RETRY: Final = 1 / 8


@dataclass(frozen=True, slots=True)
class GameClock:
    """The clocks of one state, which arrived at `read_at`."""

    colour: Colour
    timed: bool
    our_clock_runs: bool
    state: GameState
    read_at: float
    timeouts: Timeouts
    by_days: bool = False
    """Whether there are days per move instead of a clock."""
    in_arena: bool = False
    speed: str = ""
    round_trip_s: float = 0.0
    """The move overhead: waits for Lichess last for at least two of it."""
    has_begun: bool = False
    """Whether the clocks ran in an earlier state: they go on if the first moves are taken back."""

    @classmethod
    def read(
        cls,
        full: GameFull,
        state: GameState,
        colour: Colour,
        to_move: str,
        received_at: float,
        timeouts: Timeouts,
        round_trip_s: float = 0.0,
        earlier: Self | None = None,
    ) -> Self:
        """Return the clocks of `state`; `to_move` is the side to move, `earlier` the clocks of the state before."""
        by_days = full.days_per_turn is not None
        has_begun = earlier is not None and earlier.clock_runs and not by_days
        is_limited = not by_days and min(state.wtime, state.btime) < UNLIMITED_MS
        return cls(
            colour=colour,
            timed=full.clock is not None or is_limited,
            our_clock_runs=to_move == colour and (has_begun or len(state.moves.split()) >= FREE_PLIES),
            state=state,
            read_at=received_at,
            timeouts=timeouts,
            by_days=by_days,
            in_arena=full.tournament_id is not None,
            speed=full.speed,
            round_trip_s=round_trip_s,
            has_begun=has_begun,
        )

    def remaining_s(self, now: float) -> float:
        """Return our remaining time; infinite without a clock, never negative."""
        if not (self.timed or self.by_days):
            return math.inf
        elapsed_s = now - self.read_at if self.our_clock_runs else 0.0
        return max(0.0, self.state.time_ms(self.colour) / 1000 - elapsed_s)

    def shown_s(self, colour: Colour, to_move: str, now: float) -> float | None:
        """Return the clock of a side as spectators see it; None without a clock."""
        if not (self.timed or self.by_days):
            return None
        elapsed_s = now - self.read_at if self.clock_runs and colour == to_move else 0.0
        return max(0.0, self.state.time_ms(colour) / 1000 - elapsed_s)

    @property
    def run_until(self) -> float:
        """When both clocks will have run out if we cannot move; the infinite past without a clock."""
        return self.read_at + (self.state.wtime + self.state.btime) / 1000 if self.timed else -math.inf

    @property
    def clock_runs(self) -> bool:
        """Whether the clock of the side to move runs."""
        return (self.timed or self.by_days) and (self.has_begun or len(self.state.moves.split()) >= FREE_PLIES)

    def limits(self, engine: EngineConfig, now: float, *, after_move: bool = False) -> Limits:
        """Return the limits of one search: the clocks, and what the configuration sets.

        `after_move`: of the search for our next move if we move now and the opponent replies at once.
        """
        if not self.timed:
            wished_s = (engine.move_time_ms or 0) / 1000 or self.timeouts.untimed_move.total_seconds()
            move_time_s = min(wished_s, self.remaining_s(now) * _SHARE_OF_DAYS)
            return Limits(depth=engine.depth, nodes=engine.nodes, move_time_ms=max(1, int(move_time_s * 1000)))
        white = self.colour is Colour.WHITE
        ours_ms = max(1, int(self.remaining_s(now) * 1000))
        if after_move:
            ours_ms += self._increment_ms(self.colour) if self.our_clock_runs else 0  # a first move earns none
        elif not self.our_clock_runs:
            ours_ms = min(ours_ms, _FIRST_MOVE_CLOCK_MS)
        return Limits(
            white_time_ms=ours_ms if white else self.state.wtime,
            black_time_ms=self.state.btime if white else ours_ms,
            white_increment_ms=self.state.winc,
            black_increment_ms=self.state.binc,
            depth=engine.depth,
            nodes=engine.nodes,
            move_time_ms=self._affordable(engine.move_time_ms, ours_ms),
        )

    def covers(self, limits: Limits, now: float) -> bool:
        """Return whether our clock still shows what a ponder search was told: our move may have left late."""
        told_ms = limits.white_time_ms if self.colour is Colour.WHITE else limits.black_time_ms
        return told_ms is None or self.remaining_s(now) * 1000 >= told_ms * _SHARE_OF_PONDER_CLOCK

    def _affordable(self, move_time_ms: int | None, ours_ms: int) -> int | None:
        """Return the fixed move time, or None if the clock is too short for it."""
        if move_time_ms is None:
            return None
        cost_ms = move_time_ms - self._increment_ms(self.colour)
        return move_time_ms if cost_ms * _FIXED_TIME_MOVES <= ours_ms - move_time_ms else None

    def _increment_ms(self, colour: Colour) -> int:
        return self.state.winc if colour is Colour.WHITE else self.state.binc

    @property
    def increment_s(self) -> float:
        """Our increment."""
        return self._increment_ms(self.colour) / 1000

    def lag_s(self, after: GameState, sent_at: float) -> float | None:
        """Return what our clock lost by a move beyond the time from this state to `sent_at`, when we sent the move.

        That is the way of this state to us and of the move back. None if `after`, a later state, does not tell.
        """
        is_shown = after.moves.startswith(f"{self.state.moves} ") and {"wtime", "btime"} <= after.model_fields_set
        if not (self.timed and self.our_clock_runs and is_shown and sent_at >= self.read_at):
            return None
        lost_ms = self.state.time_ms(self.colour) + self._increment_ms(self.colour) - after.time_ms(self.colour)
        return lost_ms / 1000 - (sent_at - self.read_at)

    def opponent_flag_s(self, now: float) -> float:
        """Return the time of an opponent who has less than we and no increment; infinite otherwise. On our turn."""
        theirs_ms = self.state.time_ms(self.colour.other)
        has_increment = self._increment_ms(self.colour.other) != 0
        may_flag = self.timed and not has_increment and theirs_ms < self.remaining_s(now) * 1000
        return theirs_ms / 1000 if may_flag else math.inf

    def think_limit_s(self, engine: EngineConfig, limits: Limits, board: Board, now: float) -> float:
        """Return how long the engine may search `board` under `limits` before it is told to stop."""
        overrun_s = self.timeouts.engine_overrun.total_seconds()
        handshake_s = self.timeouts.engine_handshake.total_seconds()
        remaining_s = self.remaining_s(now)
        one_move_s = remaining_s * _SHARE_FOR_ONE_MOVE
        limit_s = math.inf if limits.move_time_ms is None else limits.move_time_ms / 1000 + overrun_s
        if not self.timed:
            # An engine is started for each move, which takes its time too.
            return min(limit_s + handshake_s, one_move_s)
        limit_s = min(limit_s, one_move_s + self.increment_s, remaining_s * _MOST_FOR_ONE_MOVE)
        if engine.command is None:
            longest_s = longest_think_s(limits, board)
            limit_s = min(limit_s, longest_s + min(overrun_s, remaining_s * _SHARE_FOR_AN_OVERRUN))
        if self.our_clock_runs:
            return limit_s
        # Until our clock runs, an engine may be given time to start.
        limit_s = min(limit_s, self.timeouts.first_move_pause.total_seconds()) + handshake_s
        if not self.in_arena:
            return limit_s
        left_s = self.read_at + self.timeouts.arena_first_move.total_seconds() - now
        return min(limit_s, max(0.0, left_s))

    def limit_after_a_hang_s(self, think_limit_s: float, now: float) -> float:
        """Return how long an engine may search if its last search hung; one that works stops when told to."""
        if not (self.timed and self.our_clock_runs):
            return think_limit_s
        return min(think_limit_s, self.remaining_s(now) * _SHARE_AFTER_A_HANG + self.increment_s)

    def start_limit_s(self, think_limit_s: float, now: float, *, first: bool) -> float:
        """Return how long a move waits for an engine to start. `first`: it is the first engine of the game."""
        if not self.timed:
            think_limit_s += self.timeouts.engine_first_move.total_seconds()
        share = _SHARE_FOR_THE_FIRST_START if first else _SHARE_FOR_A_START
        return min(think_limit_s, self.remaining_s(now) * share) if self.our_clock_runs else think_limit_s

    def affords_engine_start(self, now: float) -> bool:
        """Return whether our move can wait for the start of an engine."""
        return self.remaining_s(now) > self.timeouts.engine_restart_floor.total_seconds()

    def sources_limit_s(self, now: float) -> float:
        """Return how long the move sources may take before the engine is asked instead."""
        return min(self.timeouts.source_answer.total_seconds(), self.remaining_s(now) * _SHARE_FOR_SOURCES)

    def stop_limit_s(self, now: float) -> float:
        """Return how long an engine that was told to stop may take to answer."""
        return min(self.timeouts.engine_stop.total_seconds(), self.remaining_s(now) * _SHARE_FOR_STOPPING)

    def fallback_limit_s(self, now: float) -> float:
        """Return how long the search in this process may take when no engine answers."""
        return min(self.timeouts.fallback.total_seconds(), self.remaining_s(now) * _SHARE_FOR_THE_FALLBACK)

    def fake_think_s(self, ply: int) -> float:
        """Return the least time for the move after `ply` plies under `fake_think_time`."""
        if not self.timed or ply < _FAKE_FROM_PLY:
            return 0.0
        return self.remaining_s(self.read_at) * _FAKE_SHARE * _FAKE_DECAY ** (ply - _FAKE_FROM_PLY)

    def affordable_pause_s(self, wished_s: float, now: float) -> float:
        """Return as much of an optional pause as the clock affords; never negative."""
        most_s = self.remaining_s(now) * _SHARE_FOR_A_PAUSE + self.increment_s
        return max(0.0, min(wished_s, most_s, self.longest_pause_s(now)))

    def longest_pause_s(self, now: float) -> float:
        """Return the longest that an optional pause may be, whatever the increment."""
        return self.remaining_s(now) * MOST_FOR_A_PAUSE

    def move_answer_s(self, now: float) -> float:
        """Return how long to wait for the answer to a move before it is sent again: on a short clock not as long."""
        usual_s = self.timeouts.game_answer.total_seconds()
        if not self.timed:
            return usual_s
        least_s = max(_LEAST_ANSWER_S, self.round_trip_s * _ROUND_TRIPS_AWAITED)
        return min(usual_s, max(least_s, self.remaining_s(now) * _SHARE_FOR_AN_ANSWER))

    def retry_pause_s(self, planned_s: float, now: float) -> float:
        """Return how long to wait before the next try: `planned_s` if the clock affords it."""
        floor_s = min(planned_s, self.timeouts.retry_floor.total_seconds())
        return max(floor_s, min(planned_s, self.remaining_s(now) * _SHARE_FOR_A_RETRY))

    def silence_s(self, now: float) -> float:
        """Return how long to wait for the opponent's move before we ask whether it was lost.

        Our clock may be running unseen: the less it shows, the sooner we ask.
        """
        if not self.timed:
            return self.timeouts.heartbeat.total_seconds()
        share_s = self.remaining_s(now) * _SHARE_FOR_A_RETRY
        floor, ceiling = self.timeouts.silence_floor, self.timeouts.silence_ceiling
        return max(floor.total_seconds(), min(ceiling.total_seconds(), share_s))

    def opening_s(self, planned_s: float, now: float) -> float:
        """Return how long to wait for the stream or its next line, while our clock may run unseen."""
        share_s = replace(self, our_clock_runs=True).remaining_s(now) * _SHARE_FOR_A_RETRY
        least_s = max(self.timeouts.stream_floor.total_seconds(), self.round_trip_s * _ROUND_TRIPS_AWAITED)
        return min(planned_s, max(least_s, share_s))

    def refused_move_pause_s(self, asked_s: float, now: float) -> float:
        """Return how long to wait before a move is sent again after a 429 that asks for a pause of `asked_s`.

        As long as asked, if enough of the clock is left then, or of an arena's time for a first move.
        """
        spacing_s, remaining_s = self.timeouts.rate_limit_spacing.total_seconds(), self.remaining_s(now)
        if self.timed and not self.our_clock_runs:
            remaining_s = self.read_at + self.timeouts.arena_start.total_seconds() - now if self.in_arena else 0.0
            if remaining_s <= 0.0:
                return min(asked_s, self.timeouts.first_move_pause.total_seconds())
        if asked_s <= remaining_s * (1 - _SHARE_AFTER_A_PAUSE):
            return asked_s
        return max(spacing_s, remaining_s * _SHARE_FOR_A_REFUSED_MOVE)

    def reopen_pause_s(self, wished_s: float, now: float, *, as_asked: bool) -> float:
        """Return how long to wait before a lost stream is opened again.

        Our clock may run unseen, and without the stream we count as absent. `as_asked`: Lichess asked for the pause, so
        that it is shortened less.
        """
        unseen = replace(self, our_clock_runs=True)
        pause_s = unseen.refused_move_pause_s if as_asked else unseen.retry_pause_s
        absence_s = self.timeouts.absence.total_seconds() * _ABSENCE_FACTORS.get(self.speed, 1)
        return min(pause_s(wished_s, now), absence_s if self.timed else math.inf)


def longest_unread_s(info: GameInfo | None, timeouts: Timeouts) -> float:
    """Return how long the stream of an announced game may stay unread before its first state.

    Our clock may run, or the opponent may wait for our first move; in correspondence games nobody waits.
    """
    if info is not None and info.is_correspondence:
        return math.inf
    max_s = timeouts.first_move_pause.total_seconds()
    if info is None or info.seconds_left is None:
        return max_s
    return min(max_s, max(timeouts.rate_limit_spacing.total_seconds(), info.seconds_left * _SHARE_FOR_A_REFUSED_MOVE))


# The latest round trips count; a high percentile needs at least 20.
ROUND_TRIPS_USED: Final = 200
_MIN_ROUND_TRIPS: Final = 20
# A network that is slow once is often slow for some moves.
_SLOW_ANSWERS_RESERVED: Final = 3


class MoveOverhead:
    """Move overhead, estimated from measured round trips."""

    def __init__(self, round_trips_ms: Iterable[float]) -> None:
        """`round_trips_ms`: of earlier games, oldest first."""
        self._round_trips_ms = deque(round_trips_ms, maxlen=ROUND_TRIPS_USED)

    def note(self, round_trip_ms: float) -> None:
        self._round_trips_ms.append(round_trip_ms)

    def note_lag(self, lag_ms: float) -> None:
        """Note what our clock lost beside our own time: more than the latest round trip if the stream is late."""
        if self._round_trips_ms:
            self._round_trips_ms[-1] = max(self._round_trips_ms[-1], lag_ms)

    def now_ms(self, config: EngineConfig) -> int:
        """Return the configured percentile of the round trips within its bounds.

        Until enough of them are known, return the configured value, or their median if that is larger.
        """
        known = len(self._round_trips_ms) >= _MIN_ROUND_TRIPS
        least_ms = config.min_move_overhead_ms if known else config.move_overhead_ms
        if not self._round_trips_ms:
            return least_ms
        ordered = sorted(self._round_trips_ms)
        rank = math.ceil(len(ordered) * (config.move_overhead_percentile if known else 50) / 100)
        most_ms = max(least_ms, config.max_move_overhead_ms)
        return min(max(math.ceil(ordered[rank - 1]), least_ms), most_ms)

    def usual_ms(self, config: EngineConfig) -> int:
        """Return the mean cost of a move, at most `now_ms`, which is that of a slow answer and as rare."""
        most_ms, known = self.now_ms(config), len(self._round_trips_ms)
        if known < _MIN_ROUND_TRIPS:
            return most_ms
        mean_ms = sum(min(ms, most_ms) for ms in self._round_trips_ms) / known
        return max(math.ceil(mean_ms), config.min_move_overhead_ms)

    def reserve_ms(self, config: EngineConfig) -> int:
        """Return what the next slow answers may cost beyond `usual_ms`."""
        return _SLOW_ANSWERS_RESERVED * (self.now_ms(config) - self.usual_ms(config))


@dataclass
class MoveTimes:
    """When the steps of our next move happened, in monotonic seconds: how long we take beside search and pause."""

    line_read_at: float = 0.0
    decided_at: float | None = None
    told_at: float | None = None
    sent_at: float = 0.0
    search_s: float = 0.0
    pause_s: float = 0.0

    def searched(self, told_at: float, took_s: float) -> None:
        """Note that the engine, told to search at `told_at`, took this long."""
        self.told_at, self.search_s = told_at, took_s

    def until(self, sent_at: float) -> dict[str, float]:
        """Return our own part in milliseconds, in all and, if the engine was asked for this move, by steps."""
        # A line that is read meanwhile sets `line_read_at` anew, so the difference may be negative.
        own = {"reaction_ms": max(0.0, sent_at - self.line_read_at - self.search_s - self.pause_s)}
        if self.told_at and self.decided_at and self.line_read_at < self.decided_at <= self.told_at:
            own["decide_ms"] = self.decided_at - self.line_read_at
            own["tell_ms"] = self.told_at - self.decided_at
            own["send_ms"] = sent_at - self.told_at - self.search_s - self.pause_s
        return {name: value * 1000 for name, value in own.items()}
