"""Who takes our slots: the opponents in games, and those whose games are about to start.

Pure. Only games with a clock take slots: a correspondence game may last for months.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from lichessbot.config import ChallengeConfig


@dataclass(frozen=True, slots=True)
class Guest:
    """An opponent in one game, or in one that is about to start; `user_id` is empty if anonymous."""

    user_id: str
    is_bot: bool
    has_clock: bool = True


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How full the house is: one guest for each game."""

    guests: tuple[Guest, ...] = ()

    @classmethod
    def of(cls, guests: Iterable[Guest]) -> Self:
        return cls(tuple(guests))

    def joined_by(self, guests: Iterable[Guest]) -> Self:
        return self.of((*self.guests, *guests))

    def free_slots(self, config: ChallengeConfig, *, for_bot: bool) -> int:
        """How many games with a clock may still begin; bots leave free what is reserved for humans."""
        free = config.concurrency - sum(guest.has_clock for guest in self.guests)
        if not for_bot:
            return free
        bots = sum(guest.has_clock and guest.is_bot for guest in self.guests)
        return min(free, slots_for(config, is_bot=True) - bots)

    def games_with(self, user_id: str) -> int:
        return sum(bool(user_id) and guest.user_id == user_id for guest in self.guests)

    @property
    def clocked_games(self) -> int:
        return sum(guest.has_clock for guest in self.guests)

    @property
    def correspondence_games(self) -> int:
        return sum(not guest.has_clock for guest in self.guests)


def slots_for(config: ChallengeConfig, *, is_bot: bool) -> int:
    """How many games with a clock such challengers may have in an empty house."""
    return config.concurrency - (config.games_reserved_for_humans if is_bot else 0)
