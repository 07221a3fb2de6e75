"""An engine for a thread that waits for its answers, as python-chess's class of this name."""

import os
from contextlib import suppress
from datetime import timedelta
from queue import Empty, SimpleQueue

from engine.facade import Board, Limits
from lichessbot.config import EngineConfig
from lichessbot.errors import EngineError
from lichessbot.timeouts import Timeouts
from lichessbot.uci.restarting_engine import IdleEngines, RestartingEngine
from lichessbot.uci.search import BestMove, EngineDied, EngineReady, EngineReport, Search, SearchInfo


class SimpleEngine:
    """Starts an engine with the first search, and again after `close`. It ends with its thread."""

    def __init__(self, game_id: str, config: EngineConfig, timeouts: Timeouts, niceness: int | None = None) -> None:
        """`niceness`: a lower priority than that of engines that play, as for `nice`."""
        self._config = config
        self._timeouts = timeouts
        self._niceness = niceness
        self._reports: SimpleQueue[EngineReport] = SimpleQueue()
        self._engine = RestartingEngine(game_id, self._reports.put, timeouts, IdleEngines(timedelta()))
        self._last_id = 0

    @property
    def name(self) -> str:
        """The name that the engine reports; empty before its first answer."""
        return self._engine.identity.name

    def close(self) -> None:
        """Kill the engine."""
        self._engine.close()

    def search(self, board: Board, limits: Limits, patience_s: float) -> SearchInfo:
        """Return what a search found. Raises EngineError if the engine ends meanwhile, or gives no answer in that time.

        The time comes on top of what an engine may take to start and to stop.
        """
        self._last_id += 1
        search = Search.of(self._last_id, board, limits)
        self._engine.search(self._config, search, 0)
        its = self._timeouts
        patience_s += (its.engine_handshake + its.engine_first_move + its.engine_overrun).total_seconds()
        while True:
            try:
                report = self._reports.get(timeout=patience_s)
            except Empty:
                raise EngineError(f"no answer in {patience_s:.0f} s") from None
            match report:
                case EngineReady():
                    self._lower_priority()
                case BestMove(search_id=self._last_id, summary=summary):
                    return summary
                case EngineDied(search_id=self._last_id, reason=reason):
                    raise EngineError(reason)

    def _lower_priority(self) -> None:
        """Lower the priority once the engine is ready; earlier, its `nice` wrapper would overwrite it."""
        process_id = self._engine.process_id
        if self._niceness is not None and process_id is not None:
            with suppress(OSError):  # it has ended already, which the search reports
                os.setpriority(os.PRIO_PROCESS, process_id, self._niceness)
