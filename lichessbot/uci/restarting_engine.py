"""The engine of one game, started on demand and again after it died; and the search that replaces it.

Our own engine plays one game after the other: to start it takes more processor time than to search for some moves.
"""

import time
from dataclasses import dataclass
from datetime import timedelta

from engine.facade import Board, Engine, Limits
from lichessbot.config import EngineConfig
from lichessbot.errors import EngineError
from lichessbot.log import EventLog
from lichessbot.timeouts import Timeouts
from lichessbot.uci.engine import UciEngine
from lichessbot.uci.search import Emit, EngineDied, Search

_FALLBACK_HASH_MB = 1


@dataclass(frozen=True, slots=True)
class EngineIdentity:
    """What an engine reported of itself."""

    name: str = ""
    """Empty before it has reported it."""
    levels: tuple[int, int] | None = None
    """The lowest and highest level; None if it has none, or has not reported them yet."""


class IdleEngines:
    """Engines of ours that play no game, kept for some minutes for the next games. For the main thread.

    Each takes 15 MB of its own, as its hash table goes back to the system. Engines of others are not kept: they may
    keep more memory, and a start of their own for each game is what they are used to.
    """

    def __init__(self, kept: timedelta) -> None:
        self._kept_s = kept.total_seconds()
        self._engines: list[tuple[float, UciEngine]] = []
        """With the end of their time, the oldest first."""
        self._quitting: list[UciEngine] = []
        self.identities: dict[tuple[str, ...] | None, EngineIdentity] = {}
        """Of the engines so far, by their command, for games that have not started theirs."""

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        return self._engines[0][0] if self._engines else None

    @property
    def process_ids(self) -> list[int]:
        return [engine.process_id for _, engine in self._engines if engine.alive]

    def note_identity(self, engine: UciEngine) -> None:
        if engine.ready:
            self.identities[engine.config.command] = EngineIdentity(engine.name, engine.levels)

    def put(self, engine: UciEngine, now: float) -> None:
        """Keep an engine for another game, or end it."""
        if engine.config.command is None and engine.rest():
            self._engines.append((now + self._kept_s, engine))
        else:
            self.end(engine)

    def end(self, engine: UciEngine) -> None:
        """Close an engine of ours; let another one quit."""
        if engine.config.command is None:
            engine.close()
        else:
            engine.quit()
            self._quitting = [it for it in (*self._quitting, engine) if it.alive]

    def keep_one(self, engine: UciEngine) -> None:
        """Keep an engine that has passed the check at the start, unless there is one already."""
        self.note_identity(engine)
        if self._engines:
            self.end(engine)
        else:
            self.put(engine, time.monotonic())

    def take(self, game_id: str, config: EngineConfig) -> UciEngine | None:
        """Return an engine with this configuration for a game; if there is none, close another to make room, and
        return None.
        """
        for number, (_, engine) in reversed(list(enumerate(self._engines))):
            if engine.config == config and engine.begin_game(game_id):
                del self._engines[number]
                return engine
        if self._engines:
            self._engines.pop(0)[1].close()
        return None

    def tick(self, now: float) -> None:
        """Close the engines whose time is over."""
        while self._engines and now >= self._engines[0][0]:
            self._engines.pop(0)[1].close()

    def close(self) -> None:
        """Close all engines and wait for their end: else the init process would have to reap them."""
        kept = [engine for _, engine in self._engines]
        for engine in kept:
            engine.close()
        for engine in (*kept, *self._quitting):
            engine.join()
        self._engines, self._quitting = [], []


class RestartingEngine:
    """Runs at most one engine. For the main thread: an engine process ends with the thread that started it."""

    def __init__(self, game_id: str, emit: Emit, timeouts: Timeouts, idle: IdleEngines) -> None:
        self._game_id = game_id
        self._emit = emit
        self._timeouts = timeouts
        self._idle = idle
        self._engine: UciEngine | None = None
        self._failed_starts = 0
        self._command: tuple[str, ...] | None = None

    @property
    def identity(self) -> EngineIdentity:
        """What the engine reported of itself; until it is ready, what the last one of its command did, in any game."""
        if self._engine is not None:
            self._idle.note_identity(self._engine)
        return self._idle.identities.get(self._command, EngineIdentity())

    @property
    def process_id(self) -> int | None:
        """The process of the running engine; None if none runs."""
        engine = self._engine
        return engine.process_id if engine is not None and engine.alive else None

    def expect(self, config: EngineConfig) -> None:
        """Let `identity` be that of the engine of `config`."""
        self._command = config.command

    def start(self, config: EngineConfig) -> UciEngine:
        """Return the running engine, or another if it is dead or configured otherwise. Raises EngineError."""
        engine = self._engine
        if engine is None or not engine.alive or engine.config != config:
            self.release()
            self.expect(config)
            engine = self._idle.take(self._game_id, config)
            if engine is None:
                engine = UciEngine(self._game_id, config, self._emit, self._timeouts, self._failed_starts)
            self._engine = engine
        return engine

    def search(self, config: EngineConfig, search: Search, overhead_ms: int) -> None:
        """Search with the engine of `config`; one that cannot be started is reported as dead."""
        try:
            self.start(config).search(search, overhead_ms)
        except EngineError as error:
            self._emit(EngineDied(self._game_id, search.search_id, str(error)))

    def ponder_hit(self, search_id: int) -> None:
        """Turn the ponder search `search_id` into an ordinary one."""
        if self._engine is not None:
            self._engine.ponder_hit(search_id)

    def stop(self) -> None:
        """Have the engine answer now."""
        if self._engine is not None:
            self._engine.stop()

    def close(self) -> None:
        """Kill the engine; the next `search` starts another."""
        if (engine := self._give_up()) is not None:
            engine.close()

    def end(self) -> None:
        """End the engine in the ordinary way; the next `search` starts another."""
        if (engine := self._give_up()) is not None:
            self._idle.end(engine)

    def release(self) -> None:
        """Leave the engine to other games."""
        if (engine := self._give_up()) is not None:
            self._idle.put(engine, time.monotonic())

    def _give_up(self) -> UciEngine | None:
        engine, self._engine = self._engine, None
        if engine is not None:
            self._failed_starts = 0 if engine.ready else self._failed_starts + 1
            self._idle.note_identity(engine)
        return engine


def fallback_move(board: Board, time_s: float) -> str | None:
    """Return a legal move found in this process within `time_s`, any one if it cannot search; None if there is none."""
    try:
        engine = Engine(hash_mb=_FALLBACK_HASH_MB, move_overhead_ms=0)
        engine.set_position(board)
        return engine.go(Limits(move_time_ms=int(time_s * 1000))).best_move
    except Exception as error:  # mostly for want of memory, which also keeps an engine from starting
        EventLog().crash("fallback.crashed", error)
        return next(iter(board.legal_moves()), None)
