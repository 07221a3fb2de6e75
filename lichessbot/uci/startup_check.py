"""The check of all configured engines at the start: each has to find a move before any game depends on it."""

import itertools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from engine.facade import STARTING_FEN, Limits
from lichessbot.config import Config
from lichessbot.errors import EngineError, EngineMissing
from lichessbot.lichess.enums import Variant
from lichessbot.timeouts import Timeouts
from lichessbot.uci.engine import UciEngine
from lichessbot.uci.profiles import ConfiguredEngine, configured_engines
from lichessbot.uci.search import BestMove, Emit, EngineDied, Search

GAME_ID: Final = "self-test"  # longer than any id of Lichess
_SEARCH_IDS: Final = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of an engine, as one line of text."""

    text: str
    is_lasting: bool = True
    """Whether the configuration is wrong, so that another attempt would fail too."""


class StartupCheck:
    """Starts the engines one after the other. Each is reported through `emit` for a game named `GAME_ID`; `judge` the
    report, and the next engine starts.
    """

    def __init__(self, config: Config, emit: Emit, timeouts: Timeouts, limits: Limits) -> None:
        self.config = config
        self._search_id = 0
        self._emit = emit
        self._timeouts = timeouts
        self._limits = limits
        self._left = list(configured_engines(config))
        self._engine: UciEngine | None = None
        self._alarm: threading.Timer | None = None
        self._is_missing = False
        self._start()

    @property
    def over(self) -> bool:
        """Return whether every engine was judged."""
        return not self._left

    @property
    def engine_name(self) -> str:
        """Return the name of the engine being checked; empty for ours."""
        own = self._left[0].engine.command is None
        return "" if own or self._engine is None else self._engine.name

    def is_meant(self, report: BestMove | EngineDied) -> bool:
        """Return whether the report is from the engine being checked, not from one checked before."""
        return report.search_id == self._search_id

    def judge(self, report: BestMove | EngineDied) -> tuple[Fault, ...]:
        """Return the faults of the engine being checked, and start the next one."""
        tested = self._left.pop(0)
        faults = tuple(self._faults(report, tested))
        self.close()
        if self._left:
            self._start()
        return faults

    def close(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _start(self) -> None:
        self._is_missing = False
        self._search_id = next(_SEARCH_IDS)
        try:
            engine = self._engine = UciEngine(GAME_ID, self._left[0].engine, self._emit, self._timeouts)
            patience = self._timeouts.engine_handshake + self._timeouts.engine_first_move
            self._alarm = threading.Timer(patience.total_seconds(), engine.kill, ["no move in time"])
            self._alarm.daemon = True
            self._alarm.start()
            engine.search(Search(self._search_id, STARTING_FEN, False, (), self._limits))
        except EngineError as error:
            self._is_missing = isinstance(error, EngineMissing)
            self._emit(EngineDied(GAME_ID, self._search_id, str(error)))

    def _faults(self, report: BestMove | EngineDied, tested: ConfiguredEngine) -> Iterator[Fault]:
        if isinstance(report, EngineDied):
            yield Fault(f"{tested.key}: the engine died: {report.reason}", self._is_missing)
            return
        if report.move is None:
            yield Fault(f"{tested.key}: the engine finds no move in the start position", is_lasting=False)
        if self._engine is None:
            return
        for complaint in self._engine.complaints:
            yield Fault(f"{tested.key}.{complaint}")
        others = [variant for variant in tested.variants if variant is not Variant.STANDARD]
        if others and not self._engine.plays_chess960:
            yield Fault(
                f"{tested.key}.command: {self._engine.name or 'the engine'} offers no UCI_Chess960, "
                f"without which it cannot play {' and '.join(others)}: leave them out of challenge.variants"
            )
