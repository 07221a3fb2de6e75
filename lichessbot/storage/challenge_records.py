"""The guest book: every challenge, what became of it, and the rule that decided.

Knows its entries, their rows in the records, and what can be asked of the newest; what is written when is the store's
work, and what is answered the reception's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from enum import StrEnum
from typing import Any, Final, Self

from lichessbot.storage.records import SlotHolder

_MOST_REMEMBERED: Final = 5000


class Answer(StrEnum):
    """What became of a challenge."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    WAITING = "waiting"
    CANCELED = "canceled"
    """Withdrawn by the challenger while it waited."""
    REPLACED = "replaced"
    """The challenger made another one instead."""
    NO_GAME = "no game"
    """Accepted, but it was gone by then."""


@dataclass(frozen=True, slots=True)
class Entry:
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
    def guest(self) -> SlotHolder:
        return SlotHolder(self.challenger, self.is_bot, self.has_clock)


COLUMNS: Final = tuple(column.name for column in fields(Entry))
SELECT: Final = f"SELECT {', '.join(COLUMNS)} FROM challenges"
INSERT: Final = (
    f"INSERT OR REPLACE INTO challenges ({', '.join(COLUMNS)}) VALUES ({', '.join('?' for _ in COLUMNS)})"
)


class ChallengeRecords:
    """The newest entries, by challenge; a game has the id of the challenge it was."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: dict[str, Entry] = {}
        for entry in entries:
            self.write(entry)

    def __getitem__(self, challenge_id: str) -> Entry | None:
        return self._entries.get(challenge_id)

    def write(self, entry: Entry) -> None:
        """Add an entry, or put a new version in the place of the old one."""
        self._entries[entry.id] = entry
        while len(self._entries) > _MOST_REMEMBERED:
            del self._entries[next(iter(self._entries))]

    def accepted_since(self, challenger: str, moment: float) -> int:
        """How many challenges of that player were accepted after the wall time `moment`."""
        theirs = (entry for entry in self._entries.values() if entry.challenger == challenger)
        return sum(entry.answer is Answer.ACCEPTED and entry.received_at >= moment for entry in theirs)
