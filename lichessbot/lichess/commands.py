"""The commands that the daemon sends to Lichess, and the reports of what came of them.

Each command knows its request, its priority, the quota that Lichess counts it against, how long it is worth sending,
and whether it is repeated when no answer comes. `outbox` sends them; it has the threads.
"""

import math
import re
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from typing import ClassVar, Final

from lichessbot.errors import ApiError, RateLimited
from lichessbot.lichess.answers import Account, ArenaInfo, BotUser, TokenInfo, UserStatus
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.client import LichessClient
from lichessbot.lichess.enums import ChatRoom, DeclineReason
from lichessbot.lichess.models import Challenge, ChatLine, GameInfo
from lichessbot.lichess.rate_limiter import Purpose
from lichessbot.timeouts import Timeouts

_BAN: Final = re.compile(r"Banned from playing for (\d{1,4}) minutes")
# In an hour or a day; Lichess does not say for how long.
_TOO_MANY_ARENAS: Final = "joining too many tournaments"
_ARENAS_PAUSE: Final = timedelta(minutes=1)


class Priority(IntEnum):
    """The order in which waiting commands are sent: lower values first."""

    GAME = 0
    ACCEPT = 1
    READ = 2
    DECLINE = 3
    MATCHMAKING = 4
    LAST = 5


class Command:
    """A request to Lichess that changes or reads something."""

    __slots__ = ()

    priority: ClassVar[Priority]
    purpose: ClassVar[Purpose] = Purpose.OTHER
    expires: ClassVar[bool] = False
    """Whether it is dropped at its deadline, because it would be useless or surprising later."""
    is_repeated: ClassVar[bool] = True
    """Whether it is sent again until its deadline while no answer comes."""

    @classmethod
    def kind(cls) -> str:
        """Return the kind of command in plain words, such as `accept challenge`."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()

    def __str__(self) -> str:
        """Return the command in plain words with what it is about, such as `accept challenge abcd1234`."""
        subjects = (getattr(self, name, "") for name in ("game_id", "challenge_id", "tournament_id", "opponent"))
        return " ".join(filter(None, (self.kind(), *subjects)))

    def deadline(self, due_at: float, timeouts: Timeouts) -> float:
        """Return until when sending is worth it, if it may be sent from `due_at` on; both monotonic seconds."""
        return due_at + timeouts.request_patience.total_seconds()

    def is_for(self, game_id: str) -> bool:
        """Return whether the command is useless without this game."""
        return False

    def request(self, client: LichessClient) -> "CommandResult":
        """Send the request once and return the answer, None if it says no more than success. Raises ApiError."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class GameCommand(Command):
    """A command to one game, which is useless when the game is over. The game repeats it if necessary."""

    priority = Priority.GAME
    is_repeated = False

    game_id: str

    def is_for(self, game_id: str) -> bool:
        return self.game_id == game_id


@dataclass(frozen=True, slots=True)
class SendMove(GameCommand):
    """Play `move`, in UCI notation as Lichess expects it for the variant, as ply number `ply`.

    `offering_draw` offers a draw with the move, or accepts the opponent's offer. After `answer_s` the request counts as
    unanswered, if that is less than for other requests.
    """

    ply: int
    move: str
    offering_draw: bool = False
    answer_s: float = field(default=math.inf, compare=False)

    def request(self, client: LichessClient) -> None:
        client.move(self.game_id, self.move, offering_draw=self.offering_draw, answer_s=self.answer_s)


@dataclass(frozen=True, slots=True)
class Abort(GameCommand):
    """Possible until both sides have moved. Lichess itself deletes such a game only after 24 hours."""

    before_plies: ClassVar[int] = 2

    reason: str

    def request(self, client: LichessClient) -> None:
        client.abort(self.game_id)


@dataclass(frozen=True, slots=True)
class Resign(GameCommand):
    reason: str

    def request(self, client: LichessClient) -> None:
        client.resign(self.game_id)


class _TimelyGameCommand(GameCommand):
    """A game command that is worth sending for a few seconds only."""

    __slots__ = ()
    expires = True

    def deadline(self, due_at: float, timeouts: Timeouts) -> float:
        return due_at + timeouts.offer_answer.total_seconds()


@dataclass(frozen=True, slots=True)
class AnswerTakeback(_TimelyGameCommand):
    """Grant or deny the opponent's request for a takeback; denying also withdraws a request of ours."""

    granted: bool

    def request(self, client: LichessClient) -> None:
        client.answer_takeback(self.game_id, granted=self.granted)


@dataclass(frozen=True, slots=True)
class ClaimVictory(_TimelyGameCommand):
    """Claim the win against an opponent who left the game."""

    def request(self, client: LichessClient) -> None:
        client.claim_victory(self.game_id)


@dataclass(frozen=True, slots=True)
class ClaimDraw(_TimelyGameCommand):
    """Claim a draw against an opponent who left the game; for when our material cannot mate."""

    def request(self, client: LichessClient) -> None:
        client.claim_draw(self.game_id)


@dataclass(frozen=True, slots=True)
class Say(Command):
    """Post a line in a chat room of a game, which may be over."""

    priority = Priority.LAST
    expires = True
    is_repeated = False

    game_id: str
    room: ChatRoom
    text: str

    def request(self, client: LichessClient) -> None:
        client.say(self.game_id, self.room, self.text)


@dataclass(frozen=True, slots=True)
class ReadChat(GameCommand):
    """Read the chat of the players, whose lines come back oldest first; also of a game that is over."""

    priority = Priority.LAST

    def request(self, client: LichessClient) -> tuple[ChatLine, ...]:
        return client.chat(self.game_id)


@dataclass(frozen=True, slots=True)
class ChallengeAnswer(Command):
    """An answer to a challenge, which expires at the monotonic second `until`; None: `request_patience` from now."""

    expires = True

    challenge_id: str
    until: float | None = field(default=None, compare=False, kw_only=True)

    def deadline(self, due_at: float, timeouts: Timeouts) -> float:
        return Command.deadline(self, due_at, timeouts) if self.until is None else self.until


@dataclass(frozen=True, slots=True)
class AcceptChallenge(ChallengeAnswer):
    priority = Priority.ACCEPT

    def request(self, client: LichessClient) -> None:
        client.accept_challenge(self.challenge_id)


@dataclass(frozen=True, slots=True)
class DeclineChallenge(ChallengeAnswer):
    priority = Priority.DECLINE
    purpose = Purpose.DECLINE

    reason: DeclineReason

    def request(self, client: LichessClient) -> None:
        client.decline_challenge(self.challenge_id, self.reason)


@dataclass(frozen=True, slots=True)
class ReadAccount(Command):
    """Read our account at startup; the daemon repeats it until it succeeds."""

    priority = Priority.READ
    purpose = Purpose.ACCOUNT
    is_repeated = False

    def request(self, client: LichessClient) -> Account:
        return client.account()


@dataclass(frozen=True, slots=True)
class ReadToken(Command):
    """Read the scopes of our token and when it expires."""

    priority = Priority.LAST
    is_repeated = False

    def request(self, client: LichessClient) -> TokenInfo | None:
        return client.token_info()


@dataclass(frozen=True, slots=True)
class ReadPlaying(Command):
    """Read the games in progress."""

    priority = Priority.READ

    def request(self, client: LichessClient) -> tuple[GameInfo, ...]:
        return client.playing()


class MatchCommand(Command):
    """A command of the matchmaker."""

    __slots__ = ()
    priority = Priority.MATCHMAKING


@dataclass(frozen=True, slots=True)
class CreateChallenge(MatchCommand):
    """Challenge `opponent`; never repeated, as two challenges could become two games."""

    purpose = Purpose.CHALLENGE
    expires = True
    is_repeated = False

    opponent: str
    terms: Terms

    def request(self, client: LichessClient) -> Challenge:
        return client.create_challenge(self.opponent, self.terms)


@dataclass(frozen=True, slots=True)
class CancelChallenge(MatchCommand):
    """Withdraw our challenge; a waiting challenger may need the slot."""

    priority = Priority.ACCEPT

    challenge_id: str

    def request(self, client: LichessClient) -> None:
        client.cancel_challenge(self.challenge_id)


@dataclass(frozen=True, slots=True)
class ReadChallenge(MatchCommand):
    """Read the current state of a challenge."""

    priority = Priority.READ

    challenge_id: str

    def request(self, client: LichessClient) -> Challenge:
        return client.challenge(self.challenge_id)


@dataclass(frozen=True, slots=True)
class ReadOutgoing(MatchCommand):
    """Read our own open challenges."""

    priority = Priority.READ

    def request(self, client: LichessClient) -> tuple[Challenge, ...]:
        return client.outgoing_challenges()


@dataclass(frozen=True, slots=True)
class ReadBots(MatchCommand):
    """Read which bots are online."""

    def request(self, client: LichessClient) -> tuple[BotUser, ...]:
        return client.online_bots()


@dataclass(frozen=True, slots=True)
class ReadRatings(MatchCommand):
    """Read our account again, for its current ratings."""

    purpose = Purpose.ACCOUNT

    def request(self, client: LichessClient) -> Account:
        return client.account()


@dataclass(frozen=True, slots=True)
class ReadStatuses(MatchCommand):
    """Read the statuses of these users."""

    ids: tuple[str, ...]

    def request(self, client: LichessClient) -> tuple[UserStatus, ...]:
        return client.user_statuses(self.ids)


@dataclass(frozen=True, slots=True)
class TournamentCommand(Command):
    """A command about an arena tournament."""

    priority = Priority.MATCHMAKING

    tournament_id: str


def pause_before_joining(error: Exception) -> timedelta | None:
    """Return the pause after a limit on joining arenas or a ban from playing; None if the error is neither."""
    if isinstance(error, RateLimited):
        return error.pause
    if ban := _BAN.search(str(error)):
        return timedelta(minutes=max(1, int(ban[1])))
    return _ARENAS_PAUSE if _TOO_MANY_ARENAS in str(error) else None


@dataclass(frozen=True, slots=True)
class JoinTournament(TournamentCommand):
    """Join a tournament and ask for the next game."""

    purpose = Purpose.TOURNAMENT

    team: str | None
    password: str | None = field(repr=False)

    def request(self, client: LichessClient) -> None:
        client.join_tournament(self.tournament_id, self.team, self.password, pair=True)


@dataclass(frozen=True, slots=True)
class LeaveTournament(TournamentCommand):
    priority = Priority.DECLINE

    def request(self, client: LichessClient) -> None:
        client.leave_tournament(self.tournament_id)


@dataclass(frozen=True, slots=True)
class ReadTournament(TournamentCommand):
    def request(self, client: LichessClient) -> ArenaInfo:
        return client.tournament(self.tournament_id)


_Listed = GameInfo | ChatLine | Challenge | BotUser | UserStatus
CommandResult = Account | Challenge | ArenaInfo | TokenInfo | tuple[_Listed, ...] | None


@dataclass(frozen=True, slots=True)
class CommandDone:
    """Lichess carried out the command; `answer` holds what a read returned. Times are monotonic seconds."""

    command: Command
    answer: CommandResult = None
    sent_at: float = field(default=0.0, compare=False)
    answered_at: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class CommandFailed:
    """The command failed: refused, rate limited, or without an answer; `error` says which."""

    command: Command
    error: ApiError
    perhaps_done: bool = False
    """Whether an attempt had no answer, so that it may have taken effect whatever `error` says; not set for moves."""
