"""The check of all configured engines at the start: each has to find a move before any game depends on it.

An engine also has to announce the variants that the configuration names for it; what it announces decides the default.
"""

import itertools
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final

from engine.facade import Board, InvalidMove, Limits
from lichessbot.config import Config
from lichessbot.errors import EngineError, EngineMissing, ExitCode
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.models import STANDARD_START
from lichessbot.lichess.positions import start_board
from lichessbot.log import EventLog
from lichessbot.timeouts import Timeouts
from lichessbot.uci.configured_engines import (
    ConfiguredEngine,
    Program,
    configured_engines,
    playable_variants,
    program_of,
)
from lichessbot.uci.engine import UciEngine
from lichessbot.uci.engine_process import ENDED, NEVER_RUNS
from lichessbot.uci.machine import Machine, fitted
from lichessbot.uci.search import BestMove, Emit, EngineDied, EngineReport, Search

GAME_ID: Final = "startup-check"  # longer than any id of Lichess
_SEARCH_IDS: Final = itertools.count(1)
_QUICK: Final = Limits(depth=1)
_UNKNOWN_MACHINE: Final = Machine(None, None)


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

    def __init__(
        self,
        config: Config,
        emit: Emit,
        timeouts: Timeouts,
        limits: Limits = _QUICK,
        location: Callable[[str], str] = str,
        machine: Machine = _UNKNOWN_MACHINE,
        release: Callable[[UciEngine], None] = UciEngine.close,
    ) -> None:
        """`location` returns where a key of `config` stands. Engines are limited by the memory and cores of `machine`,
        as in games; `release` gets each one that passes.
        """
        self.config = config
        self._location = location
        self._machine = machine
        self._release = release
        self.announced: dict[Program, tuple[Variant, ...]] = {}
        """What the engines judged so far play; without those that never got ready."""
        self._complaints: set[tuple[Program, str]] = set()
        """About options so far: a profile of the same program inherits them."""
        self._search_id = 0
        self._emit = emit
        self._timeouts = timeouts
        self._limits = limits
        self._left = list(configured_engines(config))
        self._engine: UciEngine | None = None
        self._board: Board
        """The position in which the engine being checked is to find a move."""
        self._is_missing = False
        self._start()

    @property
    def over(self) -> bool:
        """Return whether every engine was judged."""
        return not self._left

    @property
    def playable(self) -> tuple[Variant, ...]:
        """The variants that the engines judged so far play."""
        return playable_variants(self.config, self.announced)

    @property
    def engine_name(self) -> str:
        """Return the name of the engine being checked; empty for ours."""
        own = self._left[0].engine.command is None
        return "" if own or self._engine is None else self._engine.name

    def command_to_retry(self, report: BestMove | EngineDied) -> str:
        """Return the shell command that shows how the engine being checked ends; empty if it did not, and for ours."""
        ended = isinstance(report, EngineDied) and report.reason.startswith(ENDED)
        return shlex.join(self._left[0].engine.command or ()) if ended else ""

    def is_meant(self, report: BestMove | EngineDied) -> bool:
        """Return whether the report is from the engine being checked, not from one checked before."""
        return report.search_id == self._search_id

    def judge(self, report: BestMove | EngineDied) -> tuple[Fault, ...]:
        """Return the faults of the engine being checked, and start the next one."""
        tested = self._left.pop(0)
        if self._engine is not None and self._engine.ready:
            self.announced[program_of(tested.engine)] = self._engine.variants
            if isinstance(report, BestMove) and tested.engine.ponder and not self._engine.ponders:
                EventLog().info("engine.no_ponder", engine=self._engine.name or tested.key)
        faults = tuple(self._faults(report, tested))
        if self._engine is not None and not faults:
            self._release(self._engine)
            self._engine = None
        self.close()
        if self._left:
            self._start()
        return faults

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _start(self) -> None:
        self._is_missing = False
        self._search_id = next(_SEARCH_IDS)
        self._board = start_board(next(iter(self._left[0].variants), Variant.STANDARD), STANDARD_START)
        try:
            keys = fitted(self._left[0].engine, self.config, self._machine)
            engine = self._engine = UciEngine(GAME_ID, keys, self._emit, self._timeouts)
            patience = self._timeouts.engine_handshake + self._timeouts.engine_first_move
            engine.expect_move_within(patience.total_seconds())
            engine.search(Search.of(self._search_id, self._board, self._limits))
        except EngineError as error:
            self._is_missing = isinstance(error, EngineMissing)
            self._emit(EngineDied(GAME_ID, self._search_id, str(error)))

    def _faults(self, report: BestMove | EngineDied, tested: ConfiguredEngine) -> Iterator[Fault]:
        lacking = tuple(self._lacking_variants(tested))
        if isinstance(report, EngineDied):
            if not lacking:  # else it was killed because it was asked to play one of them
                is_lasting = self._is_missing or report.reason.endswith(NEVER_RUNS)
                died = "" if self._engine is None else "the engine died: "
                yield Fault(f"{tested.key}: {died}{report.reason}", is_lasting)
        elif report.move is None:
            yield Fault(f"{tested.key}: the engine finds no move in the start position", is_lasting=False)
        else:
            try:
                self._board.normalise(report.move)
            except InvalidMove as error:
                yield Fault(f"{tested.key}: the engine answers with a wrong move: {error}", is_lasting=False)
        if self._engine is not None and isinstance(report, BestMove):
            program = program_of(tested.engine)
            # The engine may not take the default, nor what fits into the memory: it then gets the nearest hash table.
            is_fitted = self._engine.config.hash_mb != tested.engine.hash_mb
            is_hash_chosen = "hash_mb" in tested.engine.set_keys and not is_fitted
            for complaint in self._engine.complaints:
                if complaint.startswith("hash_mb:") and not is_hash_chosen:
                    continue
                if (program, complaint) not in self._complaints:
                    self._complaints.add((program, complaint))
                    key, mark, what = f"{tested.key}.{complaint}".partition(": ")
                    yield Fault(self._location(key) + mark + what)
        yield from lacking

    def _lacking_variants(self, tested: ConfiguredEngine) -> Iterator[Fault]:
        """Yield a fault for each key that names variants which the engine does not play."""
        if self._engine is None or not self._engine.ready:
            return
        for key, variants in self.config.named_variants.items():
            unknown = [it for it in variants if it in tested.variants and it not in self._engine.variants]
            if unknown:
                yield Fault(
                    f"{self._location(key)}: expected variants that {self._engine.name or 'the engine'} ({tested.key}) "
                    f"announces ({', '.join(self._engine.variants)}), found {', '.join(unknown)}"
                )


def exit_code(faults: Sequence[Fault]) -> ExitCode:
    """Return the exit code of a daemon whose engines have these faults at its start."""
    return ExitCode.USAGE if any(fault.is_lasting for fault in faults) else ExitCode.FAILED


def playable_now(config: Config, timeouts: Timeouts) -> tuple[tuple[Variant, ...], list[Fault]]:
    """Ask the engines which variants they play, and wait for their answers; return the variants and the faults.

    An engine that never gets ready counts as one that plays every variant: its fault says why nothing is known.
    """
    reports: SimpleQueue[EngineReport] = SimpleQueue()
    faults: list[Fault] = []
    check = StartupCheck(config, reports.put, timeouts)
    try:
        while not check.over:
            report = reports.get()
            if isinstance(report, BestMove | EngineDied) and check.is_meant(report):
                faults += check.judge(report)
        unknown = {program_of(it.engine): tuple(Variant) for it in configured_engines(config)}
        return playable_variants(config, unknown | check.announced), faults
    finally:
        check.close()
