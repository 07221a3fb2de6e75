"""What a running daemon says of itself: one tree of values, which `lichessbot status --json` prints as it is.

Everything is as of `Status.at_epoch_s`. Durations end with `_s`; moments end with `_epoch_s`, in seconds since 1970.
Evaluations are centipawns or moves to mate, from White's view. Names, moves and variants are spelled as Lichess does.
Text from Lichess is to be shown inert. Fields are only ever added.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self


def clock_time(moment_epoch_s: float, now_epoch_s: float) -> str:
    """Return a moment as hours and minutes in local time, with the date if it is not today."""
    local = time.localtime(moment_epoch_s)
    is_today = local[:3] == time.localtime(now_epoch_s)[:3]
    return time.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M", local)


class Activity(StrEnum):
    """What the daemon does about new games."""

    STARTING = "starting"
    """The account is not known yet, or the engines are being checked."""
    PLAYING = "playing"
    PAUSED = "paused"
    """No new games, by `lichessbot pause`."""
    WITHOUT_ENGINE = "without engine"
    """No new games until the engines work again."""
    FINISHING = "finishing"
    """No new games; the daemon ends after the running ones."""


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """A stream of Lichess. An open one carries a line every 7 s even if nothing happens."""

    is_open: bool
    open_for_s: float | None
    """None while it is not open."""
    silent_for_s: float | None
    """Since the last line, keep-alive lines included; None before the first one."""

    @classmethod
    def of(cls, opened_at: float | None, heard_at: float | None, now: float) -> Self:
        """Return the status of a stream from monotonic seconds; `opened_at` is None while it is not open."""
        open_for_s = None if opened_at is None else now - opened_at
        return cls(opened_at is not None, open_for_s, None if heard_at is None else now - heard_at)


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A kind of request that waits, because Lichess asked for a pause or a limit of requests in a time is reached."""

    what: str
    until_epoch_s: float


@dataclass(frozen=True, slots=True)
class RequestQueue:
    """The requests to Lichess that have no answer yet; streams and what is to be asked later are not counted."""

    waiting: Mapping[str, int] = field(default_factory=dict)
    """How many of each kind, such as `send move` or `accept challenge`."""
    held_back: tuple[HeldBack, ...] = ()


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    server_url: str
    account: str | None
    """None until Lichess has told who we are."""
    summary: str
    """In words: `connecting`, `listening` and so on."""
    events: StreamStatus | None
    """The event stream; None before its first opening."""
    held_back_s: float
    """For this long only moves are sent, because Lichess answered 429."""
    requests: RequestQueue = RequestQueue()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What our last move was chosen by. `score_cp` and `mate_in` are None if its source has no evaluation."""

    move: str
    source: str
    """`engine`, `fallback`, or the name of the book, tablebase or server."""
    score_cp: int | None
    mate_in: int | None
    depth: int
    nodes: int
    nodes_per_s: int
    """As the engine reports; 0 if it does not."""
    line: tuple[str, ...]
    """The principal variation in UCI text."""
    line_san: tuple[str, ...] = ()
    """The same in SAN, as far as its moves are legal."""


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """A move of the game; ply 1 is the first. What is not known is None: the opponent's moves have no evaluation."""

    ply: int
    san: str
    clock_s: float | None = None
    """The mover's clock after it."""
    source: str | None = None
    """Of our moves: `engine`, `fallback`, `only move`, or the name of the book, tablebase or server."""
    score_cp: int | None = None
    mate_in: int | None = None
    depth: int | None = None
    search_s: float | None = None


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A line of the game's chat; `room` is `player` or `spectator`. Lichess itself writes as `lichess`."""

    author: str
    text: str
    room: str


@dataclass(frozen=True, slots=True)
class PlayerStatus:
    name: str
    title: str = ""
    rating: int | None = None
    clock_s: float | None = None
    """The clock now, which runs for the side to move; None without a clock."""
    holds: str = ""
    """What the player has beside the board: `QNPP` in the pocket of crazyhouse, or `+2` checks given in three-check."""


@dataclass(frozen=True, slots=True)
class RunningGame:
    """A game that is being played. Before its first state `fen` is empty and the players are as announced."""

    game_id: str
    url: str
    white: PlayerStatus
    black: PlayerStatus
    our_colour: str | None
    variant: str
    speed: str
    time_control: str
    """`3+2`, `2 days per move` or `without a clock`; empty before the first state."""
    rated: bool
    tournament_id: str | None
    fen: str
    initial_fen: str
    is_chess960: bool
    moves: tuple[str, ...]
    """UCI text, from `initial_fen`."""
    to_move: str | None
    clock_runs: bool
    """Whether the clock of the side to move runs."""
    evaluation: Evaluation | None
    stream: StreamStatus | None
    joined_for_s: float
    played: tuple[PlayedMove, ...] = ()
    """The same moves as `moves`, or one fewer for a moment, with what is known of each."""
    chat: tuple[ChatLine, ...] = ()
    """The latest lines, oldest first."""
    round_trip_s: float | None = None
    """Of our latest move, measured; None before the first."""
    level: int | None = None
    """The rating at which our engine plays; None at full strength."""


@dataclass(frozen=True, slots=True)
class WaitingChallenge:
    """A challenge that waits for a slot, the next one first."""

    challenge_id: str
    challenger: str
    title: str
    rating: int | None
    time_control: str
    variant: str
    rated: bool
    waits_for_s: float
    expires_in_s: float
    """After that it is declined."""


@dataclass(frozen=True, slots=True)
class ChallengeDecision:
    """A challenge to us and what became of it."""

    at_epoch_s: float
    challenger: str
    title: str
    """`BOT`, or empty: other titles are not recorded."""
    rating: int | None
    terms: str
    decision: str
    """`accepted`, `declined`, `waiting`, `canceled`, `missed`, `replaced` or `no game`."""
    rule: str
    """The key of the configuration that decided, with its value."""
    reason: str
    """What Lichess was told, if it was declined."""
    because: str = ""
    """The decision in words."""


@dataclass(frozen=True, slots=True)
class OpenChallengeStatus:
    """Our challenge that has no answer yet. `challenge_id` is None until Lichess has told it."""

    challenge_id: str | None
    opponent: str
    terms: str


@dataclass(frozen=True, slots=True)
class MatchmakingStatus:
    is_on: bool
    is_on_in_config: bool
    """They differ after `lichessbot matchmaking on` or `off`."""
    next_attempt_epoch_s: float | None
    """None if something else must happen first, such as the end of a game."""
    open_challenge: OpenChallengeStatus | None
    last_opponent: str | None
    """Whom `lichessbot rechallenge` challenges."""
    next_step: str = ""
    """What it does next, or what it waits for, in words; `next_attempt_epoch_s` says when."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of Lichess or of the configuration on what may happen in 24 hours."""

    name: str
    used: int
    most: int
    resumes_epoch_s: float | None = None
    """When the next one is allowed; None if it is now, or if `is_used_up` for good."""
    is_used_up: bool = False

    def in_words(self, now_epoch_s: float) -> str:
        """Return for example `37 of 100 bot games, resumes 14:20`."""
        text = f"{self.used} of {self.most} {self.name}"
        if self.resumes_epoch_s is not None:
            return f"{text}, resumes {clock_time(self.resumes_epoch_s, now_epoch_s)}"
        return text


@dataclass(frozen=True, slots=True)
class LobbyStatus:
    """How games come about."""

    is_paused: bool
    slots: int
    """How many games with a clock may run at a time."""
    starting: int
    """Games that are about to start."""
    queue: tuple[WaitingChallenge, ...]
    matchmaking: MatchmakingStatus
    limits: tuple[Limit, ...]
    blocked: tuple[str, ...]
    """Players blocked by `lichessbot block`."""
    tournaments: tuple[str, ...]
    """The ids of arenas that we take part in."""
    last_challenges: tuple[ChallengeDecision, ...] = ()
    """The newest last."""


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """The speed of the latest searches, all games together; 0 before the first."""

    name: str
    nodes_per_s: int
    searches: int
    """How many searches the figure is from."""
    processes: int = 0
    """How many engines run."""
    memory_bytes: int = 0
    """Resident memory of the daemon and its engines; what they share counts for each. 0 if it cannot be read."""
    failure: str = ""
    """Why no new games are taken; empty while the engines work."""


@dataclass(slots=True)
class Faults:
    """What went wrong since the start of the process and was survived."""

    event_streams_lost: int = 0
    game_streams_lost: int = 0
    """Those of games in progress; neither these nor the event streams count if the daemon itself reopened them."""
    requests_failed: int = 0
    """Without a usable answer, or answered with 429; each attempt that was given up counts."""
    engines_died: int = 0
    engines_replaced: int = 0
    """Hung, or answered with an illegal move."""
    moves_without_engine: int = 0
    """Found by the daemon's own search, because no engine answered in time."""
    games_without_pgn: int = 0
    """Not written to `pgn_directory`, mostly because of the disk."""
    internal_errors: int = 0
    """Bugs; each is in the log with its traceback."""


@dataclass(frozen=True, slots=True)
class RecordsStatus:
    """Whether the records of games and moves are written."""

    unwritten_for_s: float | None = None
    """For how long nothing could be written; None while the disk works."""
    error: str = ""
    """Why."""


@dataclass(frozen=True, slots=True)
class Status:
    version: str
    process_id: int
    at_epoch_s: float
    up_for_s: float
    activity: Activity
    ends_in_s: float | None
    """When the daemon leaves the games that still run (`stop_grace`); None unless it is finishing."""
    connection: ConnectionStatus
    games: tuple[RunningGame, ...]
    correspondence_games: int
    """All correspondence games in progress; of those, `games` has only the ones in which we are moving."""
    lobby: LobbyStatus
    engine: EngineStatus
    faults: Faults
    began_epoch_s: float = 0.0
    """When the daemon started, by its clock at that moment; 0 from a daemon of an older version."""
    records: RecordsStatus = RecordsStatus()
