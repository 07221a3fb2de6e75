"""Our part in one arena: what is known of it, and when the next request is due.

Only the state and what follows from it. Must not know: the outbox, the store, other tournaments.
"""

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Self

from lichessbot.lichess.commands import JoinTournament, TournamentCommand
from lichessbot.timeouts import Timeouts, is_due


@dataclass(frozen=True, slots=True)
class Wish:
    """A tournament to take part in, and what is needed to join it."""

    tournament_id: str
    team: str | None = None
    password: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, command: JoinTournament) -> Self:
        return cls(command.tournament_id, command.team, command.password)


class Stage(Enum):
    """The stages of our part in a tournament, in their order."""

    UNREAD = auto()
    """Its variant, start and end are not known yet."""
    JOINING = auto()
    JOINED = auto()
    LEAVING = auto()


@dataclass(slots=True)
class Entry:
    """Our state in one tournament. Times are monotonic seconds."""

    wish: Wish
    due_at: float | None
    stage: Stage = Stage.UNREAD
    command: TournamentCommand | None = None
    """What was sent for it and has no answer yet."""
    starts_at: float | None = None
    ends_at: float | None = None
    games: set[str] = field(default_factory=set)
    is_delayed: bool = False
    """The latest request failed and is to be repeated."""
    rate_limits_in_a_row: int = 0
    """How often in a row Lichess answered with a limit."""
    waits_for_slot: bool = False
    """The next game is requested as soon as a slot is free."""
    game_requested: bool = False
    """A game was requested after the start of the tournament, and may begin at any moment."""
    requested_at: float = 0.0
    """When a game was last requested; once Lichess has answered, when it did."""
    list_checked_at: float = 0.0
    """When the list of games was last read to find out whether the game has begun."""
    rejoin_wish: Wish | None = None
    """What to join again once we have left."""

    def needs_slot(self, soon: float) -> bool:
        """Return whether a slot is to be kept for a tournament that has begun by the moment `soon`.

        The request to join may lead to a game before it is answered.
        """
        begun = self.starts_at is not None and self.starts_at <= soon
        return (self.stage is Stage.JOINED or self.game_requested) and begun and not self.games

    def game_may_begin(self, now: float) -> bool:
        """Return whether a game may begin there, as the last request for one still counts."""
        return self.game_requested and not self.games and not is_due(self.due_at, now)

    def list_check_at(self, timeouts: Timeouts) -> float | None:
        """Return when the list of games should tell whether a game has begun unseen; None if none may have."""
        if self.stage is not Stage.JOINED or not self.game_requested or self.games:
            return None
        return max(self.requested_at, self.list_checked_at) + timeouts.game_start.total_seconds()

    def next_request_at(self, now: float, timeouts: Timeouts) -> float:
        """Return when to send the next request: at the start, then before Lichess forgets the last one, or at the end.

        For some seconds Lichess reports that no time is left, but not yet that the tournament is over.
        """
        if self.starts_at is not None and self.starts_at > now:
            return min(self.starts_at, now + timeouts.tournament_look.total_seconds())
        again_at = now + timeouts.tournament_asks.total_seconds()
        if self.ends_at is None:
            return again_at
        if self.ends_at > now:
            return min(again_at, self.ends_at)
        return min(again_at, now + timeouts.tournament_end.total_seconds())
