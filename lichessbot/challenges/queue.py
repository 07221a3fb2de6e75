"""The waiting room: challenges that would be accepted if there were a slot.

Pure: `now` is monotonic seconds, passed in. Nobody waits longer than Lichess lets a challenge live, and no more wait
than could start if every game ended now: who has no chance is told so at once.
"""

from dataclasses import dataclass
from typing import Final

from lichessbot.config import ChallengeConfig
from lichessbot.lichess.enums import Preference, SortBy
from lichessbot.lichess.models import Challenge, ChallengeReceived
from lichessbot.slots import slots_for

_BONUS: Final = 200  # rating points that a rated game, or a player's title, is worth


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
    """Who waits, by challenge."""

    def __init__(self) -> None:
        self._waiting: dict[str, QueuedChallenge] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, challenge_id: str) -> bool:
        return challenge_id in self._waiting

    @property
    def wake_at(self) -> float | None:
        """When somebody has waited long enough."""
        return min((waiting.until for waiting in self._waiting.values()), default=None)

    def add(self, waiting: QueuedChallenge) -> None:
        self._waiting[waiting.challenge.id] = waiting

    def drop(self, challenge_id: str) -> bool:
        """Whether it was there."""
        return self._waiting.pop(challenge_id, None) is not None

    def drop_replaced(self, newer: Challenge) -> list[Challenge]:
        """Lichess keeps one challenge of each player to us: those of the same player before `newer` are dead."""
        waiting = [it.challenge for it in self._waiting.values()]
        dead = [it for it in waiting if it.challenger and newer.challenger and it.challenger.id == newer.challenger.id]
        for challenge in dead:
            self.drop(challenge.id)
        return dead

    def drop_expired(self, now: float) -> list[QueuedChallenge]:
        """Those who waited long enough."""
        return self._dropped([waiting for waiting in self._waiting.values() if waiting.until <= now])

    def drop_hopeless(self, config: ChallengeConfig) -> list[QueuedChallenge]:
        """Those for whom there would be no slot even if every game ended now, the last in order first."""
        hopeless, places, bots = [], slots_for(config, is_bot=False), slots_for(config, is_bot=True)
        for waiting in self.in_order(config):
            is_bot = waiting.challenge.from_bot
            if places <= 0 or (is_bot and bots <= 0):
                hopeless.append(waiting)
                continue
            places -= 1
            bots -= is_bot
        return self._dropped(hopeless[::-1])

    def in_order(self, config: ChallengeConfig) -> list[QueuedChallenge]:
        """Who goes first, first; among equals who came first."""

        def rank(waiting: QueuedChallenge) -> tuple[bool, int]:
            kind = Preference.BOT if waiting.challenge.from_bot else Preference.HUMAN
            put_back = config.preference not in (Preference.NONE, kind)
            return put_back, -_merit(waiting.challenge) if config.sort_by is SortBy.BEST else 0

        return sorted(self._waiting.values(), key=rank)

    def _dropped(self, leaving: list[QueuedChallenge]) -> list[QueuedChallenge]:
        for waiting in leaving:
            self.drop(waiting.challenge.id)
        return leaving


def _merit(challenge: Challenge) -> int:
    """What makes a challenge good, in points of the challenger's rating."""
    user = challenge.challenger
    rating = (user.rating if user else None) or 0
    return rating + _BONUS * challenge.rated + _BONUS * bool(user and user.has_players_title)
