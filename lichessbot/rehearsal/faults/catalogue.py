"""The catalogue of faults: what can go wrong between a bot and Lichess.

Each fault says where it strikes, how long it lasts, how a client can notice it, and what shows that the client has
recovered. Must not know: when a fault strikes, and how it is carried out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from lichessbot.rehearsal.faults.traffic import COMMANDS, LINES, REQUESTS, STREAMS, Place
from lichessbot.rehearsal.rules.timing import Timing


class Layer(Enum):
    """Where a fault is carried out."""

    LINES = auto()              # in the lines of streams
    REQUESTS = auto()           # in the answers of the server
    EVENTS = auto()             # by other players and clients
    CONNECTIONS = auto()


class Notice(Enum):
    """How a client learns of a fault."""

    AT_ONCE = auto()
    BY_SILENCE = auto()         # not even empty lines come
    BY_ASKING = auto()          # the stream looks alive: only `/api/account/playing` shows it


class Remedy(Enum):
    """What shows that the client has recovered from a fault."""

    NOTHING = auto()            # nothing to recover from
    REPEATED = auto()           # a request of the same kind, for the same game, was carried out
    REOPENED = auto()           # the stream of every game concerned was opened again
    LISTENING = auto()          # the event stream was opened again
    MOVED = auto()              # the next move of the bot arrived


def _a_moment(_timing: Timing) -> float:
    return 0.0


@dataclass(frozen=True)
class FaultSpec:
    """The properties of a fault."""

    name: str
    description: str
    layer: Layer
    places: tuple[Place, ...]
    remedy: Remedy = Remedy.NOTHING
    notice: Notice = Notice.AT_ONCE
    lasts_s: Callable[[Timing], float] = _a_moment
    is_general: bool = False    # it touches every game
    is_a_limit: bool = False    # the client has to wait, but not to the end if a clock runs

    @property
    def stops_all(self) -> bool:
        """Whether all games wait, at least with requests that are not moves."""
        return self.is_general or self.is_a_limit


def _error(
    name: str, description: str, lasts_s: Callable[[Timing], float] = _a_moment, *, is_a_limit: bool = False
) -> FaultSpec:
    """Return an error that answers any request; nothing was done."""
    return FaultSpec(
        name, description, Layer.REQUESTS, REQUESTS, Remedy.REPEATED, lasts_s=lasts_s, is_a_limit=is_a_limit
    )


def _limit(name: str, description: str) -> FaultSpec:
    """Return a 429 that means a minute."""
    return _error(name, description, lambda timing: timing.rate_limit_s, is_a_limit=True)


def _named_limit(name: str, description: str) -> FaultSpec:
    """Return a 429 that names its pause."""
    return _error(name, description, lambda timing: float(timing.named_pause_seconds), is_a_limit=True)


class Fault(Enum):
    """Every fault."""

    LINE_DOUBLED = FaultSpec("line-doubled", "a line comes twice", Layer.LINES, LINES)
    LINE_UNKNOWN = FaultSpec("line-unknown", "a line of an unknown type comes first", Layer.LINES, LINES)
    LINE_NOT_JSON = FaultSpec("line-not-json", "a line that is not JSON comes first", Layer.LINES, LINES)
    LINE_NULLS = FaultSpec(
        "line-nulls", "a line of nulls comes first; the true line has null for each missing key", Layer.LINES, LINES
    )
    CLOCKS_ZERO = FaultSpec(
        "clocks-zero", "the first line of a game's stream shows zero on both clocks", Layer.LINES, (Place.FULL_LINE,)
    )
    CHALLENGE_LOST = FaultSpec(
        "challenge-lost", "the line of a challenge is lost", Layer.LINES, (Place.CHALLENGE_LINE,)
    )
    START_LOST = FaultSpec(
        "start-lost", "the line gameStart is lost", Layer.LINES, (Place.START_LINE,), Remedy.REOPENED, Notice.BY_ASKING
    )
    FINISH_LOST = FaultSpec("finish-lost", "the line gameFinish is lost", Layer.LINES, (Place.FINISH_LINE,))
    STATE_LOST = FaultSpec(
        "state-lost", "a line with a move is lost", Layer.LINES, (Place.STATE_LINE,), Remedy.MOVED,
        Notice.BY_ASKING,
    )
    FINAL_LOST = FaultSpec(
        "final-lost", "the last state of a game is lost, its stream just ends", Layer.LINES, (Place.FINAL_LINE,)
    )

    LIMIT_JSON = _limit("429-json", "429 with a plain JSON error")
    LIMIT_RATELIMIT = _named_limit("429-ratelimit", "429 with a JSON body that names the seconds")
    LIMIT_RETRY_AFTER = _named_limit("429-retry-after", "429 with a Retry-After header")
    LIMIT_HTML = _limit("429-html", "429 with an HTML page")
    LIMIT_TEXT = _limit("429-text", "429 with plain text")
    LIMIT_BARE = _limit("429-bare", "429 without any body")
    REFUSED_JSON = _error("400-json", "400 with a JSON error; nothing was done")
    REFUSED_FORM = _error("400-form", "400 with a JSON object as its error; nothing was done")
    REFUSED_RATELIMIT = _error("400-ratelimit", "400 with seconds to wait, the opponent's quota; nothing was done")
    REFUSED_TEXT = _error("400-text", "400 with plain text; nothing was done")
    REFUSED_BARE = _error("400-bare", "400 without any body; nothing was done")
    SCOPE_MISSING = FaultSpec(
        "403-scope", "403 for a missing scope that was not needed before; nothing was done", Layer.REQUESTS,
        (Place.PLAYING,),
    )
    BROKEN_JSON = _error("500-json", "500 with a JSON error; nothing was done")
    GATEWAY_HTML = _error("502-html", "502 with a page; nothing was done")
    UNAVAILABLE_TEXT = _error("503-text", "503 with plain text; nothing was done")
    GATEWAY_BARE = _error("504-bare", "504 without any body; nothing was done")
    DONE_BUT_502 = FaultSpec(
        "done-but-502", "a command is carried out, but answered with 502", Layer.REQUESTS, COMMANDS
    )
    ANSWER_SLOW = FaultSpec(
        "answer-slow", "a request is carried out and answered late", Layer.REQUESTS, REQUESTS,
        Remedy.REPEATED, lasts_s=lambda timing: timing.slow_answer_s,
    )
    MAINTENANCE = FaultSpec(
        "maintenance", "all streams end, and for a while every request is answered with 502", Layer.REQUESTS,
        (Place.MOVE,), Remedy.REOPENED, lasts_s=lambda timing: timing.restart_s, is_general=True,
    )
    TAKEBACK = FaultSpec(
        "takeback", "a takeback crosses the bot's move: the game is a ply shorter, the move is refused",
        Layer.EVENTS, (Place.MOVE,), Remedy.MOVED,
    )

    CHALLENGE_CANCELED = FaultSpec(
        "challenge-canceled", "a challenge is withdrawn at once", Layer.EVENTS, (Place.CHALLENGE,)
    )
    CHALLENGE_REPLACED = FaultSpec(
        "challenge-replaced", "a challenge is replaced by another one without an event", Layer.EVENTS,
        (Place.CHALLENGE,),
    )
    CHALLENGE_EXPIRED = FaultSpec(
        "challenge-expired", "a challenge goes offline at once, and can still be accepted", Layer.EVENTS,
        (Place.CHALLENGE,),
    )
    FLOOD = FaultSpec("flood", "a hundred strangers challenge at once", Layer.EVENTS, (Place.GAME_START,))
    EVICTION = FaultSpec(
        "eviction", "another client with the same token opens the event stream and leaves again", Layer.EVENTS,
        (Place.GAME_START,), Remedy.LISTENING,
    )
    EVENTS_ENDED = FaultSpec(
        "events-ended", "the event stream ends cleanly", Layer.EVENTS, (Place.GAME_START,), Remedy.LISTENING
    )
    CASTLING = FaultSpec(
        "castling", "the stream of a game writes castling as king takes rook (e1h1) in every variant", Layer.EVENTS,
        (Place.GAME_START,),
    )
    GAME_STREAM_ENDED = FaultSpec(
        "game-stream-ended", "the stream of a running game ends cleanly", Layer.EVENTS, (Place.TURN,), Remedy.REOPENED
    )
    THREEFOLD = FaultSpec(
        "threefold", "a position repeats a third time, and the draw is shown late", Layer.EVENTS,
        (Place.THREEFOLD,),
    )

    RESET = FaultSpec(
        "reset", "a connection is reset", Layer.CONNECTIONS, (*STREAMS, *COMMANDS, Place.ACCOUNT, Place.PLAYING),
        Remedy.REPEATED,
    )
    CLOSED = FaultSpec(
        "closed", "a connection is closed too early", Layer.CONNECTIONS,
        (*STREAMS, *COMMANDS, Place.ACCOUNT, Place.PLAYING), Remedy.REPEATED,
    )
    STALL = FaultSpec(
        "stall", "a stream falls silent, its connection stays open", Layer.CONNECTIONS, STREAMS, Remedy.REPEATED,
        Notice.BY_SILENCE,
    )
    NETWORK_CHANGED = FaultSpec(
        "network-changed", "all connections fall silent and stay open, new ones work", Layer.CONNECTIONS, (Place.MOVE,),
        Remedy.REOPENED, Notice.BY_SILENCE, is_general=True,
    )
    CUT = FaultSpec("cut", "a stream breaks off in the middle of a line", Layer.CONNECTIONS, STREAMS, Remedy.REPEATED)
    TRICKLE = FaultSpec(
        "trickle", "an answer, its head first, or a line of a stream trickles in byte by byte", Layer.CONNECTIONS,
        REQUESTS, lasts_s=lambda timing: timing.slow_headers_s,
    )
    ANSWER_LOST = FaultSpec(
        "answer-lost", "a command is carried out, and the connection closes before the answer", Layer.CONNECTIONS,
        COMMANDS,
    )
    REFUSED = FaultSpec(
        "refused", "for a while no new connection is accepted; open ones stay", Layer.CONNECTIONS, (Place.MOVE,),
        Remedy.MOVED, lasts_s=lambda timing: timing.outage_s, is_general=True,
    )
    RESTART = FaultSpec(
        "restart", "all connections end, and for a while no new one is accepted", Layer.CONNECTIONS,
        (Place.MOVE,), Remedy.REOPENED, lasts_s=lambda timing: timing.restart_s, is_general=True,
    )

    @property
    def spec(self) -> FaultSpec:
        return self.value

    @property
    def label(self) -> str:
        return self.value.name

    @classmethod
    def of_label(cls, label: str) -> "Fault | None":
        return next((fault for fault in cls if fault.label == label), None)

    def holds_up_s(self, timing: Timing, clock_left_s: float) -> float:
        """Return for how long a correct client with that much time left cannot move."""
        lasts_s = self.spec.lasts_s(timing)
        if self.spec.is_a_limit:
            lasts_s = min(lasts_s, clock_left_s / 2)
        match self.spec.notice:
            case Notice.AT_ONCE:
                return lasts_s
            case Notice.BY_SILENCE:
                return lasts_s + timing.notice_silence_s
            case Notice.BY_ASKING:
                return lasts_s + timing.notice_asking_s


@dataclass(frozen=True)
class PlacedFault:
    """A fault at one of its places."""

    fault: Fault
    place: Place

    def __str__(self) -> str:
        return f"{self.fault.label}@{self.place.value}"


LATE_THREEFOLD = PlacedFault(Fault.THREEFOLD, Place.THREEFOLD)


def placed_faults(fault: Fault) -> tuple[PlacedFault, ...]:
    return tuple(PlacedFault(fault, place) for place in fault.spec.places)
