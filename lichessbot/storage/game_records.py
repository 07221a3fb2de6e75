"""The record of a game: who played, how it ended, every move with what we knew, and the chat.

A row is written when a game begins and completed as facts become known, so that a crash loses at most the last move.
Columns have the names of the fields here.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final, Self

from lichessbot.log import counted
from lichessbot.storage.database import Statement
from lichessbot.storage.tables import added

_KNOWN_AT_THE_END: Final = ("ended_at", "status", "result", "plies")
# What the beginning of a game does not tell. `begun` leaves these alone, as it is recorded again after a restart.
_KNOWN_LATER: Final = (*_KNOWN_AT_THE_END, "eco", "opening", "rating_diff", "level", "chosen_level")
LEVEL_RESULTS_KEPT: Final = 6
_FROM_POSITION: Final = "fromPosition"


class Result(StrEnum):
    """How a game ended for us; a game that was aborted, or whose end we missed, has none."""

    WON = "won"
    DRAWN = "drawn"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """One move; `ply` 1 is the first of the game. `clock_ms` is the mover's clock after it, as far as known.

    Only our moves have a `source`: `engine`, `fallback`, `only move`, or the name of a book or server; it is empty for
    a move of ours that another process sent. `score_cp` is our view before the move, with mates as in `evaluations`.
    `search_ms` is the time that the source took, `reaction_ms` our own time beside it, without a pause as configured,
    until the move was sent, and `delivery_ms` the time from then until Lichess showed it.
    """

    ply: int
    move: str
    clock_ms: int | None = None
    source: str | None = None
    score_cp: int | None = None
    depth: int | None = None
    nodes: int | None = None
    search_ms: int | None = None
    reaction_ms: int | None = None
    delivery_ms: int | None = None


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game. Times are wall time in seconds, `result` is ours, `opponent` carries the title.

    `level`: the rating at which we played last, None at full strength. `chosen_level`: what the opponent chose in the
    chat, 0 for full strength.

    Games that a version before these records played have no more than id, opponent and `joined_at`.
    """

    id: str
    joined_at: float
    opponent: str
    has_clock: bool = True
    opponent_id: str = ""
    opponent_title: str = ""
    opponent_rating: int | None = None
    our_name: str = ""
    our_title: str = ""
    our_rating: int | None = None
    rating_diff: int | None = None
    variant: str = ""
    speed: str = ""
    rated: bool = False
    colour: str = ""
    initial_fen: str = ""
    base_s: int | None = None
    increment_s: int | None = None
    days_per_turn: int | None = None
    tournament_id: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    status: str = ""
    result: Result | None = None
    plies: int = 0
    eco: str = ""
    opening: str = ""
    level: int | None = None
    chosen_level: int | None = None

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Self:
        """Return the record of a row with COLUMNS."""
        values = dict(zip(COLUMNS, row, strict=True))
        result = Result(values["result"]) if values["result"] else None
        changes = {"result": result, "rated": bool(values["rated"]), "has_clock": bool(values["has_clock"])}
        return cls(**{**values, **changes})

    @property
    def began_at(self) -> float:
        """When Lichess says it began, else when we joined it."""
        return self.started_at or self.joined_at

    @property
    def opponent_name(self) -> str:
        """The name without the title."""
        return self.opponent.removeprefix(f"{self.opponent_title} ")

    @property
    def rating_category(self) -> str:
        """What Lichess rates such games by: the speed in standard chess, else the variant."""
        return self.speed if self.variant in ("standard", _FROM_POSITION) else self.variant

    @property
    def time_control(self) -> str:
        """The clock as on Lichess: minutes+seconds, or days for each move."""
        if self.base_s is not None:
            return f"{self.base_s / 60:g}+{self.increment_s}"
        return "unlimited" if self.days_per_turn is None else counted(self.days_per_turn, "day")

    def is_ours(self, ply: int) -> bool:
        """Return whether we move at this ply."""
        first = "black" if self.initial_fen.split()[1:2] == ["b"] else "white"
        return (ply % 2 == 1) == (self.colour == first)


COLUMNS: Final = tuple(column.name for column in fields(GameRecord))
SELECT: Final = f"SELECT {', '.join(COLUMNS)} FROM games"
MOVE_COLUMNS: Final = tuple(column.name for column in fields(MoveRecord))
SELECT_MOVES: Final = f"SELECT {', '.join(MOVE_COLUMNS)} FROM moves WHERE game_id = ? ORDER BY ply"
SELECT_CHAT: Final = "SELECT said_at, room, author, text FROM chat WHERE game_id = ? ORDER BY rowid"
SELECT_LEVEL_RESULTS: Final = (
    "SELECT opponent_id, variant, level, result FROM games "
    "WHERE level IS NOT NULL AND result IS NOT NULL AND NOT rated ORDER BY ended_at"
)
SELECT_CHOSEN_LEVELS: Final = "SELECT id, chosen_level FROM games WHERE chosen_level IS NOT NULL AND status = ''"
SELECT_SCORES: Final = "SELECT opponent_id, result, count(*) FROM games WHERE result IS NOT NULL GROUP BY 1, 2"


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """A line of the chat; `said_at` is wall time."""

    said_at: float
    room: str
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class Score:
    """Results in numbers."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @classmethod
    def of(cls, results: Sequence[Result]) -> Self:
        """Count these results."""
        return cls(*(results.count(result) for result in Result))

    def plus(self, result: Result, count: int) -> "Score":
        """Return the score after this many more games with this result."""
        return Score(*(getattr(self, it) + count * (it is result) for it in Result))

    @property
    def games(self) -> int:
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> float:
        return self.won + self.drawn / 2

    @property
    def percent(self) -> float:
        """The points in percent of the most possible."""
        return 100 * self.points / self.games if self.games else 0.0


class Scores:
    """Our score against each opponent, by id, and against all."""

    def __init__(self, rows: Iterable[tuple[str, str, int]] = ()) -> None:
        self.total = Score()
        self._by_opponent: dict[str, Score] = {}
        for opponent_id, result, count in rows:
            self.add(opponent_id, Result(result), count)

    def add(self, opponent_id: str, result: Result, count: int = 1) -> None:
        self.total = self.total.plus(result, count)
        self._by_opponent[opponent_id] = self._by_opponent.get(opponent_id, Score()).plus(result, count)

    def against(self, opponent_id: str) -> Score:
        """Return the score against one opponent; of games against players without an id nothing is known."""
        return self._by_opponent.get(opponent_id, Score()) if opponent_id else Score()


class LevelResults:
    """Our latest results against each opponent, by id, in casual games at a level; each variant by itself.

    Chess960 counts as standard chess. Games from a position do not count, as one side may begin with fewer pieces.
    """

    def __init__(self, rows: Iterable[tuple[str, str, int, str]] = ()) -> None:
        """`rows`: oldest first."""
        self._results: dict[tuple[str, str], deque[tuple[int, Result]]] = {}
        for opponent_id, variant, level, result in rows:
            self.add(opponent_id, variant, level, Result(result))

    def add(self, opponent_id: str, variant: str, level: int, result: Result) -> None:
        if opponent_id and variant != _FROM_POSITION:
            key = opponent_id, _rules(variant)
            self._results.setdefault(key, deque(maxlen=LEVEL_RESULTS_KEPT)).append((level, result))

    def against(self, opponent_id: str, variant: str) -> Sequence[tuple[int, Result]]:
        """Return the levels and results of the latest games, oldest first."""
        return tuple(self._results.get((opponent_id, _rules(variant)), ()))


def _rules(variant: str) -> str:
    return "standard" if variant == "chess960" else variant


@dataclass(frozen=True, slots=True)
class Retention:
    """How long and how much of games, their moves and their chat is kept; the oldest are deleted first."""

    keep: timedelta = timedelta(days=1095)
    max_bytes: int = 200 << 20


# Writing


def begun(record: GameRecord) -> Statement:
    """Return the statement that records what is known of a game since its beginning."""
    known = [name for name in COLUMNS if name not in _KNOWN_LATER]
    changed = ", ".join(f"{name} = excluded.{name}" for name in known if name not in ("id", "joined_at", "opponent"))
    sql = f"INSERT INTO games ({', '.join(known)}) VALUES ({_marks(known)}) ON CONFLICT (id) DO UPDATE SET {changed}"
    return sql, [[getattr(record, name) for name in known]]


def played(game_id: str, moves: Iterable[MoveRecord]) -> Statement:
    """Return the statement that records moves; one that is only seen again keeps what was known of it but the clock."""
    seen_again = "excluded.move = moves.move AND coalesce(excluded.source, '') = ''"
    known = {name: f"moves.{name}" for name in MOVE_COLUMNS}
    known["clock_ms"] = "coalesce(excluded.clock_ms, moves.clock_ms)"
    changed = ", ".join(
        f"{name} = CASE WHEN {seen_again} THEN {known[name]} ELSE excluded.{name} END" for name in MOVE_COLUMNS
    )
    sql = (
        f"INSERT INTO moves (game_id, {', '.join(MOVE_COLUMNS)}) VALUES (?, {_marks(MOVE_COLUMNS)}) "
        f"ON CONFLICT (game_id, ply) DO UPDATE SET {changed}"
    )
    return sql, [[game_id, *(getattr(move, name) for name in MOVE_COLUMNS)] for move in moves]


def taken_back(game_id: str, plies: int) -> Statement:
    """Return the statement that deletes the moves after the first `plies`."""
    return "DELETE FROM moves WHERE game_id = ? AND ply > ?", [(game_id, plies)]


def said(game_id: str, line: ChatRecord) -> Statement:
    return added("chat", game_id=game_id, said_at=line.said_at, room=line.room, author=line.author, text=line.text)


def ended(record: GameRecord) -> Statement:
    """Return the statement that records the end of a game."""
    return changed(record.id, **{name: getattr(record, name) for name in _KNOWN_AT_THE_END})


def named(record: GameRecord) -> Statement:
    """Return the statement that records the opening of a game."""
    return changed(record.id, eco=record.eco, opening=record.opening, plies=record.plies)


def changed(game_id: str, **values: object) -> Statement:
    """Return the statement that changes these columns of a game."""
    sql = f"UPDATE games SET {', '.join(f'{name} = ?' for name in values)} WHERE id = ?"
    return sql, [(*values.values(), game_id)]


def _marks(names: Sequence[str]) -> str:
    return ", ".join("?" for _ in names)
