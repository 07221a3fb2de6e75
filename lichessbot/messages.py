"""What the rooms tell each other: commands down to the gate, reports up to the supervisor's queue.

Plain values without behaviour. `game_id` is None where the event stream or the account is meant.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from queue import SimpleQueue

from engine.facade import Board, Limits
from lichessbot.errors import ApiError
from lichessbot.events import Account, Challenge, GameInfo, StreamLine
from lichessbot.replies import ArenaInfo, BotUser, UserStatus
from lichessbot.terms import Terms
from lichessbot.vocabulary import ChatRoom, DeclineReason


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
Venture = MatchCommand | TournamentCommand
HouseCommand = AcceptChallenge | DeclineChallenge | ReadAccount | ReadPlaying | Say | Venture
Command = GameCommand | HouseCommand
Answer = Account | tuple[GameInfo, ...] | Challenge | Outgoing | Bots | Statuses | ArenaInfo | None


class Deed(StrEnum):
    """What is done a limited number of times in a game, restarts or not."""

    GREETING = "greeting"
    GOODBYE = "goodbye"
    DRAW_OFFER = "draw offer"
    TAKEBACK = "takeback"


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


@dataclass(frozen=True, slots=True)
class StreamOpened:
    """A connection of the stream stands; its first line follows."""

    game_id: str | None


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One readable line of the stream, received at the monotonic second `received_at`."""

    game_id: str | None
    event: StreamLine
    received_at: float = field(compare=False)


@dataclass(frozen=True, slots=True)
class StreamLost:
    """The stream ended or could not be opened; its reader tries again after `retry_in`."""

    game_id: str | None
    reason: str
    retry_in: timedelta
    as_asked: bool = False
    """Whether the pause is for Lichess's sake, or another client's; otherwise it is the reader's own patience."""


@dataclass(frozen=True, slots=True)
class StreamRefused:
    """Lichess denies the stream: its reader waits until it is asked to open it again, or stopped."""

    game_id: str | None
    status: int
    text: str
    certain: bool = True
    """Whether it was Lichess who said so, and not perhaps something on the way to it."""


@dataclass(frozen=True, slots=True)
class PlayingWanted:
    """Somebody doubts that the streams told everything: the games in progress should be looked at."""

    reason: str


@dataclass(frozen=True, slots=True)
class ListFetched:
    """A new version of a list of players; `etag` is the server's name for it, empty if it has none."""

    address: str
    names: frozenset[str]
    etag: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a look at the games in progress, begun at `asked_at`, says of one: None if it is not among them."""

    game_id: str
    info: GameInfo | None
    asked_at: float


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the move sources; `search_id` comes back with their answer.

    What is on our clock counts, and what was at the start; None: the game has no clock. After `patience_s` nobody
    waits for the answer any more.
    """

    search_id: int
    variant: str
    board: Board
    remaining_s: float | None
    initial_s: float | None
    patience_s: float

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves that led to the position asked about."""
        return tuple(self.board.moves)


@dataclass(frozen=True, slots=True)
class Search:
    """One question to the engine; `search_id` comes back with its answer.

    `only`: the moves to choose from, all if there are none. `lines`: of how many of the best moves the score is wanted.
    """

    search_id: int
    initial_fen: str
    chess960: bool
    moves: tuple[str, ...]
    limits: Limits
    only: tuple[str, ...] = ()
    lines: int = 1

    @property
    def white_to_move(self) -> bool:
        begins = self.initial_fen.split()[1] == "w"
        return begins is (len(self.moves) % 2 == 0)


@dataclass(frozen=True, slots=True)
class SearchSummary:
    """What the engine said last about a search."""

    depth: int = 0
    nodes: int = 0
    score: str = ""
    pv: str = ""

    @property
    def move(self) -> str:
        """The first of the variation; nothing if there is none."""
        return self.pv.partition(" ")[0]

    @property
    def reply(self) -> str | None:
        """What the variation expects the opponent to answer."""
        return next(iter(self.pv.split()[1:2]), None)

    @property
    def centipawns(self) -> int | None:
        """The score for the side to move, if it is told so; None for a mate and for no score."""
        kind, _, number = self.score.partition(" ")
        return int(number) if kind == "cp" and number.removeprefix("-").isdecimal() else None


@dataclass(frozen=True, slots=True)
class BestMove:
    """The answer to search `search_id`; `move` is None if the engine saw no legal one.

    `took_s` is what the engine used, from its `go` or `ponderhit` written to its `bestmove` read. `lines`: the best
    moves, best first, if more than one was wanted. `reply`: what it expects the opponent to answer.
    """

    game_id: str
    search_id: int
    move: str | None
    summary: SearchSummary = SearchSummary()
    lines: tuple[SearchSummary, ...] = ()
    took_s: float = field(default=0.0, compare=False)
    reply: str | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """What the move sources answer to question `search_id`: one move to be played, several for the engine to choose
    from, or none.

    `wdl`, from a tablebase only: what the position is worth to us, 2 for a win to -2 for a loss; 1 and -1 are saved
    by the fifty-move rule. `took_s` is from the question to the answer.
    """

    game_id: str
    search_id: int
    moves: tuple[str, ...] = ()
    source: str = ""
    summary: SearchSummary = SearchSummary()
    wdl: int | None = None
    took_s: float = field(default=0.0, compare=False)
    reply: str | None = None


@dataclass(frozen=True, slots=True)
class EngineReady:
    """A new engine has answered `uci` and `isready`, and begins with what it was asked meanwhile."""

    game_id: str


@dataclass(frozen=True, slots=True)
class EngineDied:
    """The engine that ran search `search_id` (None: it was idle) is gone, on its own or killed."""

    game_id: str
    search_id: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class StopRequested:
    """SIGINT or SIGTERM arrived."""

    signal_name: str


@dataclass(frozen=True, slots=True)
class ReloadRequested:
    """SIGHUP arrived: the configuration is to be read again."""


@dataclass(frozen=True, slots=True)
class ThreadDied:
    """A thread of ours ended with an exception that nobody expected: a bug."""

    thread_name: str
    error: BaseException


Report = (
    CommandDone
    | CommandFailed
    | StreamOpened
    | StreamEvent
    | StreamLost
    | StreamRefused
    | PlayingWanted
    | ListFetched
    | Standing
    | BestMove
    | Advice
    | EngineReady
    | EngineDied
    | StopRequested
    | ReloadRequested
    | ThreadDied
)
# A SimpleQueue, because its `put` may be called from a signal handler.
Inbox = SimpleQueue[Report]
