"""Typed models of what the servers send. Beside `events` and `config` the only room that sees raw JSON.

Lenient where nothing is lost: unknown fields are ignored. What cannot be read raises UnreadableLine, and the server
then counts as having failed.
"""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from engine.facade import Board, InvalidMove
from lichessbot.errors import RateLimited, UnreadableLine
from lichessbot.uci.search import SearchSummary


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the move sources; `search_id` comes back with their answer.

    What is on our clock counts, and what was at the start; None: the game has no clock. After `patience_s` nobody
    waits for the answer any more.
    """

    search_id: int
    variant: str
    board: Board
    remaining_s: float | None
    initial_s: float | None
    patience_s: float

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves that led to the position asked about."""
        return tuple(self.board.moves)


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """What the move sources answer to question `search_id`: one move to be played, several for the engine to choose
    from, or none.

    `wdl`, from a tablebase only: what the position is worth to us, 2 for a win to -2 for a loss; 1 and -1 are saved
    by the fifty-move rule. `took_s` is from the question to the answer.
    """

    game_id: str
    search_id: int
    moves: tuple[str, ...] = ()
    source: str = ""
    summary: SearchSummary = field(default_factory=SearchSummary)
    wdl: int | None = None
    took_s: float = field(default=0.0, compare=False)
    reply: str | None = None


_Model = TypeVar("_Model", bound=BaseModel)
_MOST_MOVES: Final = 256
_RATE_LIMITED: Final = "rate limit exceeded"

# Beyond these no server's number makes sense, and a float could not hold it.
Count = Annotated[int, Field(ge=0, le=2**53)]
Score = Annotated[int, Field(ge=-(2**31), le=2**31)]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


# The opening explorer of Lichess


class ExplorerMove(_Reply):
    uci: str
    white: Count = 0
    draws: Count = 0
    black: Count = 0

    @property
    def games(self) -> int:
        return self.white + self.draws + self.black

    def points(self, *, white: bool) -> float:
        """What the side won of each game, on average."""
        return ((self.white if white else self.black) + self.draws / 2) / max(1, self.games)


class Explorer(_Reply):
    moves: Annotated[tuple[ExplorerMove, ...], Field(max_length=_MOST_MOVES)]


# Cloud evaluations of Lichess


class Variation(_Reply):
    """A line with its score from White's view: centipawns or moves to mate."""

    moves: str
    cp: Score | None = None
    mate: Score | None = None


class CloudEvaluation(_Reply):
    depth: Count
    knodes: Count
    pvs: Annotated[tuple[Variation, ...], Field(max_length=_MOST_MOVES)]


# The tablebase of Lichess


class Category(StrEnum):
    """What a position is worth to the side to move; `maybe` where rounding hides whether fifty moves are enough."""

    WIN = "win"
    SYZYGY_WIN = "syzygy-win"
    MAYBE_WIN = "maybe-win"
    CURSED_WIN = "cursed-win"
    DRAW = "draw"
    BLESSED_LOSS = "blessed-loss"
    MAYBE_LOSS = "maybe-loss"
    SYZYGY_LOSS = "syzygy-loss"
    LOSS = "loss"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> "Category":
        return cls.UNKNOWN

    @property
    def wdl(self) -> int | None:
        """2 for a win to -2 for a loss."""
        return _WDL.get(self)


_WDL: Final = {
    Category.WIN: 2,
    Category.SYZYGY_WIN: 2,
    Category.MAYBE_WIN: 2,
    Category.CURSED_WIN: 1,
    Category.DRAW: 0,
    Category.BLESSED_LOSS: -1,
    Category.MAYBE_LOSS: -2,
    Category.SYZYGY_LOSS: -2,
    Category.LOSS: -2,
}


def _category(value: Any) -> Any:
    return Category(value) if isinstance(value, str) else value


class TableMove(_Reply):
    """A move; its category is the opponent's view of what follows."""

    uci: str
    category: Annotated[Category, BeforeValidator(_category)]


class Table(_Reply):
    """The moves come best first."""

    category: Annotated[Category, BeforeValidator(_category)]
    moves: Annotated[tuple[TableMove, ...], Field(max_length=_MOST_MOVES)]


# The database of chessdb.cn


class ChessdbMove(_Reply):
    uci: str
    score: Score


class Chessdb(_Reply):
    """`move` is asked for by two of its actions, `pv` with `score` and `depth` by a third, `moves` by a fourth."""

    status: str
    move: str | None = None
    egtb: str | None = None
    search: str | None = None
    depth: Score | None = None
    score: Score | None = None
    pv: Annotated[tuple[str, ...], Field(max_length=_MOST_MOVES)] = ()
    moves: Annotated[tuple[ChessdbMove, ...], Field(max_length=_MOST_MOVES)] = ()


def parse_explorer(body: bytes) -> Explorer:
    """Raises UnreadableLine."""
    return _parsed(Explorer, body)


def parse_growing_explorer(body: bytes) -> Explorer:
    """The last whole line of an answer that grew: the one after it may have been cut. Raises UnreadableLine."""
    whole = [line for line in body.split(b"\n")[:-1] if line.strip()]
    return _parsed(Explorer, whole[-1] if whole else b"")


def parse_cloud(body: bytes) -> CloudEvaluation:
    """Raises UnreadableLine."""
    return _parsed(CloudEvaluation, body)


def parse_table(body: bytes) -> Table:
    """Raises UnreadableLine."""
    return _parsed(Table, body)


def parse_chessdb(body: bytes, pause: timedelta) -> Chessdb:
    """Raises UnreadableLine, and RateLimited with `pause`: this server says so with a good status."""
    reply = _parsed(Chessdb, body.rstrip(b"\0\r\n "))
    if reply.status == _RATE_LIMITED:
        raise RateLimited(pause, reply.status)
    return reply


def _parsed(model: type[_Model], body: bytes) -> _Model:
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        kinds = sorted({details["type"] for details in error.errors(include_url=False, include_input=False)})
        raise UnreadableLine(f"no {model.__name__.lower()} answer ({', '.join(kinds[:3])})") from error


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Moves as the source spells them, best first: the first is played, or with `choice` the engine picks its own.

    `wdl` is what a tablebase says the position is worth to us, see `SourceAnswer`.
    """

    moves: tuple[str, ...]
    summary: SearchSummary = field(default_factory=SearchSummary)
    wdl: int | None = None
    choice: bool = False


def playable(finding: Suggestion, board: Board, *, repeats: bool) -> Suggestion | None:
    """The finding with the moves that may be played, in the board's spelling; None if there are none.

    Only legal ones may. Unless `repeats`, moves to a position that stood in this game already are left out too: a book
    that leads in circles would give every win away.
    """
    moves: list[str] = []
    for move in finding.moves:
        try:
            legal = board.normalise(move)
        except InvalidMove:
            continue
        if legal not in moves and (repeats or not goes_back(board, legal)):
            moves.append(legal)
    return replace(finding, moves=tuple(moves if finding.choice else moves[:1])) if moves else None


def goes_back(board: Board, move: str) -> bool:
    """Whether the position after the move stood in this game already."""
    after = board.copy()
    after.push(move)
    return after.repetition_count() > 1
