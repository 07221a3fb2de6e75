"""The engine of one game, started on demand and again after it died; and the search that replaces it."""

from engine.facade import Board, Engine, Limits
from lichessbot.config import EngineConfig
from lichessbot.errors import EngineError
from lichessbot.timeouts import Timeouts
from lichessbot.uci.engine import UciEngine
from lichessbot.uci.search import Emit, EngineDied, Search

_FALLBACK_HASH_MB = 1


class RestartingEngine:
    """Runs at most one engine. For the main thread: an engine process ends with the thread that started it."""

    def __init__(self, game_id: str, emit: Emit, timeouts: Timeouts) -> None:
        self._game_id = game_id
        self._emit = emit
        self._timeouts = timeouts
        self._engine: UciEngine | None = None
        self._failed_starts = 0
        self._levels: tuple[int, int] | None = None
        """As the last engine reported them."""

    @property
    def name(self) -> str:
        """The name that the engine reports; empty before that."""
        return "" if self._engine is None else self._engine.name

    @property
    def levels(self) -> tuple[int, int] | None:
        """The lowest and highest level of the engine; None if it has none, or has not reported them yet."""
        return self._levels if self._engine is None else self._engine.levels or self._levels

    @property
    def process_id(self) -> int | None:
        """The process of the running engine; None if none runs."""
        engine = self._engine
        return engine.process_id if engine is not None and engine.alive else None

    def start(self, config: EngineConfig) -> UciEngine:
        """Return the running engine, or a new one if it is dead or configured otherwise. Raises EngineError."""
        engine = self._engine
        if engine is None or not engine.alive or engine.config != config:
            self.close()
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
        if self._engine is not None:
            self._failed_starts = 0 if self._engine.ready else self._failed_starts + 1
            self._levels = self._engine.levels or self._levels
            self._engine.close()
            self._engine = None


def fallback_move(board: Board, time_s: float) -> str | None:
    """Return a legal move found in this process within `time_s`; None if there is none."""
    engine = Engine(hash_mb=_FALLBACK_HASH_MB, move_overhead_ms=0)
    engine.set_position(board)
    return engine.go(Limits(move_time_ms=int(time_s * 1000))).best_move
