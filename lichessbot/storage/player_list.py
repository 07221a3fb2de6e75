"""A list of players, such as a block list: who is on it, until when, and how an entry is written."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True, slots=True)
class PlayerList:
    """One version of a list of players.

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
        return cls(address, names, etag, {name: day for name, _, day in entries if name not in names})

    @property
    def words(self) -> list[str]:
        """The entries, sorted: `name`, or `name@2026-12-31`."""
        return sorted([*self.names, *(f"{name}@{day}" for name, day in self.until.items())])

    def has(self, user_id: str, now_s: float) -> bool:
        """Return whether the player is listed at this moment, in seconds since the epoch."""
        today = time.strftime("%Y-%m-%d", time.gmtime(now_s))
        return user_id in self.names or self.until.get(user_id, "") >= today
