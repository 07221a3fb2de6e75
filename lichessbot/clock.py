"""How much time a game leaves us: for the search, for an engine that hangs, for a refused move.

Pure arithmetic on the clocks of one game state; `now` is monotonic seconds.
"""

import math
from dataclasses import dataclass
from typing import Final, Self

from engine.facade import Limits
from lichessbot.config import EngineConfig
from lichessbot.events import GameFull, GameState
from lichessbot.vocabulary import Colour
from lichessbot.waits import Waits

# Both first moves are free: the clock of the side to move runs from the third ply on.
_FREE_PLIES: Final = 2
# An engine divides its clock by itself; past this much of it, it is told to stop.
_SHARE_FOR_ONE_MOVE: Final = 1 / 2
_MOST_FOR_ONE_MOVE: Final = 3 / 4
# A fixed move time is kept to while the clock would last for this many such moves.
_FIXED_TIME_MOVES: Final = 20
# Of what is then left, the part it has for stopping.
_SHARE_FOR_STOPPING: Final = 1 / 4
# And of that, the part the daemon's own search may use.
_SHARE_FOR_THE_FALLBACK: Final = 1 / 8
# When the pause Lichess asks for would lose the game, the move is tried again after this much.
_SHARE_FOR_A_REFUSED_MOVE: Final = 1 / 2


@dataclass(frozen=True, slots=True)
class GameClock:
    """The clocks as one state told them at `read_at`."""

    colour: Colour
    timed: bool
    running: bool
    """Whether our clock runs."""
    state: GameState
    read_at: float

    @classmethod
    def read(cls, full: GameFull, state: GameState, colour: Colour, to_move: str, now: float) -> Self:
        """The clocks of `state`, just received, with `to_move` the side whose turn it is."""
        running = to_move == colour and len(state.moves.split()) >= _FREE_PLIES
        return cls(colour, full.clock is not None, running, state, now)

    def remaining_s(self, now: float) -> float:
        """What is left on our clock; endless without one. Never negative."""
        if not self.timed:
            return math.inf
        ours_ms = self.state.wtime if self.colour is Colour.WHITE else self.state.btime
        elapsed_s = now - self.read_at if self.running else 0.0
        return max(0.0, ours_ms / 1000 - elapsed_s)

    def limits(self, engine: EngineConfig, waits: Waits, now: float) -> Limits:
        """What the engine may use for one move: the clocks, and what the operator set."""
        if not self.timed:
            untimed_ms = int(waits.untimed_move.total_seconds() * 1000)
            return Limits(depth=engine.depth, nodes=engine.nodes, move_time_ms=engine.move_time_ms or untimed_ms)
        white = self.colour is Colour.WHITE
        ours_ms = max(1, int(self.remaining_s(now) * 1000))
        return Limits(
            white_time_ms=ours_ms if white else self.state.wtime,
            black_time_ms=self.state.btime if white else ours_ms,
            white_increment_ms=self.state.winc,
            black_increment_ms=self.state.binc,
            depth=engine.depth,
            nodes=engine.nodes,
            move_time_ms=self._affordable(engine.move_time_ms, ours_ms),
        )

    def _affordable(self, move_time_ms: int | None, ours_ms: int) -> int | None:
        """The fixed move time, or None once the engine has to divide what is left by itself."""
        if move_time_ms is None:
            return None
        cost_ms = move_time_ms - self._increment_ms
        return move_time_ms if cost_ms * _FIXED_TIME_MOVES <= ours_ms - move_time_ms else None

    @property
    def _increment_ms(self) -> int:
        return self.state.winc if self.colour is Colour.WHITE else self.state.binc

    def patience_s(self, limits: Limits, waits: Waits, now: float) -> float:
        """How long the engine may think under `limits` before it is told to stop."""
        patience_s = math.inf
        if self.timed:
            remaining_s = self.remaining_s(now)
            patience_s = remaining_s * _SHARE_FOR_ONE_MOVE + self._increment_ms / 1000
            patience_s = min(patience_s, remaining_s * _MOST_FOR_ONE_MOVE)
        if limits.move_time_ms is not None:
            overrun_s = waits.engine_overrun.total_seconds()
            patience_s = min(patience_s, limits.move_time_ms / 1000 + overrun_s)
        if not self.running:
            # Nothing is lost by waiting for an engine that is still starting.
            patience_s += waits.engine_handshake.total_seconds()
        return patience_s

    def stopping_s(self, waits: Waits, now: float) -> float:
        """How long an engine told to stop may take for its answer before it counts as hung."""
        return min(waits.engine_stop.total_seconds(), self.remaining_s(now) * _SHARE_FOR_STOPPING)

    def fallback_s(self, waits: Waits, now: float) -> float:
        """How long the daemon's own search may take when no engine answers."""
        return min(waits.fallback.total_seconds(), self.remaining_s(now) * _SHARE_FOR_THE_FALLBACK)

    def refused_move_pause_s(self, asked_s: float, waits: Waits, now: float) -> float:
        """When to send a move again after a 429 that asks for a pause of `asked_s`."""
        spacing_s = waits.rate_limit_spacing.total_seconds()
        remaining_s = self.remaining_s(now)
        if not self.running or asked_s + spacing_s < remaining_s:
            return asked_s
        return max(spacing_s, remaining_s * _SHARE_FOR_A_REFUSED_MOVE)
