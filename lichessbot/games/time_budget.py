"""How much time a game leaves us: for the search, a hung engine, a refused move, a suspicion.

Pure arithmetic on the clocks of one game state; `now` is monotonic seconds.
"""

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Self

from engine.facade import Limits, longest_think_s
from lichessbot.config import EngineConfig
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.models import GameFull, GameInfo, GameState
from lichessbot.timeouts import Timeouts

# Both first moves are free: the clock of the side to move runs from the third ply on.
_FREE_PLIES: Final = 2
# A first move is thought about as if no more were on the clock: opponents abort what does not begin.
_FIRST_MOVE_CLOCK_MS: Final = 120_000
# What Lichess writes for the clocks of a game that has none.
_UNLIMITED_MS: Final = 2**31 - 1
# An engine divides its clock by itself; past this much of it, it is told to stop.
_SHARE_FOR_ONE_MOVE: Final = 1 / 2
_MOST_FOR_ONE_MOVE: Final = 3 / 4
# Of our own we know how long it thinks at most; a busy machine may take so much of the clock beside that.
_SHARE_FOR_AN_OVERRUN: Final = 1 / 10
# A fixed move time is kept to while the clock would last for this many such moves.
_FIXED_TIME_MOVES: Final = 20
# A pondering engine was promised a clock; with less than this part of it, it is asked anew.
_SHARE_OF_A_PROMISE: Final = 0.9
# Of the days for a move, the part it may be thought about: there is the way to Lichess as well.
_SHARE_OF_DAYS: Final = 1 / 4
# Of what is then left, the part it has for stopping.
_SHARE_FOR_STOPPING: Final = 1 / 4
# And of that, the part the daemon's own search may use: it may have to find many moves until an engine is there again.
_SHARE_FOR_THE_FALLBACK: Final = 1 / 40
# When the pause Lichess asks for could lose the game, the move is tried again after this much.
_SHARE_FOR_A_REFUSED_MOVE: Final = 1 / 2
# Which it does if less than this would be left.
_SHARE_AFTER_A_PAUSE: Final = 1 / 4
# The successor of a failed engine may be as slow in every move, and starts meanwhile.
_SHARE_FOR_A_START: Final = 1 / 20
# What the books and servers asked before the engine may take of the clock.
_SHARE_FOR_SOURCES: Final = 1 / 40
# Looking as if thinking takes so much of the clock in the sixth move, and with every ply so much less.
_FAKE_SHARE: Final = 0.025
_FAKE_DECAY: Final = 0.99
_FAKE_FROM_PLY: Final = 10
# What the operator wants a move to wait for costs no more of the clock than this, beside the increment.
_SHARE_FOR_A_PAUSE: Final = 1 / 40
# No other wait of ours takes more of the clock than this.
_SHARE_FOR_A_RETRY: Final = 1 / 8


@dataclass(frozen=True, slots=True)
class GameClock:
    """The clocks as one state told them, which arrived at `read_at`: from then on ours may have run."""

    colour: Colour
    timed: bool
    running: bool
    """Whether our clock runs."""
    state: GameState
    read_at: float
    by_days: bool = False
    """Whether each move has days of its own, and no more."""

    @classmethod
    def read(cls, full: GameFull, state: GameState, colour: Colour, to_move: str, received_at: float) -> Self:
        """The clocks of `state`, with `to_move` the side whose turn it is."""
        running = to_move == colour and len(state.moves.split()) >= _FREE_PLIES
        limited = full.days_per_turn is None and min(state.wtime, state.btime) < _UNLIMITED_MS
        by_days = full.days_per_turn is not None
        return cls(colour, full.clock is not None or limited, running, state, received_at, by_days)

    def remaining_s(self, now: float) -> float:
        """What is left on our clock; endless without one. Never negative."""
        if not (self.timed or self.by_days):
            return math.inf
        ours_ms = self.state.wtime if self.colour is Colour.WHITE else self.state.btime
        elapsed_s = now - self.read_at if self.running else 0.0
        return max(0.0, ours_ms / 1000 - elapsed_s)

    def limits(self, engine: EngineConfig, timeouts: Timeouts, now: float) -> Limits:
        """What the engine may use for one move: the clocks, and what the operator set."""
        if not self.timed:
            wished_s = (engine.move_time_ms or 0) / 1000 or timeouts.untimed_move.total_seconds()
            move_time_s = min(wished_s, self.remaining_s(now) * _SHARE_OF_DAYS)
            return Limits(depth=engine.depth, nodes=engine.nodes, move_time_ms=max(1, int(move_time_s * 1000)))
        white = self.colour is Colour.WHITE
        ours_ms = max(1, int(self.remaining_s(now) * 1000))
        if not self.running:
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

    def limits_after_move(self, engine: EngineConfig, timeouts: Timeouts, now: float) -> Limits:
        """What it may use for our next move, should the opponent answer in no time."""
        limits = self.limits(engine, timeouts, now)
        if not self.timed:
            return limits
        if self.colour is Colour.WHITE:
            return replace(limits, white_time_ms=(limits.white_time_ms or 0) + self.state.winc)
        return replace(limits, black_time_ms=(limits.black_time_ms or 0) + self.state.binc)

    def bears(self, limits: Limits, now: float) -> bool:
        """Whether what an earlier moment promised for this move is still there: a move may have left late."""
        promised_ms = limits.white_time_ms if self.colour is Colour.WHITE else limits.black_time_ms
        return promised_ms is None or self.remaining_s(now) * 1000 >= promised_ms * _SHARE_OF_A_PROMISE

    def _affordable(self, move_time_ms: int | None, ours_ms: int) -> int | None:
        """The fixed move time, or None once the engine has to divide what is left by itself."""
        if move_time_ms is None:
            return None
        cost_ms = move_time_ms - self._increment_ms
        return move_time_ms if cost_ms * _FIXED_TIME_MOVES <= ours_ms - move_time_ms else None

    @property
    def _increment_ms(self) -> int:
        return self.state.winc if self.colour is Colour.WHITE else self.state.binc

    def opponent_hurry_s(self, now: float) -> float:
        """What is left to an opponent who has less than we and no increment; endless for any other. On our turn."""
        white = self.colour is Colour.WHITE
        theirs_ms = self.state.btime if white else self.state.wtime
        increment_ms = self.state.binc if white else self.state.winc
        in_a_hurry = self.timed and increment_ms == 0 and theirs_ms < self.remaining_s(now) * 1000
        return theirs_ms / 1000 if in_a_hurry else math.inf

    def patience_s(self, engine: EngineConfig, limits: Limits, timeouts: Timeouts, now: float) -> float:
        """How long the engine may think under `limits` before it is told to stop."""
        patience_s = math.inf
        overrun_s = timeouts.engine_overrun.total_seconds()
        if self.timed:
            remaining_s = self.remaining_s(now)
            patience_s = remaining_s * _SHARE_FOR_ONE_MOVE + self._increment_ms / 1000
            patience_s = min(patience_s, remaining_s * _MOST_FOR_ONE_MOVE)
            if engine.command is None:
                longest_s = longest_think_s(limits, white=self.colour is Colour.WHITE)
                patience_s = min(patience_s, longest_s + min(overrun_s, remaining_s * _SHARE_FOR_AN_OVERRUN))
        if limits.move_time_ms is not None:
            patience_s = min(patience_s, limits.move_time_ms / 1000 + overrun_s)
        if self.timed and not self.running:
            # Only the opponent's patience is lost by waiting for an engine that is still starting.
            patience_s = min(patience_s, timeouts.first_move_pause.total_seconds())
            patience_s += timeouts.engine_handshake.total_seconds()
        return patience_s

    def starting_s(self, engine: EngineConfig, limits: Limits, timeouts: Timeouts, now: float) -> float:
        """How long the successor of a failed engine may take to start before the daemon itself moves."""
        patience_s = self.patience_s(engine, limits, timeouts, now)
        return min(patience_s, self.remaining_s(now) * _SHARE_FOR_A_START) if self.running else patience_s

    def consulting_s(self, timeouts: Timeouts, now: float) -> float:
        """How long the move sources may take before the engine is asked instead."""
        return min(timeouts.source_answer.total_seconds(), self.remaining_s(now) * _SHARE_FOR_SOURCES)

    def stopping_s(self, timeouts: Timeouts, now: float) -> float:
        """How long an engine told to stop may take for its answer before it counts as hung."""
        return min(timeouts.engine_stop.total_seconds(), self.remaining_s(now) * _SHARE_FOR_STOPPING)

    def fallback_s(self, timeouts: Timeouts, now: float) -> float:
        """How long the daemon's own search may take when no engine answers."""
        return min(timeouts.fallback.total_seconds(), self.remaining_s(now) * _SHARE_FOR_THE_FALLBACK)

    def fake_think_s(self, ply: int) -> float:
        """How long the move after `ply` plies should at least seem to take, from when our turn began."""
        if not self.timed or ply < _FAKE_FROM_PLY:
            return 0.0
        return self.remaining_s(self.read_at) * _FAKE_SHARE * _FAKE_DECAY ** (ply - _FAKE_FROM_PLY)

    def bearable_pause_s(self, wished_s: float, now: float) -> float:
        """As much of a pause nobody needs as the clock can bear; never negative."""
        most_s = self.remaining_s(now) * _SHARE_FOR_A_PAUSE + self._increment_ms / 1000
        return max(0.0, min(wished_s, most_s))

    def retry_pause_s(self, planned_s: float, timeouts: Timeouts, now: float) -> float:
        """How long to wait before the next try, where `planned_s` would be right if time were no matter."""
        floor_s = min(planned_s, timeouts.retry_floor.total_seconds())
        return max(floor_s, min(planned_s, self.remaining_s(now) * _SHARE_FOR_A_RETRY))

    def silence_s(self, timeouts: Timeouts, now: float) -> float:
        """How long the opponent may take before we ask whether their move was lost.

        Our clock may be running without our knowing it, so the less it shows, the sooner.
        """
        if not self.timed:
            return timeouts.heartbeat.total_seconds()
        share_s = self.remaining_s(now) * _SHARE_FOR_A_RETRY
        return max(timeouts.silence_floor.total_seconds(), min(timeouts.silence_ceiling.total_seconds(), share_s))

    def opening_s(self, planned_s: float, timeouts: Timeouts, now: float) -> float:
        """How long to wait for the stream to open, or for a line it owes us: meanwhile our clock may run unseen."""
        share_s = replace(self, running=True).remaining_s(now) * _SHARE_FOR_A_RETRY
        return min(planned_s, max(timeouts.stream_floor.total_seconds(), share_s))

    def refused_move_pause_s(self, asked_s: float, timeouts: Timeouts, now: float) -> float:
        """When to send a move again after a 429 that asks for a pause of `asked_s`.

        As asked if the clock survives that with enough for the moves to come; before the clock runs
        it is the opponent's patience that counts.
        """
        spacing_s = timeouts.rate_limit_spacing.total_seconds()
        remaining_s = self.remaining_s(now)
        if self.timed and not self.running:
            return min(asked_s, timeouts.first_move_pause.total_seconds())
        if asked_s <= remaining_s * (1 - _SHARE_AFTER_A_PAUSE):
            return asked_s
        return max(spacing_s, remaining_s * _SHARE_FOR_A_REFUSED_MOVE)

    def unseen_pause_s(self, wished_s: float, timeouts: Timeouts, now: float, *, as_asked: bool) -> float:
        """When to open a lost stream again; the opponent may have moved the moment it was lost.

        Patience of our own gives way sooner than a pause that Lichess asks for.
        """
        running = replace(self, running=True)
        pause_s = running.refused_move_pause_s if as_asked else running.retry_pause_s
        return pause_s(wished_s, timeouts, now)


def longest_unread_s(info: GameInfo | None, timeouts: Timeouts) -> float:
    """How long the stream of a game may be left alone that has told nothing yet, by what its announcement says.

    Perhaps our clock runs; perhaps the opponent waits for our first move. Only with days for a move nobody waits.
    """
    if info is not None and info.is_correspondence:
        return math.inf
    most_s = timeouts.first_move_pause.total_seconds()
    if info is None or info.seconds_left is None:
        return most_s
    return min(most_s, max(timeouts.rate_limit_spacing.total_seconds(), info.seconds_left * _SHARE_FOR_A_REFUSED_MOVE))


# The latest ones say how the network is now; so many are needed for a high percentile to mean anything.
ROUND_TRIPS_USED: Final = 200
_ENOUGH: Final = 20


class MoveOverhead:
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
