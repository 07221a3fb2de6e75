"""Whether an attempt of matchmaking may begin, and what comes next, in words for the operator. Pure.

The words leave out when: the caller adds the time of the next attempt, in the time zone of the reader.
"""

import math
from dataclasses import dataclass

from lichessbot.challenges.snapshot import Snapshot
from lichessbot.control.status import OpenChallengeStatus


@dataclass(frozen=True, slots=True)
class Waits:
    """Until when each reason holds, in monotonic seconds; infinity if unknown."""

    quiet: float
    """Until enough time has passed since the last game or attempt."""
    failures: float
    """A pause after failed attempts."""
    human: float
    """The slot is kept for a human who may come back."""
    quota: float
    """The day's games or challenges are used up or spread over the day."""

    @property
    def until(self) -> float:
        return max(self.quiet, self.failures, self.human, self.quota)


def next_step(
    snapshot: Snapshot, open_challenge: OpenChallengeStatus | None, waits: Waits, now: float, *, is_choosing: bool
) -> str:
    """Return in words what matchmaking does next, or waits for.

    `is_choosing`: the bots that are online are being read; `now`: monotonic seconds.
    """
    if open_challenge is not None:
        return f"waits for the answer of {open_challenge.opponent}"
    if is_choosing:
        return "chooses an opponent among the bots that are online"
    return obstacle(snapshot) or _when(waits, now)


def obstacle(snapshot: Snapshot) -> str | None:
    """Return what prevents an attempt, however long it lasts; None if an attempt may begin after the waits."""
    config = snapshot.config.matchmaking
    if not config.allow_matchmaking:
        return "matchmaking is off"
    if snapshot.is_closed:
        return "no new games are taken"
    if not snapshot.our_id:
        return "our account is not known yet, or the engines are not checked"
    if snapshot.slots_for_our_games(is_bot=True) <= 0:
        return "no slot is free"
    if snapshot.has_clocked_games and not config.allow_during_games:
        return "games are running (matchmaking.allow_during_games = false)"
    return None


def _when(waits: Waits, now: float) -> str:
    until = waits.until
    if math.isinf(until) and until > 0:
        is_human = waits.human == until
        return "keeps the slot for a waiting human" if is_human else "the quota allows no challenges of ours"
    if until <= now:
        return "challenges a bot now"
    if until == waits.quota:
        return "challenges a bot when the day's quota allows it"
    if until == waits.human:
        return "challenges a bot if no human comes back for the slot"
    return "tries again after a failed attempt" if until == waits.failures else "challenges a bot"
