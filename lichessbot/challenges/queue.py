"""Challenges that would be accepted if a slot were free.

Pure: `now` is monotonic seconds, passed in. No challenge waits longer than Lichess keeps it open, and at most as many
wait as could start if every game ended now.
"""

from dataclasses import dataclass
from typing import Final

from lichessbot.challenges.slots import slots_for
from lichessbot.config import ChallengeConfig
from lichessbot.lichess.enums import Preference, SortBy
from lichessbot.lichess.models import Challenge, ChallengeReceived

_BONUS: Final = 200  # rating points for a rated game, and for a player's title


@dataclass(frozen=True, slots=True)
class QueuedChallenge:
    """A challenge that came at `since` and waits at most until `until`, both monotonic, because of `rule`."""

    received: ChallengeReceived
    since: float
    until: float
    rule: str

    @property
    def challenge(self) -> Challenge:
        return self.received.challenge


class ChallengeQueue:
    """The challenges that wait, by id."""

    def __init__(self) -> None:
        self._queued: dict[str, QueuedChallenge] = {}

    def __len__(self) -> int:
        return len(self._queued)

    def __contains__(self, challenge_id: str) -> bool:
        return challenge_id in self._queued

    @property
    def wake_at(self) -> float | None:
        """When the next challenge expires."""
        return min((queued.until for queued in self._queued.values()), default=None)

    @property
    def has_bots(self) -> bool:
        """Whether a bot waits."""
        return any(queued.challenge.challenger.is_bot for queued in self._queued.values())

    def add(self, queued: QueuedChallenge) -> None:
        self._queued[queued.challenge.id] = queued

    def drop(self, challenge_id: str) -> bool:
        """Remove a challenge; return whether it was queued."""
        return self._queued.pop(challenge_id, None) is not None

    def drop_replaced(self, newer: Challenge) -> list[Challenge]:
        """Remove and return older challenges of the same player: Lichess keeps only one of each player to us."""
        user_id = newer.challenger.id  # empty if anonymous, who may be several players
        queued = [it.challenge for it in self._queued.values()]
        dead = [it for it in queued if user_id and it.challenger.id == user_id]
        for challenge in dead:
            self.drop(challenge.id)
        return dead

    def drop_expired(self, now: float) -> list[QueuedChallenge]:
        """Remove and return the challenges whose time is up."""
        return self._dropped([queued for queued in self._queued.values() if queued.until <= now])

    def drop_hopeless(self, config: ChallengeConfig) -> list[QueuedChallenge]:
        """Remove and return challenges without a chance even if every game ended now, the last in order first."""
        hopeless, places, bots = [], slots_for(config, is_bot=False), slots_for(config, is_bot=True)
        for queued in self.in_order(config):
            is_bot = queued.challenge.challenger.is_bot
            if places <= 0 or (is_bot and bots <= 0):
                hopeless.append(queued)
                continue
            places -= 1
            bots -= is_bot
        return self._dropped(hopeless[::-1])

    def in_order(self, config: ChallengeConfig) -> list[QueuedChallenge]:
        """Return the challenges, the next one first; equal ones in the order in which they came."""

        def rank(queued: QueuedChallenge) -> tuple[bool, int]:
            kind = Preference.BOT if queued.challenge.challenger.is_bot else Preference.HUMAN
            put_back = config.preference not in (Preference.NONE, kind)
            return put_back, -_merit(queued.challenge) if config.sort_by is SortBy.BEST else 0

        return sorted(self._queued.values(), key=rank)

    def _dropped(self, leaving: list[QueuedChallenge]) -> list[QueuedChallenge]:
        for queued in leaving:
            self.drop(queued.challenge.id)
        return leaving


def _merit(challenge: Challenge) -> int:
    """Return how good a challenge is, in rating points of the challenger."""
    user = challenge.challenger
    return (user.rating or 0) + _BONUS * challenge.rated + _BONUS * user.has_players_title
