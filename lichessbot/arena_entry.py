"""Our part in one arena: what is known of it, and when the next request is due.

Only the state and what follows from it. Must not know: the outbox, the store, other tournaments.
"""

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Self

from lichessbot.lichess.commands import JoinTournament, TournamentCommand
from lichessbot.timeouts import Timeouts


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
    past_games: set[str] = field(default_factory=set)
    """Those that are over or left alone: that they are announced or listed again tells nothing."""
    is_delayed: bool = False
    """The latest request failed and is to be repeated."""
    rate_limits_in_a_row: int = 0
    """How often in a row Lichess answered with a limit."""
    is_out: bool = False
    """We left it until a slot is free. If false, we may already be in it, from before a restart or by hand."""
    waits_for_slot: bool = False
    """It is joined as soon as a slot is free."""
    requested_at: float = 0.0
    """When we last asked to join or for a game; once Lichess has answered, when it did."""
    list_checked_at: float = 0.0
    """When the list of games was last read to find out whether the game has begun."""
    rejoin_wish: Wish | None = None
    """What to join again once we have left."""

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """The order in which arenas get slots: those that we are in or join, those that we leave, others; by start."""
        is_in = self.stage is Stage.JOINED or isinstance(self.command, JoinTournament)
        return not is_in, self.stage is not Stage.LEAVING, self.starts_at or 0.0

    @property
    def is_limited(self) -> bool:
        """Whether Lichess answered the last request to join with a limit, so that it did not let us in."""
        return self.stage is Stage.JOINING and self.rate_limits_in_a_row > 0

    def awaits_game(self, moment: float) -> bool:
        """Return whether its next game may begin by `moment`, if we are in it by then.

        An arena that we left shortly before its start counts as begun: Lichess tells the time until then in whole
        seconds, so the next answer may name a later start.
        """
        is_entered = self.stage in (Stage.JOINING, Stage.JOINED)
        has_begun = self.is_out or (self.starts_at is not None and self.starts_at <= moment)
        return is_entered and has_begun and not self.games

    def needs_slot(self, moment: float) -> bool:
        """Return whether a slot is to be kept for its next game, if it has begun by `moment`.

        The request to join may lead to a game before it is answered. During a limit no slot is kept.
        """
        may_join = not self.is_limited or self.waits_for_slot or self.command is not None
        return self.awaits_game(moment) and may_join

    def list_check_at(self, timeouts: Timeouts) -> float | None:
        """Return when the list of games should tell whether a game has begun unseen; None if none may have."""
        if self.stage is not Stage.JOINED or self.starts_at is None or self.games:
            return None
        return max(self.starts_at, self.requested_at, self.list_checked_at) + timeouts.game_start.total_seconds()

    def next_request_at(self, now: float, timeouts: Timeouts) -> float:
        """Return when to send the next request: at the start, then before an older Lichess forgets it, or at the end.

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
