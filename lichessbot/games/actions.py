"""What a game's state machine asks to be done; beside the commands of `messages` that go to Lichess.

Plain values without behaviour.
"""

from dataclasses import dataclass

from engine.facade import Board
from lichessbot.lichess.commands import Abort, AnswerTakeback, ClaimDraw, ClaimVictory, Resign, Say, SendMove
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.streams import PlayingWanted
from lichessbot.move_sources.models import Question
from lichessbot.storage.records import LimitedAction
from lichessbot.uci.search import Search


@dataclass(frozen=True, slots=True)
class AskSources:
    """Ask the move sources; a question under way counts as never asked."""

    question: Question


@dataclass(frozen=True, slots=True)
class StartSearch:
    """Ask the engine, starting one if none runs; a search under way is dropped.

    A search whose limits say `ponder` is a supposition: its answer is wanted after a PonderHit only.
    """

    search: Search


@dataclass(frozen=True, slots=True)
class PonderHit:
    """The opponent played what search `search_id` ponders on: from now on it searches our move."""

    search_id: int


@dataclass(frozen=True, slots=True)
class StopSearch:
    """Have the engine answer now."""


@dataclass(frozen=True, slots=True)
class KillEngine:
    reason: str


@dataclass(frozen=True, slots=True)
class Fallback:
    """Find a legal move without the engine, as the answer to `search_id`."""

    search_id: int
    board: Board
    time_s: float


@dataclass(frozen=True, slots=True)
class ReopenStream:
    """Read the game anew from a new connection."""

    reason: str
    hangs: bool = False
    """Whether whoever is about to open one is not to be waited for any more."""


@dataclass(frozen=True, slots=True)
class RecordAction:
    """Note that this is about to be done, so that a restart knows of it."""

    deed: LimitedAction


@dataclass(frozen=True, slots=True)
class GiveTime:
    """The opponent asks for more time for the first move."""


@dataclass(frozen=True, slots=True)
class GameOver:
    """Nothing more to do; always the last action. `certain` if Lichess said so in words we know."""

    status: GameStatus
    winner: Colour | None
    plies: int
    certain: bool = True


Action = (
    AskSources
    | StartSearch
    | PonderHit
    | StopSearch
    | KillEngine
    | Fallback
    | ReopenStream
    | PlayingWanted
    | RecordAction
    | GiveTime
    | GameOver
    | SendMove
    | Abort
    | Resign
    | AnswerTakeback
    | ClaimVictory
    | ClaimDraw
    | Say
)
