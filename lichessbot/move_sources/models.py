"""Questions to the move sources, their answers, and typed models of what the servers send.

Unknown fields are ignored. An answer that cannot be read raises UnreadableLine and counts as a failure of the server.
"""

import math
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.facade import Board, InvalidMove
from lichessbot.errors import RateLimited, UnreadableLine
from lichessbot.uci.search import SearchInfo


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the move sources; `search_id` comes back with the answer.

    `remaining_s` and `initial_s` are of our clock, None without one. The answer is ignored after `patience_s`.
    """

    search_id: int
    variant: str
    board: Board
    remaining_s: float | None
    initial_s: float | None
    patience_s: float

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves that led to the position."""
        return tuple(self.board.moves)


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """The answer to question `search_id`: one move to play, several for the engine to choose from, or none.

    `wdl`, from a tablebase only, is the result for us, 2 for a win to -2 for a loss; 1 and -1 are perhaps draws by the
    fifty-move rule. `took_s` is the time from the question to the answer.
    """

    game_id: str
    search_id: int
    moves: tuple[str, ...] = ()
    source: str = ""
    summary: SearchInfo = field(default_factory=SearchInfo)
    wdl: int | None = None
    took_s: float = field(default=0.0, compare=False)


Model = TypeVar("Model", bound=BaseModel)
_MOST_MOVES: Final = 256
_RATE_LIMITED: Final = "rate limit exceeded"
# Lichess ends a game of a bot when a position occurs so often.
_DRAWN_AT: Final = 3

# Larger numbers make no sense and do not fit a float.
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

    def wins(self, *, white: bool) -> int:
        """Return how many games the side won."""
        return self.white if white else self.black

    def points(self, *, white: bool) -> float:
        """Return the average result of the side."""
        return (self.wins(white=white) + self.draws / 2) / max(1, self.games)


class Explorer(_Reply):
    moves: Annotated[tuple[ExplorerMove, ...], Field(max_length=_MOST_MOVES)]


# Cloud evaluations of Lichess


class Variation(_Reply):
    """A line with its score for White: centipawns or moves to mate."""

    moves: str
    cp: Score | None = None
    mate: Score | None = None

    @property
    def is_complete(self) -> bool:
        """Whether there is a move, and a score."""
        return bool(self.moves.strip()) and (self.cp is not None or self.mate is not None)


class CloudEvaluation(_Reply):
    depth: Count
    knodes: Count
    pvs: Annotated[tuple[Variation, ...], Field(max_length=_MOST_MOVES)]


# The tablebase of Lichess


class Category(StrEnum):
    """The result for the side to move; `maybe` and `syzygy`: perhaps the fifty-move rule makes it a draw."""

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

    @property
    def is_vague(self) -> bool:
        """Whether the fifty-move rule perhaps makes it a draw."""
        return self in _VAGUE


_VAGUE: Final = (Category.SYZYGY_WIN, Category.MAYBE_WIN, Category.MAYBE_LOSS, Category.SYZYGY_LOSS)
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


class TableMove(_Reply):
    """A move; its category is the opponent's result after it."""

    uci: str
    category: Category


class Table(_Reply):
    """The moves come best first."""

    category: Category
    moves: Annotated[tuple[TableMove, ...], Field(max_length=_MOST_MOVES)]


# The database of chessdb.cn


class DrawingMove(_Reply):
    uci: str


class ChessdbMove(_Reply):
    uci: str
    score: Score


class Chessdb(_Reply):
    """An answer of chessdb.cn; which fields are there depends on the action.

    `search_moves`: all moves that keep a tablebase draw, for an engine to choose from.
    """

    status: str
    move: str | None = None
    egtb: str | None = None
    search_moves: Annotated[tuple[DrawingMove, ...], Field(max_length=_MOST_MOVES)] = ()
    depth: Score | None = None
    score: Score | None = None
    pv: Annotated[tuple[str, ...], Field(max_length=_MOST_MOVES)] = ()
    moves: Annotated[tuple[ChessdbMove, ...], Field(max_length=_MOST_MOVES)] = ()


def parse(model: type[Model], body: bytes) -> Model:
    """Raises UnreadableLine."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        kinds = sorted({details["type"] for details in error.errors(include_url=False, include_input=False)})
        raise UnreadableLine(f"no {model.__name__.lower()} answer ({', '.join(kinds[:3])})") from error


def parse_growing_explorer(body: bytes) -> Explorer:
    """Parse the last complete line of an answer that grows. Raises UnreadableLine."""
    whole = [line for line in body.split(b"\n")[:-1] if line.strip()]
    return parse(Explorer, whole[-1] if whole else b"")


def parse_chessdb(body: bytes, pause: timedelta) -> Chessdb:
    """Raises UnreadableLine, and RateLimited with `pause`, which this server reports with status 200."""
    reply = parse(Chessdb, body.rstrip(b"\0\r\n "))
    if reply.status == _RATE_LIMITED:
        raise RateLimited(pause, reply.status)
    return reply


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Moves as the source writes them, best first: the first is played, or with `choice` the engine chooses.

    `wdl` as in `SourceAnswer`.
    """

    moves: tuple[str, ...]
    summary: SearchInfo = field(default_factory=SearchInfo)
    wdl: int | None = None
    choice: bool = False


def playable(suggestion: Suggestion, board: Board, *, repeats: bool) -> Suggestion | None:
    """Return the suggestion with the playable moves in the board's notation; None if there are none.

    Illegal moves are left out and, unless `repeats`, moves that repeat a position: a book that leads in circles would
    give every win away. A tablebase that does not know the game may win by a move that repeats one for the third time,
    which draws, or lose where such a move is legal.
    """
    wdl = suggestion.wdl or 0
    if wdl < 0 and (draws := [it for it in board.legal_moves() if _times_after(board, it) >= _DRAWN_AT]):
        return replace(suggestion, moves=(draws[0],), wdl=0)
    most_times = 1 if not repeats else _DRAWN_AT - 1 if wdl > 0 else math.inf
    moves: list[str] = []
    for move in suggestion.moves:
        try:
            legal = board.normalise(move)
        except InvalidMove:
            continue
        if legal not in moves and _times_after(board, legal) <= most_times:
            moves.append(legal)
    return replace(suggestion, moves=tuple(moves if suggestion.choice else moves[:1])) if moves else None


def repeats_position(board: Board, move: str) -> bool:
    """Return whether the move repeats a position of this game."""
    return _times_after(board, move) > 1


def _times_after(board: Board, move: str) -> int:
    """Return how often the position after the move has then occurred in this game."""
    return board.after(move).repetition_count()
