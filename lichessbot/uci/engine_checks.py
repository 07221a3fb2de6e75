"""When the engines are checked: at the start, when their configuration changes, and when games go on without them.

For the main thread. Times are monotonic seconds, passed in.
"""

import math
from collections import Counter
from collections.abc import Callable
from typing import Final

from lichessbot.config import Config
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import FALLBACK, BestMove, EngineDied
from lichessbot.uci.startup_check import Fault, StartupCheck

# An engine that starts slowly misses one or two moves of a bullet game.
MOST_MOVES_WITHOUT: Final = 2


class EngineChecks:
    """At most one check at a time, which `new_check` starts."""

    def __init__(self, new_check: Callable[[Config], StartupCheck], timeouts: Timeouts) -> None:
        self.running: StartupCheck | None = None
        self._new_check = new_check
        self._spacing_s = timeouts.check_spacing.total_seconds()
        self._moves_without: Counter[str] = Counter()
        """By game: how many of its moves in a row were found without an engine."""
        self._in_doubt = False
        self._began_at = -math.inf

    def note(self, report: object) -> None:
        """Note who found a move: after several of a game without an engine, the engines are in doubt."""
        match report:
            case BestMove(game_id=game_id, source=source) if source == FALLBACK:
                self._moves_without[game_id] += 1
                self._in_doubt |= self._moves_without[game_id] > MOST_MOVES_WITHOUT
            case BestMove(game_id=game_id) | FinishedGame(game_id=game_id):
                self._moves_without.pop(game_id, None)

    def is_due(self, now: float) -> bool:
        """Return whether the engines are in doubt, and the last check began long enough ago."""
        return self._in_doubt and self.running is None and now >= self._began_at + self._spacing_s

    def begin(self, config: Config, now: float) -> None:
        """Check the engines of `config`, instead of those being checked."""
        self.end()
        self._began_at = now
        self.running = self._new_check(config)

    def answered(self, report: BestMove | EngineDied) -> tuple[StartupCheck, tuple[Fault, ...]] | None:
        """Return the check that a report belongs to, which ends at the first fault, and what is wrong with the engine.

        None if that check was given up.
        """
        check = self.running
        if check is None or not check.is_meant(report):
            return None
        faults = check.judge(report)
        if faults or check.over:
            self.end()
        return check, faults

    def end(self) -> None:
        """Give up the check that runs, if one does."""
        if self.running is not None:
            self.running.close()
            self.running = None

    def passed(self) -> None:
        """Note that all engines in use are good."""
        self._in_doubt = False
        self._moves_without.clear()
