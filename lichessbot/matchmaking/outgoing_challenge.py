"""One challenge of our own, from its request to its outcome.

Pure: `now` is monotonic seconds, passed in. Lichess tells of an acceptance or a decline once, and of a
challenge that expired not at all; an answer may be lost, too. So after a while the challenge is looked
at, and withdrawn if it is still there, so that it ends even if messages are lost. Only a correspondence challenge to
a human stays open.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from lichessbot.challenges.slots import SlotHolder
from lichessbot.control.status import OpenChallengeStatus
from lichessbot.errors import ApiError, Refused, Unreachable
from lichessbot.lichess.commands import (
    CancelChallenge,
    Command,
    CommandDone,
    CommandFailed,
    CreateChallenge,
    MatchCommand,
    ReadChallenge,
    ReadOutgoing,
)
from lichessbot.lichess.enums import DeclineReason
from lichessbot.lichess.models import Challenge
from lichessbot.matchmaking.selection import Proposal
from lichessbot.timeouts import Timeouts, is_due

_MOST_ATTEMPTS: Final = 3
# Each takes 5 s or more. Lichess may answer everything else meanwhile: the challenge must not block its slot and later
# challenges for hours.
_MOST_LOOKS: Final = 60


@dataclass(frozen=True, slots=True)
class Accepted:
    """The challenge became a game. `announced`: the event stream said so."""

    announced: bool


@dataclass(frozen=True, slots=True)
class Declined:
    reason: DeclineReason


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The challenge had no answer in time, or its slot was needed.

    `certain`: Lichess confirmed the withdrawal. `out_of_reach`: Lichess did not answer at all.
    """

    unanswered: bool
    certain: bool = True
    out_of_reach: bool = False


@dataclass(frozen=True, slots=True)
class NotSent:
    """The challenge was refused, or never sent."""

    error: ApiError


@dataclass(frozen=True, slots=True)
class Lost:
    """The challenge was perhaps sent, and cannot be found. `out_of_reach`: Lichess did not answer at all."""

    out_of_reach: bool = False


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """The challenge has no clock and is to a human, who may answer it in days."""


Outcome = Accepted | Declined | Withdrawn | NotSent | Lost | LeftOpen


class _Stage(Enum):
    SENDING = auto()
    LOST = auto()
    """It is unknown whether the request arrived."""
    OPEN = auto()
    LOOKING = auto()
    WITHDRAWING = auto()


class OpenChallenge:
    """A challenge that takes a slot until it has an outcome."""

    def __init__(self, proposal: Proposal, timeouts: Timeouts) -> None:
        self.proposal = proposal
        self.challenge_id: str | None = None
        self._open_s = timeouts.challenge_open.total_seconds()
        self._retry_s = timeouts.game_start.total_seconds()
        self._stage = _Stage.SENDING
        self.wake_at: float | None = None
        """When `tick` has something to do."""
        self._unwanted = False
        self._failed_attempts = 0
        self._failed_looks = 0
        self._begun_ids: set[str] = set()
        """Games that began before our challenge's id was known."""

    @property
    def slot_holder(self) -> SlotHolder:
        """Who takes the slot; without a name once it is withdrawn, perhaps for a challenge by the same player."""
        holder = self.proposal.slot_holder
        return replace(holder, user_id="") if self._unwanted else holder

    @property
    def creation(self) -> CreateChallenge:
        """The command that makes the challenge."""
        return CreateChallenge(self.proposal.opponent, self.proposal.terms)

    def describe(self) -> OpenChallengeStatus:
        """Return the challenge for the operator."""
        return OpenChallengeStatus(self.challenge_id, self.proposal.opponent, str(self.proposal.terms))

    # What happens

    def withdraw(self) -> MatchCommand | None:
        """Withdraw the challenge, because its slot is needed."""
        if self._unwanted:
            return None
        self._unwanted = True
        return self._cancel() if self._stage in (_Stage.OPEN, _Stage.LOOKING) else None

    def echo(self, challenge: Challenge, now: float) -> MatchCommand | Outcome | None:
        """Recognise this challenge in one that the event stream shows."""
        if self.challenge_id is not None or challenge.destination.id != self.proposal.opponent:
            return None
        return self._found(challenge.id, now)

    def game_started(self, game_id: str) -> Outcome | None:
        """Recognise the game that came of this challenge: withdrawing it then would abort the game."""
        if self.challenge_id is None:
            self._begun_ids.add(game_id)
        return Accepted(announced=True) if game_id == self.challenge_id else None

    def tick(self, now: float) -> MatchCommand | None:
        if not is_due(self.wake_at, now):
            return None
        self.wake_at = None
        if self._stage is _Stage.LOST:
            return ReadOutgoing()
        if self._unwanted:
            return self._cancel()
        self._stage = _Stage.LOOKING
        return ReadChallenge(self.challenge_id or "")

    def handle(self, report: CommandDone | CommandFailed, now: float) -> MatchCommand | Outcome | None:
        """Go on with the answer to a command of this challenge; those of earlier ones are ignored."""
        if not self._is_ours(report.command):
            return None
        match report:
            case CommandDone(command=CreateChallenge(), answer=Challenge() as challenge):
                return self._found(challenge.id, now) if self.challenge_id is None else None
            case CommandFailed(command=CreateChallenge()):
                return self._creation_failed(report, now)
            case CommandDone(command=ReadOutgoing(), answer=tuple() as challenges):
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

    def _is_ours(self, command: Command) -> bool:
        match command:
            case CreateChallenge():
                return command == self.creation
            case ReadChallenge(challenge_id=challenge_id) | CancelChallenge(challenge_id=challenge_id):
                return challenge_id == self.challenge_id
        return True

    def settled(self, challenge: Challenge, *, is_declined: bool) -> Outcome | None:
        """Go on with what the event stream tells: it was declined, or withdrawn, perhaps by the operator by hand."""
        if is_declined:
            return Declined(DeclineReason.received(challenge.decline_reason_key))
        return None if self._stage is _Stage.WITHDRAWING else self._canceled  # our request has an answer of its own

    # What follows

    def _found(self, challenge_id: str, now: float) -> MatchCommand | Outcome | None:
        self.challenge_id = challenge_id
        if challenge_id in self._begun_ids:
            return Accepted(announced=True)
        if self._stays_open:
            return LeftOpen()
        self._stage = _Stage.OPEN
        self.wake_at = now + self._open_s
        return self._cancel() if self._unwanted else None

    @property
    def _stays_open(self) -> bool:
        """Whether the challenge is not withdrawn: a human may need days to answer it."""
        return not (self.proposal.terms.has_clock or self.proposal.is_bot or self._unwanted)

    def _creation_failed(self, report: CommandFailed, now: float) -> Outcome | None:
        if self.challenge_id is not None:
            return None  # the event stream has shown it
        if not report.perhaps_done:
            return NotSent(report.error)
        self._stage = _Stage.LOST
        self.wake_at = now + self._retry_s
        return None

    def _search_failed(self, error: ApiError, now: float) -> MatchCommand | Outcome | None:
        """Retry; if the slot is needed, give up after a few failures: the challenge has expired by then."""
        if isinstance(error, Refused):
            return Lost()
        self._failed_attempts += self._unwanted
        self._failed_looks += 1
        if self._failed_attempts >= _MOST_ATTEMPTS or self._failed_looks >= _MOST_LOOKS:
            return Lost(out_of_reach=isinstance(error, Unreachable))
        return self._again(now)

    def _look_among(self, challenges: tuple[Challenge, ...]) -> MatchCommand | Outcome | None:
        """Withdraw the challenge if it is among the open ones, as its age is unknown."""
        if self.challenge_id is not None:
            return None
        found = next((it for it in challenges if it.destination.id == self.proposal.opponent), None)
        if found is None:
            return Lost()
        self.challenge_id = found.id
        return LeftOpen() if self._stays_open else self._cancel()

    def _read(self, challenge: Challenge) -> MatchCommand | Outcome:
        match challenge.status:
            case "accepted":
                return Accepted(announced=False)
            case "declined":
                return Declined(DeclineReason.received(challenge.decline_reason_key))
            case "canceled":
                return self._canceled
        return self._cancel()

    @property
    def _canceled(self) -> Withdrawn:
        """The outcome of a withdrawal seen from outside: by the operator, unless a request of ours had no answer."""
        return Withdrawn(unanswered=self._failed_attempts > 0 and not self._unwanted)

    def _look_failed(self, error: ApiError, now: float) -> MatchCommand | None:
        self._failed_looks += 1
        is_hopeless = isinstance(error, Refused) or self._failed_looks >= _MOST_LOOKS
        return self._cancel() if is_hopeless else self._again(now)

    def _withdrawal_failed(self, error: ApiError, now: float) -> MatchCommand | Outcome | None:
        """End after a failed withdrawal: refused, it was answered; unreachable for long, it has expired."""
        self._failed_attempts += 1
        if isinstance(error, Refused) or self._failed_attempts >= _MOST_ATTEMPTS:
            out_of_reach = isinstance(error, Unreachable)
            return Withdrawn(unanswered=not self._unwanted, certain=False, out_of_reach=out_of_reach)
        return self._again(now)

    def _cancel(self) -> MatchCommand:
        self._stage = _Stage.WITHDRAWING
        self.wake_at = None
        return CancelChallenge(self.challenge_id or "")

    def _again(self, now: float) -> MatchCommand | None:
        """Repeat the command later."""
        if self._stage is not _Stage.LOST:
            self._stage = _Stage.OPEN
        self.wake_at = now + self._retry_s
        return None
