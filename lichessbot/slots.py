"""Slots kept for challenges that may become games any moment, until they do.

Pure: `now` is monotonic seconds, passed in. A game starts within moments of the acceptance; when it does not, either
the news was lost or the challenge is dead, which a look at the games in progress tells.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from lichessbot.config import ChallengeConfig
from lichessbot.storage.records import SlotHolder


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How full the house is: one guest for each game."""

    guests: tuple[SlotHolder, ...] = ()

    @classmethod
    def of(cls, guests: Iterable[SlotHolder]) -> Self:
        return cls(tuple(guests))

    def joined_by(self, guests: Iterable[SlotHolder]) -> Self:
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


@dataclass(slots=True)
class _Slot:
    guest: SlotHolder
    due_at: float | None = None
    """When the game should have started; None while the acceptance is on its way."""
    questioned_at: float | None = None
    likely: bool = False
    """Whether the acceptance took effect as far as we know, or perhaps without our hearing of it."""


class Slots:
    """The challenges that were accepted, by us or perhaps by those we challenged, and are not yet games."""

    def __init__(self, game_start: timedelta) -> None:
        self._game_start_s = game_start.total_seconds()
        self._slots: dict[str, _Slot] = {}

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def guests(self) -> Iterator[SlotHolder]:
        """For whom they are kept."""
        return (slot.guest for slot in self._slots.values())

    @property
    def wake_at(self) -> float | None:
        return min((slot.due_at for slot in self._slots.values() if slot.due_at is not None), default=None)

    def keep(self, challenge_id: str, guest: SlotHolder) -> None:
        """The challenge is being accepted."""
        self._slots[challenge_id] = _Slot(guest)

    def keep_open(self, challenge_id: str, guest: SlotHolder, until: float) -> None:
        """We challenged `guest`. If nobody says what came of it until the monotonic second `until`, a look tells."""
        self._slots[challenge_id] = _Slot(guest, due_at=until)

    def expect(self, challenge_id: str, now: float) -> None:
        """The acceptance was acknowledged: the game should start."""
        slot = self._slots.get(challenge_id)
        if slot is not None:
            slot.likely = True
            slot.due_at = now + self._game_start_s

    def doubt(self, challenge_id: str, now: float, *, likely: bool = False) -> None:
        """Nobody knows whether the acceptance took effect: a look at the games can tell.

        `likely`: an attempt had no answer, so if there is no look the game's own stream is to be tried.
        """
        slot = self._slots.get(challenge_id)
        if slot is not None:
            slot.due_at = now
            slot.likely = likely

    def free(self, challenge_id: str) -> None:
        """The game started, or never will."""
        self._slots.pop(challenge_id, None)

    def question(self, now: float) -> bool:
        """Whether a game is overdue: then the games in progress should be looked at."""
        overdue = [slot for slot in self._slots.values() if slot.due_at is not None and now >= slot.due_at]
        for slot in overdue:
            slot.due_at = now + self._game_start_s
            slot.questioned_at = slot.questioned_at or now
        return bool(overdue)

    def untold(self, now: float) -> list[str]:
        """Overdue although their acceptance is likely, and the look that should tell has not come about."""
        return [
            it
            for it, slot in self._slots.items()
            if slot.likely and slot.questioned_at and now >= slot.questioned_at + self._game_start_s
        ]

    def free_overdue(self, asked_at: float) -> list[str]:
        """A look begun at `asked_at` did not show the overdue games: their slots are free again."""
        dead = [it for it, slot in self._slots.items() if slot.questioned_at and slot.questioned_at <= asked_at]
        for challenge_id in dead:
            self.free(challenge_id)
        return dead
