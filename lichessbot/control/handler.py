"""How the main thread answers the operator: each part of the daemon describes itself, and does what it is told.

Knows the parts only by what it asks of them here.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol, assert_never

from lichessbot import __version__
from lichessbot.control.commands import CannotDo, ControlAnswer, ControlCommand, ControlRequest
from lichessbot.control.counters import Counters
from lichessbot.control.shutdown import Shutdown
from lichessbot.control.status import Activity, ConnectionStatus, LobbyStatus, RecordsStatus, RunningGame, Status
from lichessbot.log import EventLog, counted

# Refused while the daemon is finishing.
_ABOUT_NEW_GAMES: Final = {
    ControlCommand.PAUSE,
    ControlCommand.RESUME,
    ControlCommand.FINISH,
    ControlCommand.MATCHMAKING,
    ControlCommand.RECHALLENGE,
}


class Connection(Protocol):
    @property
    def summary(self) -> str:
        """The connection in words, for one line."""

    @property
    def is_open(self) -> bool: ...

    def describe(self) -> ConnectionStatus: ...


class Games(Protocol):
    @property
    def summary(self) -> str: ...

    @property
    def correspondence_games(self) -> int: ...

    @property
    def engine_processes(self) -> Sequence[int]: ...

    def describe(self) -> tuple[RunningGame, ...]: ...


class Lobby(Protocol):
    """Its commands return in words what happened, or raise CannotDo."""

    @property
    def summary(self) -> str: ...

    @property
    def is_open(self) -> bool:
        """Whether our account is known and the engines are good."""

    @property
    def is_paused(self) -> bool: ...

    @property
    def engine_failure(self) -> str:
        """Why no new games are taken; empty while the engines work."""

    def describe(self) -> LobbyStatus: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def block(self, name: str) -> bool: ...

    def unblock(self, name: str) -> bool: ...

    def switch_matchmaking(self, *, on: bool) -> str: ...

    def rechallenge(self, *, received: bool) -> str: ...

    def join_tournament(self, tournament_id: str, team: str | None, password: str | None) -> str: ...

    def leave_tournament(self, tournament_id: str) -> str: ...


class Records(Protocol):
    @property
    def failure(self) -> tuple[float, str] | None:
        """Since which monotonic second nothing can be written, and why; None if the disk works."""


class ControlHandler:
    """Answers the operator, and says in one line what goes on. For the main thread."""

    def __init__(
        self,
        connection: Connection,
        games: Games,
        lobby: Lobby,
        records: Records,
        shutdown: Shutdown,
        counters: Counters,
    ) -> None:
        self._shutdown = shutdown
        self._connection = connection
        self._games = games
        self._lobby = lobby
        self._records = records
        self._counters = counters
        self._log = EventLog()
        self._began_at, self._began_epoch_s = time.monotonic(), time.time()

    @property
    def summary(self) -> str:
        """Return what goes on in one line, for the service manager."""
        bugs = self._counters.faults.internal_errors
        activity, failure = self._activity, self._records.failure
        is_open = activity in (Activity.STARTING, Activity.PLAYING)
        parts = (
            self._connection.summary,
            self._games.summary,
            self._lobby.summary,
            f"records not written: {failure[1]}" if failure else "",
            f"internal errors: {bugs}, see the log" if bugs else "",
            "" if is_open else f"{activity}, takes no new games",
        )
        return "; ".join(filter(None, parts))

    def status(self) -> Status:
        """Return everything that there is to see, as it is now."""
        now, leave_at = time.monotonic(), self._shutdown.leave_at
        failure = self._records.failure
        return Status(
            version=__version__,
            process_id=os.getpid(),
            at_epoch_s=time.time(),
            up_for_s=now - self._began_at,
            activity=self._activity,
            ends_in_s=None if leave_at is None else max(0.0, leave_at - now),
            connection=self._connection.describe(),
            games=self._games.describe(),
            correspondence_games=self._games.correspondence_games,
            lobby=self._lobby.describe(),
            engine=replace(self._counters.engine(self._games.engine_processes), failure=self._lobby.engine_failure),
            faults=self._counters.faults,
            began_epoch_s=self._began_epoch_s,
            records=RecordsStatus(now - failure[0], failure[1]) if failure else RecordsStatus(),
        )

    @property
    def _activity(self) -> Activity:
        if self._shutdown.leave_at is not None:
            return Activity.FINISHING
        if self._lobby.is_paused:
            return Activity.PAUSED
        if self._lobby.engine_failure:
            return Activity.WITHOUT_ENGINE
        return Activity.PLAYING if self._lobby.is_open else Activity.STARTING

    def handle(self, request: ControlRequest, grace_s: float) -> None:
        """Do what the operator wants and answer; `grace_s`: for how many seconds `finish` lets games go on."""
        answer = ControlAnswer(ok=False, text="internal error: see the log")
        try:
            answer = self._answer(request, grace_s)
        except CannotDo as error:
            answer = ControlAnswer(ok=False, text=str(error))
        finally:
            if request.command is not ControlCommand.STATUS:
                argument = request.argument or None
                self._log.info("control", command=request.command, argument=argument, answer=answer.text)
            request.reply(answer)

    def _answer(self, request: ControlRequest, grace_s: float) -> ControlAnswer:
        command, argument, options = request.command, request.argument, request.options
        if command in _ABOUT_NEW_GAMES and self._shutdown.leave_at is not None:
            raise CannotDo("the daemon is finishing: it takes no new games, and ends after the running ones")
        match command:
            case ControlCommand.STATUS:
                return ControlAnswer(ok=True, status=self.status())
            case ControlCommand.PAUSE:
                self._lobby.pause()
                text = "paused: no new games until `lichessbot resume` or a restart; running games go on"
            case ControlCommand.RESUME:
                self._lobby.resume()
                text = "resumed: new games are taken again"
            case ControlCommand.FINISH:
                games = self._shutdown.finish("the command finish", grace_s)
                text = f"finishing: no new games; the daemon ends after the running ones ({games})"
                if left := self._games.correspondence_games:
                    text += f"; {counted(left, 'correspondence game')} left for its next start"
            case ControlCommand.QUIT:
                self._shutdown.leave("the command quit")
                text = "the daemon ends now; games with time left go on at its next start"
            case ControlCommand.BLOCK:
                text = self._block(argument)
            case ControlCommand.UNBLOCK:
                text = self._unblock(argument)
            case ControlCommand.MATCHMAKING:
                text = self._lobby.switch_matchmaking(on=argument == "on")
            case ControlCommand.RECHALLENGE:
                text = self._rechallenge(received=argument == "received")
            case ControlCommand.JOIN_TOURNAMENT:
                text = self._lobby.join_tournament(argument, options.get("team"), options.get("password"))
            case ControlCommand.LEAVE_TOURNAMENT:
                text = self._lobby.leave_tournament(argument)
            case _:
                assert_never(command)
        return ControlAnswer(ok=True, text=text)

    def _rechallenge(self, *, received: bool) -> str:
        if not self._connection.is_open:
            raise CannotDo("Lichess cannot be reached now: try again when it answers")
        return self._lobby.rechallenge(received=received)

    def _block(self, name: str) -> str:
        if not self._lobby.block(name):
            return f"{name} was blocked already"
        return f"{name} is blocked: challenges are declined, and matchmaking sends none"

    def _unblock(self, name: str) -> str:
        if not self._lobby.unblock(name):
            raise CannotDo(f"{name} was not blocked by command; names in `block_list` are removed in the configuration")
        return f"{name} is no longer blocked"
