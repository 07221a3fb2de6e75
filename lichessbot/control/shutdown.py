"""How the process ends: after its games, by the first signal or `lichessbot finish`, or at once."""

import time
from collections.abc import Sized
from typing import Protocol

from lichessbot.errors import ExitCode
from lichessbot.log import EventLog
from lichessbot.systemd import ServiceManager
from lichessbot.timeouts import Timeouts, is_due


class Games(Protocol):
    """Its length is the number of games with a clock. The others go on at the next start."""

    def __len__(self) -> int: ...

    @property
    def correspondence_games(self) -> int: ...


class Lobby(Protocol):
    """Its length is the number of games that are about to start."""

    def __len__(self) -> int: ...

    @property
    def is_clear(self) -> bool:
        """Whether no more game can come of what was begun."""

    def stop(self) -> None:
        """Accept no new games."""


class Shutdown:
    """Decides when the main loop ends, and with which exit code. For the main thread; times are monotonic seconds."""

    def __init__(
        self, games: Games, left_over: Sized, lobby: Lobby, manager: ServiceManager, timeouts: Timeouts
    ) -> None:
        """`left_over`: the games with a clock of an earlier process that are about to be joined."""
        self.exit_code: ExitCode | None = None
        """None as long as the main loop is to go on."""
        self.leave_at: float | None = None
        """When games that still run are left; None unless the daemon is finishing."""
        self._games = games
        self._left_over = left_over
        self._lobby = lobby
        self._manager = manager
        self._patience_s = timeouts.request_patience.total_seconds()
        self._deaf_at: float | None = None
        self._signalled = False
        self._code_at_end = ExitCode.OK
        self._log = EventLog()

    def signal(self, name: str, grace_s: float) -> None:
        """Finish at the first signal, also after `lichessbot finish`, and leave at the second."""
        if self._signalled:
            self.leave(name)
        else:
            self._signalled = True
            self.finish(name, grace_s)

    def finish(self, why: str, grace_s: float) -> int:
        """Take no new games and end after those with a clock, at most after `grace_s`; return how many those are."""
        games = self._games_left
        if self.leave_at is None:
            self._lobby.stop()
            self._manager.stopping()
        now = time.monotonic()
        self.leave_at = now + grace_s
        self._deaf_at = now + self._patience_s
        hint = "a second signal leaves at once" if games else None
        left = self._games.correspondence_games or None
        self._log.info("stop.asked", signal=why, games_to_finish=games, correspondence_left=left, hint=hint)
        return games

    def engine_failed(self, code: ExitCode) -> bool:
        """End with this code, as an engine fails at the start; return False.

        If games are left over from an earlier process, take no new ones, end after `games_known` and those, and return
        True. The exit code then asks for another start, which may find other engines.
        """
        games = self._games_left
        if not games:
            self.exit_code = code
            return False
        self._lobby.stop()
        self._code_at_end = ExitCode.FAILED
        self._log.warning("stop.later", games_to_finish=games)
        return True

    def games_known(self, grace_s: float) -> None:
        """If an engine failed, end after the games in progress, which are joined before the next `tick`.

        If Lichess refuses to list them, they are those that the records remember.
        """
        if self._code_at_end is not ExitCode.OK and self.leave_at is None:
            self.finish("an engine fails", grace_s)

    def leave(self, why: str) -> None:
        """End at once."""
        games = self._games_left
        self._log.warning("stop.now", why=why, games_left=games)
        self.exit_code = ExitCode.ABANDONED if games else self._code_at_end

    def tick(self, *, is_connected: bool, is_talking: bool) -> None:
        """End if there is nothing left to finish, or if the grace is over."""
        now = time.monotonic()
        if self.leave_at is None or self.exit_code is not None:
            return
        # An answer may still become a game, but in an outage we would not learn of it for long.
        is_deaf = not is_connected and is_due(self._deaf_at, now)
        has_games = len(self._games) or len(self._left_over)
        if not has_games and (self._lobby.is_clear or is_deaf) and not is_talking:
            self.exit_code = self._code_at_end
        elif now >= self.leave_at:
            self.leave("grace over")

    @property
    def _games_left(self) -> int:
        return len(self._games) + len(self._left_over) + len(self._lobby)
