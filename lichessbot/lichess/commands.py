"""What the rooms tell each other: commands down to the gate, reports up to the supervisor's queue.

Plain values without behaviour. `game_id` is None where the event stream or the account is meant.
"""

from dataclasses import dataclass, field

from lichessbot.errors import ApiError
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.enums import ChatRoom, DeclineReason
from lichessbot.lichess.models import Account, Challenge, GameInfo
from lichessbot.lichess.replies import ArenaInfo, BotUser, UserStatus


@dataclass(frozen=True, slots=True)
class SendMove:
    """Play `move`, UCI text as Lichess wants it for the game's variant, as the move number `ply`.

    `offering_draw` offers a draw with it, or accepts the one that the opponent offers.
    """

    game_id: str
    ply: int
    move: str
    offering_draw: bool = False


@dataclass(frozen=True, slots=True)
class Abort:
    game_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Resign:
    game_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerTakeback:
    """Grant or deny the opponent's request to take a move back; denying also withdraws one of our own."""

    game_id: str
    granted: bool


@dataclass(frozen=True, slots=True)
class ClaimVictory:
    """The opponent left, and may lose by it."""

    game_id: str


@dataclass(frozen=True, slots=True)
class ClaimDraw:
    """The opponent left, and nothing we have could give mate."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Say:
    """A line for one of the chat rooms of a game, which may have ended. Nothing depends on it."""

    game_id: str
    room: ChatRoom
    text: str


@dataclass(frozen=True, slots=True)
class AcceptChallenge:
    """Not to be sent after the monotonic second `until`: the challenger has given up by then. None: soon."""

    challenge_id: str
    until: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class DeclineChallenge:
    """`until` as for an acceptance."""

    challenge_id: str
    reason: DeclineReason
    until: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ReadAccount:
    """Answered with an Account."""


@dataclass(frozen=True, slots=True)
class ReadPlaying:
    """Answered with the games in progress."""


@dataclass(frozen=True, slots=True)
class CreateChallenge:
    """Answered with the Challenge."""

    opponent: str
    terms: Terms


@dataclass(frozen=True, slots=True)
class CancelChallenge:
    challenge_id: str


@dataclass(frozen=True, slots=True)
class ReadChallenge:
    """Answered with the Challenge as it stands by now."""

    challenge_id: str


@dataclass(frozen=True, slots=True)
class ReadOutgoing:
    """Answered with the Outgoing challenges."""


@dataclass(frozen=True, slots=True)
class ReadBots:
    """Answered with the Bots that are online."""


@dataclass(frozen=True, slots=True)
class ReadRatings:
    """Answered with our Account as it stands by now."""


@dataclass(frozen=True, slots=True)
class ReadStatuses:
    """Answered with the Statuses of these users."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outgoing:
    challenges: tuple[Challenge, ...]


@dataclass(frozen=True, slots=True)
class Bots:
    users: tuple[BotUser, ...]


@dataclass(frozen=True, slots=True)
class Statuses:
    users: tuple[UserStatus, ...]


@dataclass(frozen=True, slots=True)
class JoinTournament:
    """Also asks for the next game, with `pair`."""

    tournament_id: str
    team: str | None
    password: str | None = field(repr=False)
    pair: bool


@dataclass(frozen=True, slots=True)
class LeaveTournament:
    tournament_id: str


@dataclass(frozen=True, slots=True)
class ReadTournament:
    """Answered with the ArenaInfo."""

    tournament_id: str


GameCommand = SendMove | Abort | Resign | AnswerTakeback | ClaimVictory | ClaimDraw
MatchCommand = (
    CreateChallenge | CancelChallenge | ReadChallenge | ReadOutgoing | ReadRatings | ReadBots | ReadStatuses
)
TournamentCommand = JoinTournament | LeaveTournament | ReadTournament
OutgoingCommand = MatchCommand | TournamentCommand
AccountCommand = AcceptChallenge | DeclineChallenge | ReadAccount | ReadPlaying | Say | OutgoingCommand
Command = GameCommand | AccountCommand
Answer = Account | tuple[GameInfo, ...] | Challenge | Outgoing | Bots | Statuses | ArenaInfo | None




@dataclass(frozen=True, slots=True)
class CommandDone:
    """Lichess carried out the command; `answer` holds what was asked for. Times are monotonic seconds."""

    command: Command
    answer: Answer = None
    sent_at: float = field(default=0.0, compare=False)
    answered_at: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class CommandFailed:
    """The command was refused, put off, or nobody knows: `error` says which."""

    command: Command
    error: ApiError
    perhaps_done: bool = False
    """From the house lane: some attempt had no answer, so it may have taken effect whatever `error` says."""




































