"""The actions that a game's state machine and its chat ask for, beside the commands to Lichess.

The reports among them, `PlayingWanted` and `BestMove`, are put into the inbox.
"""

from dataclasses import dataclass

from engine.facade import Board
from lichessbot.lichess.commands import GameCommand, Say
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.streams import PlayingWanted
from lichessbot.move_sources.models import Question
from lichessbot.storage.store import LimitedAction
from lichessbot.uci.search import BestMove, Search


@dataclass(frozen=True, slots=True)
class AskSources:
    """Ask the move sources. The answer to an earlier question is ignored."""

    question: Question


@dataclass(frozen=True, slots=True)
class StartSearch:
    """Start a search, and an engine if none runs. The answer to an earlier search is ignored."""

    search: Search


@dataclass(frozen=True, slots=True)
class PonderHit:
    """The opponent played the move that search `search_id` ponders on."""

    search_id: int


@dataclass(frozen=True, slots=True)
class StopSearch:
    """Tell the engine to answer now."""


@dataclass(frozen=True, slots=True)
class KillEngine:
    reason: str


@dataclass(frozen=True, slots=True)
class Fallback:
    """Find a legal move in this process, as the answer to `search_id`."""

    search_id: int
    board: Board
    time_s: float


@dataclass(frozen=True, slots=True)
class ReopenStream:
    """Read the full state of the game from a new connection."""

    reason: str
    hangs: bool = False
    """Whether the current reader hangs and has to be replaced."""


@dataclass(frozen=True, slots=True)
class RecordAction:
    """Store that this is about to be done, so that it is not done again after a restart."""

    kind: LimitedAction


@dataclass(frozen=True, slots=True)
class ChooseLevel:
    """Play at this level from our next search on, at full strength if it is 0: the opponent chose it."""

    level: int


@dataclass(frozen=True, slots=True)
class PostponeAbort:
    """Give the opponent more time for the first move."""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Do not send this command if it still waits to be sent."""

    command: GameCommand


@dataclass(frozen=True, slots=True)
class GameOver:
    """Leave the game; always the last action. `told`: Lichess reported the end; else we gave the game up.

    `missing`: the last moves if the game's own stream has not shown them; `plies` counts them too.
    """

    status: GameStatus
    winner: Colour | None
    plies: int
    told: bool = True
    missing: tuple[str, ...] = ()

    @property
    def certain(self) -> bool:
        """Whether the game will not go on: Lichess reported the end with a winner, or with a status that we know."""
        return self.told and (self.winner is not None or self.status is not GameStatus.UNKNOWN_FINISH)

    @property
    def has_result(self) -> bool:
        """Whether the game is over and Lichess counts it."""
        return self.certain and self.status.has_result(self.winner)


Action = (
    AskSources
    | StartSearch
    | PonderHit
    | StopSearch
    | KillEngine
    | Fallback
    | ReopenStream
    | PlayingWanted
    | BestMove
    | RecordAction
    | ChooseLevel
    | PostponeAbort
    | Withdraw
    | GameOver
    | GameCommand
    | Say
)
