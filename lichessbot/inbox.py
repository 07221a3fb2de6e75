"""All reports to the main thread, and the queue on which they arrive."""

from dataclasses import dataclass
from queue import SimpleQueue

from lichessbot.control.commands import ControlRequest
from lichessbot.control.status import Faults
from lichessbot.errors import RateLimited, Unreachable
from lichessbot.lichess.commands import CommandDone, CommandFailed
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.lichess.models import GameInfo
from lichessbot.lichess.streams import PlayingWanted, StreamEvent, StreamLost, StreamOpened, StreamRefused
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.storage.player_list import PlayerList
from lichessbot.uci.search import BestMove, EngineDied, EngineReady


@dataclass(frozen=True, slots=True)
class ListedGame:
    """What the list of games in progress, requested at `asked_at`, says of one: None if it is missing."""

    game_id: str
    info: GameInfo | None
    asked_at: float
    is_whole: bool
    """Whether a game that is missing is not in progress."""


@dataclass(frozen=True, slots=True)
class ReviewDone:
    """A game that is over has been reviewed; `lines` are for its opponent, none if it is too late."""

    game_id: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StopRequested:
    """SIGINT or SIGTERM arrived."""

    signal_name: str


@dataclass(frozen=True, slots=True)
class ReloadRequested:
    """SIGHUP arrived: read the configuration again."""


@dataclass(frozen=True, slots=True)
class ThreadDied:
    """A thread ended with an uncaught exception, which is a bug."""

    thread_name: str
    error: BaseException


Report = (
    CommandDone
    | CommandFailed
    | StreamOpened
    | StreamEvent
    | StreamLost
    | StreamRefused
    | PlayingWanted
    | PlayerList
    | ListedGame
    | FinishedGame
    | ReviewDone
    | BestMove
    | SourceAnswer
    | EngineReady
    | EngineDied
    | StopRequested
    | ReloadRequested
    | ThreadDied
    | ControlRequest
)


def count_fault(report: Report, faults: Faults) -> None:
    """Count the fault that a report tells of, if it does; those of a game are counted by its session."""
    match report:
        case StreamLost(game_id=None, on_request=False):
            faults.event_streams_lost += 1
        case CommandFailed(error=Unreachable() | RateLimited()):
            faults.requests_failed += 1
        case EngineDied():
            faults.engines_died += 1


# A SimpleQueue, because its `put` may be called from a signal handler.
Inbox = SimpleQueue[Report]
