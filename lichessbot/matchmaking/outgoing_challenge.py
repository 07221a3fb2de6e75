"""One challenge of our own, from its sending to what came of it.

Pure: `now` is monotonic seconds, passed in. Lichess tells of an acceptance or a decline once, and of a
challenge that expired not at all; an answer may be lost, too. So after a while the challenge is looked
at, and withdrawn if it is still there: whatever gets lost, it is over in the end.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable
from lichessbot.lichess.commands import (
    CancelChallenge,
    CommandDone,
    CommandFailed,
    CreateChallenge,
    MatchCommand,
    Outgoing,
    ReadChallenge,
    ReadOutgoing,
)
from lichessbot.lichess.enums import DeclineReason
from lichessbot.lichess.models import Challenge
from lichessbot.matchmaking.selection import Proposal
from lichessbot.timeouts import Timeouts

_MOST_WITHDRAWALS: Final = 3

@dataclass(frozen=True, slots=True)
class Accepted:
    """It is a game. `announced` if the event stream said so."""

    announced: bool


@dataclass(frozen=True, slots=True)
class Declined:
    reason: DeclineReason


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Nobody answered in time, or somebody else got its slot.

    `certain` if Lichess confirmed it; `out_of_reach` if Lichess said nothing at all.
    """

    unanswered: bool
    certain: bool = True
    out_of_reach: bool = False


@dataclass(frozen=True, slots=True)
class NotSent:
    """Lichess did not take it, or nobody knows and it cannot be found (`out_of_reach`: or sought)."""

    error: ApiError | None
    out_of_reach: bool = False


Outcome = Accepted | Declined | Withdrawn | NotSent


class _Stage(Enum):
    SENDING = auto()
    LOST = auto()
    """Nobody knows whether it arrived."""
    OPEN = auto()
    LOOKING = auto()
    WITHDRAWING = auto()


class OpenChallenge:
    """Takes a slot until it has an outcome."""

    def __init__(self, proposal: Proposal, timeouts: Timeouts) -> None:
        self.proposal = proposal
        self.challenge_id: str | None = None
        self._open_s = timeouts.challenge_open.total_seconds()
        self._retry_s = timeouts.game_start.total_seconds()
        self._stage = _Stage.SENDING
        self._due_at: float | None = None
        self._unwanted = False
        self._vain_withdrawals = 0

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        return self._due_at

    @property
    def creation(self) -> CreateChallenge:
        """What is to be sent first."""
        return CreateChallenge(self.proposal.opponent, self.proposal.terms)

    # What happens

    def withdraw(self) -> MatchCommand | None:
        """Somebody needs the slot."""
        if self._unwanted:
            return None
        self._unwanted = True
        return self._cancel() if self._stage in (_Stage.OPEN, _Stage.LOOKING) else None

    def echo(self, challenge: Challenge, now: float) -> MatchCommand | None:
        """A challenge of ours shows on the event stream: perhaps this one."""
        target = challenge.destination
        if self.challenge_id is not None or target is None or target.id != self.proposal.opponent:
            return None
        return self._found(challenge.id, now)

    def tick(self, now: float) -> MatchCommand | None:
        if self._due_at is None or now < self._due_at:
            return None
        self._due_at = None
        if self._stage is _Stage.LOST:
            return ReadOutgoing()
        if self._unwanted:
            return self._cancel()
        self._stage = _Stage.LOOKING
        return ReadChallenge(self.challenge_id or "")

    def hear(self, report: CommandDone | CommandFailed, now: float) -> MatchCommand | Outcome | None:
        """The answer to a command that this challenge asked for."""
        match report:
            case CommandDone(command=CreateChallenge(), answer=Challenge() as challenge):
                return self._found(challenge.id, now) if self.challenge_id is None else None
            case CommandFailed(command=CreateChallenge(), error=error):
                return self._creation_failed(error, now)
            case CommandDone(command=ReadOutgoing(), answer=Outgoing(challenges)):
                return self._look_among(challenges)
            case CommandFailed(command=ReadOutgoing(), error=error):
                return self._search_failed(error, now)
            case CommandDone(command=ReadChallenge(), answer=Challenge() as challenge):
                return self._read(challenge) if self._stage is _Stage.LOOKING else None
            case CommandFailed(command=ReadChallenge(), error=error):
                return self._look_failed(error, now) if self._stage is _Stage.LOOKING else None
            case CommandDone(command=CancelChallenge()):
                return Withdrawn(unanswered=not self._unwanted)
            case CommandFailed(command=CancelChallenge(), error=error):
                return self._withdrawal_failed(error, now)
        return None

    # What follows

    def _found(self, challenge_id: str, now: float) -> MatchCommand | None:
        self.challenge_id = challenge_id
        self._stage = _Stage.OPEN
        self._due_at = now + self._open_s
        return self._cancel() if self._unwanted else None

    def _creation_failed(self, error: ApiError, now: float) -> Outcome | None:
        if self.challenge_id is not None:
            return None  # its echo proved that it had arrived
        if isinstance(error, Refused | RateLimited):
            return NotSent(error)
        self._stage = _Stage.LOST
        self._due_at = now + self._retry_s
        return None

    def _search_failed(self, error: ApiError, now: float) -> MatchCommand | Outcome | None:
        """Whoever needs its slot does not wait for ever: out of reach for long, it has expired."""
        if isinstance(error, Refused):
            return NotSent(error)
        self._vain_withdrawals += self._unwanted
        if self._vain_withdrawals >= _MOST_WITHDRAWALS:
            return NotSent(None, out_of_reach=isinstance(error, Unreachable))
        return self._again(now)

    def _look_among(self, challenges: tuple[Challenge, ...]) -> MatchCommand | Outcome | None:
        """Found among those that are open, it is withdrawn: when it was made is not known."""
        if self.challenge_id is not None:
            return None
        ours = (it for it in challenges if it.destination and it.destination.id == self.proposal.opponent)
        found = next(ours, None)
        if found is None:
            return NotSent(None)
        self.challenge_id = found.id
        return self._cancel()

    def _read(self, challenge: Challenge) -> MatchCommand | Outcome:
        match challenge.status:
            case "accepted":
                return Accepted(announced=False)
            case "declined":
                return Declined(DeclineReason.received(challenge.decline_reason_key))
            case "canceled":
                return Withdrawn(unanswered=not self._unwanted)
        return self._cancel()

    def _look_failed(self, error: ApiError, now: float) -> MatchCommand | None:
        return self._cancel() if isinstance(error, Refused) else self._again(now)

    def _withdrawal_failed(self, error: ApiError, now: float) -> MatchCommand | Outcome | None:
        """Refused: it was answered meanwhile, and nobody told us how. Out of reach for long: it has expired."""
        self._vain_withdrawals += 1
        if isinstance(error, Refused) or self._vain_withdrawals >= _MOST_WITHDRAWALS:
            out_of_reach = isinstance(error, Unreachable)
            return Withdrawn(unanswered=not self._unwanted, certain=False, out_of_reach=out_of_reach)
        return self._again(now)

    def _cancel(self) -> MatchCommand:
        self._stage = _Stage.WITHDRAWING
        self._due_at = None
        return CancelChallenge(self.challenge_id or "")

    def _again(self, now: float) -> MatchCommand | None:
        """No answer: the same again in a while."""
        if self._stage is not _Stage.LOST:
            self._stage = _Stage.OPEN
        self._due_at = now + self._retry_s
        return None
