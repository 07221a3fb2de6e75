"""The record of a challenge: who sent it, its terms, what became of it, and which rule decided."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from itertools import islice
from typing import Any, Final, Self

from lichessbot.storage.database import Statement
from lichessbot.storage.tables import replaced

_MOST_REMEMBERED: Final = 5000


class ChallengeOutcome(StrEnum):
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
    """It expired before we could answer."""


@dataclass(frozen=True, slots=True)
class ChallengeRecord:
    """One challenge. `received_at` is wall time, `rule` is `key = value`, `reason` empty unless declined.

    `challenger` is the id, empty if anonymous. `challenger_name` is empty also in rows of a version before that column.
    """

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
    answer: ChallengeOutcome
    reason: str
    rule: str
    because: str
    challenger_name: str = ""

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Self:
        values = dict(zip(COLUMNS, row, strict=True))
        changes = {"is_bot": bool(values["is_bot"]), "has_clock": bool(values["has_clock"])}
        return cls(**{**values, **changes, "answer": ChallengeOutcome(values["answer"])})

    @property
    def shown_challenger(self) -> str:
        """The challenger's name as far as it is known, else the id; empty if anonymous."""
        return self.challenger_name or self.challenger


COLUMNS: Final = tuple(column.name for column in fields(ChallengeRecord))
SELECT: Final = f"SELECT {', '.join(COLUMNS)} FROM challenges"


def recorded(challenge: ChallengeRecord) -> Statement:
    """Return the statement that records a challenge, in place of its earlier record."""
    return replaced("challenges", **asdict(challenge))


class ChallengeRecords:
    """The newest entries by challenge id, which is also the id of its game."""

    def __init__(self, entries: Iterable[ChallengeRecord] = ()) -> None:
        self._entries: dict[str, ChallengeRecord] = {}
        for entry in entries:
            self.write(entry)

    def get(self, challenge_id: str) -> ChallengeRecord | None:
        return self._entries.get(challenge_id)

    def write(self, entry: ChallengeRecord) -> None:
        """Add an entry or replace it."""
        self._entries[entry.id] = entry
        while len(self._entries) > _MOST_REMEMBERED:
            del self._entries[next(iter(self._entries))]

    def newest(self, limit: int) -> list[ChallengeRecord]:
        """Return the challenges that came last, the newest last."""
        return list(islice(reversed(self._entries.values()), limit))[::-1]

    def accepted_lately(self, challenger: str, age_s: float, now_s: float) -> int:
        """Return how many challenges of that player, at most so old, were accepted; `now_s` is wall time."""
        theirs = (entry for entry in self._entries.values() if entry.challenger == challenger)
        lately = (entry for entry in theirs if now_s - age_s <= entry.received_at <= now_s)
        return sum(entry.answer is ChallengeOutcome.ACCEPTED for entry in lately)
