"""What decisions about new games depend on, at one moment. Pure."""

import math
from dataclasses import dataclass

from lichessbot.challenges.slots import Occupancy, SlotHolder
from lichessbot.config import Config
from lichessbot.lichess.enums import DeclineReason, Variant


@dataclass(frozen=True)
class Decline:
    """Decline. The challenger sees `reason`; `rule` and `because` are for our own log and records.

    The other decisions are in `policy`; a snapshot may hold this one.
    """

    reason: DeclineReason
    rule: str
    because: str


@dataclass(frozen=True)
class Snapshot:
    """Everything that a decision about a new game depends on, at one moment. The lobby takes it; others pass it on."""

    config: Config
    our_id: str
    games: tuple[SlotHolder, ...] = ()
    """Opponents in games being played, or accepted and about to start."""
    our_slots: tuple[SlotHolder, ...] = ()
    """Slots kept for our own challenges and tournaments."""
    stopping: bool = False
    paused: bool = False
    """No new games, by `lichessbot pause`."""
    engine_failure: str = ""
    """Why no new games are taken; empty while the engines work."""
    our_challenges_wait_until: float = -math.inf
    """Until when (monotonic seconds) we challenge nobody, as a human may come back for the slot.

    Infinity while any challenge waits for one.
    """
    playable: tuple[Variant, ...] = tuple(Variant)
    """The variants that the engines play."""
    humans_first: bool = False
    """Whether bots get no slot for now, as a human found none and may come back."""
    objection_to_bots: Decline | None = None
    """The answer to every bot for now, whatever it asks for."""

    @property
    def occupancy(self) -> Occupancy:
        return Occupancy(self.games + self.our_slots)

    @property
    def has_clocked_games(self) -> bool:
        """Whether a game with a clock is being played or about to start."""
        return Occupancy(self.games).clocked_games > 0

    @property
    def has_room_for_correspondence(self) -> bool:
        return self.occupancy.correspondence_games < self.config.challenge.max_correspondence_games

    @property
    def is_closed(self) -> bool:
        """Whether no new games are taken."""
        return self.stopping or self.paused or bool(self.engine_failure)

    def slots_for_our_games(self, *, is_bot: bool) -> int:
        """Return how many more games with a clock against bots, or against humans, we may begin ourselves."""
        return 0 if self.is_closed else self.occupancy.free_slots(self.config.challenge, is_bot=is_bot)
