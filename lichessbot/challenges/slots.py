"""Who takes our slots: games being played, games about to start, and our own challenges and tournaments.

Pure: `now` is monotonic seconds, passed in. A game starts within moments of the acceptance. If it does not, either the
event was lost or the challenge is dead; the list of games in progress tells which.
"""

from dataclasses import dataclass
from datetime import timedelta

from lichessbot.config import ChallengeConfig
from lichessbot.timeouts import earliest, is_due


@dataclass(frozen=True, slots=True)
class SlotHolder:
    """The opponent in a game or in one that is about to start; `user_id` is empty if anonymous."""

    user_id: str
    is_bot: bool
    has_clock: bool = True


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The games in progress and about to start, by opponent."""

    holders: tuple[SlotHolder, ...]

    def free_slots(self, config: ChallengeConfig, *, is_bot: bool) -> int:
        """Return how many more games with a clock may begin; bots never get the slots reserved for humans."""
        free = config.concurrency - self.clocked_games
        if not is_bot:
            return free
        bots = sum(holder.has_clock and holder.is_bot for holder in self.holders)
        return min(free, slots_for(config, is_bot=True) - bots)

    def games_with(self, user_id: str) -> int:
        return sum(bool(user_id) and holder.user_id == user_id for holder in self.holders)

    @property
    def clocked_games(self) -> int:
        return sum(holder.has_clock for holder in self.holders)

    @property
    def correspondence_games(self) -> int:
        return sum(not holder.has_clock for holder in self.holders)


def slots_for(config: ChallengeConfig, *, is_bot: bool) -> int:
    """Return how many games with a clock such opponents may have while no other game runs."""
    return config.concurrency - (config.games_reserved_for_humans if is_bot else 0)


@dataclass(slots=True)
class _Slot:
    holder: SlotHolder
    due_at: float | None
    """When the game should have started; None while the acceptance is on its way."""
    questioned_at: float | None = None
    likely: bool = False
    """Whether the acceptance took effect, as far as we know, or may have done so without an answer to us."""


class Slots:
    """Slots of challenges that were accepted, by us or perhaps by the bot we challenged, and are not games yet."""

    def __init__(self, game_start: timedelta) -> None:
        self._game_start_s = game_start.total_seconds()
        self._slots: dict[str, _Slot] = {}

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def holders(self) -> tuple[SlotHolder, ...]:
        return tuple(slot.holder for slot in self._slots.values())

    @property
    def wake_at(self) -> float | None:
        """When `take_overdue` may have a new answer."""
        return earliest(*(slot.due_at for slot in self._slots.values()))

    def reserve(self, challenge_id: str, holder: SlotHolder, look_at: float | None = None) -> None:
        """Reserve a slot for a challenge that we accept, or that we sent.

        For one that we sent, the list of games is read at the monotonic second `look_at` if nothing is known by then.
        """
        self._slots[challenge_id] = _Slot(holder, due_at=look_at)

    def expect(self, challenge_id: str, now: float) -> None:
        """Expect the game from now on: the acceptance was acknowledged."""
        slot = self._slots.get(challenge_id)
        if slot is not None:
            slot.likely = True
            slot.due_at = now + self._game_start_s

    def doubt(self, challenge_id: str, now: float, *, likely: bool = False) -> None:
        """Call for the list of games, because the acceptance may or may not have taken effect.

        `likely`: an attempt had no answer, so without a list the stream of the game itself is to be tried.
        """
        slot = self._slots.get(challenge_id)
        if slot is not None:
            slot.due_at = now
            slot.likely = likely

    def free(self, challenge_id: str) -> None:
        """Free the slot: the game started, or never will."""
        self._slots.pop(challenge_id, None)

    def take_overdue(self, now: float) -> bool:
        """Return whether a game is overdue, so that the list of games should be read; begin to wait anew for it."""
        overdue = [slot for slot in self._slots.values() if is_due(slot.due_at, now)]
        for slot in overdue:
            slot.due_at = now + self._game_start_s
            slot.questioned_at = slot.questioned_at or now
        return bool(overdue)

    def unlisted(self, now: float) -> list[str]:
        """Return overdue games that have probably begun, and for which no list of games arrived in time."""
        return [it for it, slot in self._slots.items() if slot.likely and self._is_list_overdue(slot, now)]

    def free_unlikely(self, now: float, grace_s: float) -> list[str]:
        """Free and return the overdue games that probably did not begin and for which no list of games came in time.

        `grace_s`: how much later than usual a list may come.
        """
        until = now - grace_s
        lost = [it for it, slot in self._slots.items() if not slot.likely and self._is_list_overdue(slot, until)]
        for challenge_id in lost:
            self.free(challenge_id)
        return lost

    def free_overdue(self, asked_at: float) -> list[str]:
        """Free and return the overdue games that a list requested at `asked_at` did not show."""
        dead = [it for it, slot in self._slots.items() if slot.questioned_at and slot.questioned_at <= asked_at]
        for challenge_id in dead:
            self.free(challenge_id)
        return dead

    def _is_list_overdue(self, slot: _Slot, now: float) -> bool:
        return slot.questioned_at is not None and now >= slot.questioned_at + self._game_start_s
