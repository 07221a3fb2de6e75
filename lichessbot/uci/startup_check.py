"""Every engine of the configuration has to answer one question, one after the other, before any game depends on it.

Knows how they are asked and what a good answer is; what follows from a bad one is the asker's affair.
"""

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
from lichessbot.uci.profiles import ConfiguredEngine, candidates
from lichessbot.uci.search import BestMove, Emit, EngineDied, Search

GAME_ID: Final = "self-test"  # longer than any of Lichess's


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with an engine, in one line."""

    text: str
    is_lasting: bool = True
    """Whether the configuration is to blame, and no other attempt would fare better."""


class StartupCheck:
    """The first engine is started when made. One report for each arrives on the queue, as for a game with the
    name above; `judge` it, and the next engine is started.
    """

    def __init__(self, config: Config, emit: Emit, timeouts: Timeouts, limits: Limits, number: int = 0) -> None:
        """`number` tells the reports of this test from those of another."""
        self.config = config
        self._number = number
        self._emit = emit
        self._timeouts = timeouts
        self._limits = limits
        self._left = list(candidates(config))
        self._engine: UciEngine | None = None
        self._alarm: threading.Timer | None = None
        self._is_missing = False
        self._start()

    @property
    def over(self) -> bool:
        """Whether every engine was judged."""
        return not self._left

    @property
    def engine_name(self) -> str:
        """What the engine under test calls itself; ours needs no name."""
        own = self._left[0].engine.command is None
        return "" if own or self._engine is None else self._engine.name

    def is_meant(self, report: BestMove | EngineDied) -> bool:
        """Whether the report is about an engine of this test."""
        return report.search_id == self._number

    def judge(self, report: object) -> tuple[Fault, ...]:
        """What is wrong with the engine under test, nothing if it is good; then the next one is tested."""
        candidate = self._left.pop(0)
        faults = tuple(self._faults(report, candidate))
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
        try:
            engine = self._engine = UciEngine(GAME_ID, self._left[0].engine, self._emit, self._timeouts)
            patience = self._timeouts.engine_handshake + self._timeouts.engine_first_move
            self._alarm = threading.Timer(patience.total_seconds(), engine.kill, ["no move in time"])
            self._alarm.daemon = True
            self._alarm.start()
            engine.search(Search(self._number, STARTING_FEN, False, (), self._limits))
        except EngineError as error:
            self._is_missing = isinstance(error, EngineMissing)
            self._emit(EngineDied(GAME_ID, self._number, str(error)))

    def _faults(self, report: object, candidate: ConfiguredEngine) -> Iterator[Fault]:
        if isinstance(report, EngineDied):
            yield Fault(f"{candidate.key}: the engine died: {report.reason}", self._is_missing)
            return
        if not isinstance(report, BestMove) or report.move is None:
            yield Fault(f"{candidate.key}: the engine finds no move in the start position", is_lasting=False)
        if self._engine is None:
            return
        for complaint in self._engine.complaints:
            yield Fault(f"{candidate.key}.{complaint}")
        others = [variant for variant in candidate.variants if variant is not Variant.STANDARD]
        if others and not self._engine.plays_chess960:
            yield Fault(
                f"{candidate.key}.command: {self._engine.name or 'the engine'} offers no UCI_Chess960, "
                f"without which it cannot play {' and '.join(others)}: leave them out of challenge.variants"
            )
