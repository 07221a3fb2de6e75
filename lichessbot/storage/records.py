"""The values in the state file: limited actions, player lists, and every challenge with its answer and the reason."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from enum import StrEnum
from itertools import islice
from typing import Any, Final, Self

_MOST_REMEMBERED: Final = 5000


class LimitedAction(StrEnum):
    """Actions that happen a limited number of times in a game, also across restarts."""

    GREETING = "greeting"
    GOODBYE = "goodbye"
    DRAW_OFFER = "draw offer"
    TAKEBACK = "takeback"
    LEVEL_PROPOSAL = "level proposal"
    REVIEW = "review"
    """Recorded when the opponent asks for one."""
    REMATCH = "rematch"
    """Recorded once for each rematch in a row that led to the game, itself included."""


@dataclass(frozen=True, slots=True)
class ListFetched:
    """A new version of a list of players.

    `address` is a web address or an absolute path, `etag` what tells this version from others, empty if nothing does.
    `until`: the last day (UTC, as YYYY-MM-DD) of each player who is listed for a time; `names` has the others.
    """

    address: str
    names: frozenset[str]
    etag: str = ""
    until: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_words(cls, address: str, words: Iterable[str], etag: str = "") -> Self:
        """Read entries as `words` writes them."""
        entries = [word.partition("@") for word in sorted(words)]  # of several days the last counts
        names = frozenset(name for name, _, day in entries if not day)
        return cls(address, names, etag, {name: day for name, _, day in entries if day and name not in names})

    @property
    def words(self) -> list[str]:
        """The entries, sorted: `name`, or `name@2026-12-31`."""
        return sorted([*self.names, *(f"{name}@{day}" for name, day in self.until.items())])

    def has(self, user_id: str, now_s: float) -> bool:
        """Return whether the player is listed at this moment, in seconds since the epoch."""
        today = time.strftime("%Y-%m-%d", time.gmtime(now_s))
        return user_id in self.names or self.until.get(user_id, "") >= today


@dataclass(frozen=True, slots=True)
class SlotHolder:
    """The opponent in a game or in one that is about to start; `user_id` is empty if anonymous."""

    user_id: str
    is_bot: bool
    has_clock: bool = True


class Answer(StrEnum):
    """What happened to a challenge."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    WAITING = "waiting"
    CANCELED = "canceled"
    """Withdrawn by the challenger while it waited."""
    REPLACED = "replaced"
    """The challenger sent another one."""
    NO_GAME = "no game"
    """Accepted too late."""
    MISSED = "missed"
    """Lichess let us send nothing before it expired."""


@dataclass(frozen=True, slots=True)
class ChallengeRecord:
    """One challenge. `received_at` is wall time, `rule` is `key = value`, `reason` empty unless declined."""

    id: str
    received_at: float
    challenger: str
    is_bot: bool
    rating: int | None
    our_rating: int | None
    variant: str
    speed: str
    terms: str
    has_clock: bool
    answer: Answer
    reason: str
    rule: str
    because: str

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Self:
        values = dict(zip(COLUMNS, row, strict=True))
        changes = {"is_bot": bool(values["is_bot"]), "has_clock": bool(values["has_clock"])}
        return cls(**{**values, **changes, "answer": Answer(values["answer"])})

    @property
    def row(self) -> Sequence[Any]:
        return astuple(self)

    @property
    def slot_holder(self) -> SlotHolder:
        return SlotHolder(self.challenger, self.is_bot, self.has_clock)


COLUMNS: Final = tuple(column.name for column in fields(ChallengeRecord))
SELECT: Final = f"SELECT {', '.join(COLUMNS)} FROM challenges"
INSERT: Final = (
    f"INSERT OR REPLACE INTO challenges ({', '.join(COLUMNS)}) VALUES ({', '.join('?' for _ in COLUMNS)})"
)


class ChallengeRecords:
    """The newest entries by challenge id, which is also the id of its game."""

    def __init__(self, entries: Iterable[ChallengeRecord] = ()) -> None:
        self._entries: dict[str, ChallengeRecord] = {}
        for entry in entries:
            self.write(entry)

    def __getitem__(self, challenge_id: str) -> ChallengeRecord | None:
        return self._entries.get(challenge_id)

    def write(self, entry: ChallengeRecord) -> None:
        """Add an entry or replace it."""
        self._entries[entry.id] = entry
        while len(self._entries) > _MOST_REMEMBERED:
            del self._entries[next(iter(self._entries))]

    def newest(self, limit: int) -> list[ChallengeRecord]:
        """Return the challenges that came last, the newest last."""
        return list(islice(reversed(self._entries.values()), limit))[::-1]

    def accepted_since(self, challenger: str, moment: float) -> int:
        """Return how many challenges of that player were accepted since the wall time `moment`."""
        theirs = (entry for entry in self._entries.values() if entry.challenger == challenger)
        return sum(entry.answer is Answer.ACCEPTED and entry.received_at >= moment for entry in theirs)
