"""Typed models of what Lichess sends in streams, one per shape; `parsing` reads them, and `answers` has the others.

As in the documentation of the API (lichess.org/api), but lenient: unknown fields are ignored, null counts as absent,
unknown events become `UnknownEvent`, only indispensable fields are required, and numbers are limited to a sensible
range. The same thing has different shapes in different streams (status, clock, players); the docstrings say which one a
model is.
"""

import math
from typing import Annotated, Any, Final

from pydantic import AfterValidator, AliasChoices, AliasPath, BaseModel, ConfigDict, Field, model_validator
from pydantic.functional_validators import BeforeValidator

from lichessbot.lichess.enums import ChatRoom, Colour, ExactClock, GameStatus, Speed, Variant
from lichessbot.log import counted, inert

BOT_TITLE: Final = "BOT"
SYSTEM_NAME: Final = "lichess"  # of the chat lines that Lichess writes itself
STANDARD_START: Final = "startpos"

# Times end with the year 9999, as in Python.
LATEST_MS: Final = 253_402_300_799_000
_LONGEST_S: Final = 10**9

# Lichess sends this for "no limit"; only times are larger.
_LARGEST: Final = 2**31 - 1

_ROUNDED: Final = BeforeValidator(lambda it: round(it) if isinstance(it, float) and math.isfinite(it) else it)
WholeNumber = Annotated[int, _ROUNDED]
Number = Annotated[WholeNumber, AfterValidator(lambda number: max(-_LARGEST, min(_LARGEST, number)))]

# Ids become parts of addresses, so nothing else may pass as one.
Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]

# Exported games name their arena in another way since June 2026, and streams may follow.
_ARENA: Final = AliasChoices("tournamentId", AliasPath("arenaTour", "id"))

# The event stream has `{id, name}`, the game stream the bare name; each is read in both.
_STATUS: Final = AliasChoices(AliasPath("status", "name"), "status")

# What people typed may be shown on terminals and in files.
_LONGEST_TEXT: Final = 300
Shown = Annotated[str, AfterValidator(lambda text: inert(text[:_LONGEST_TEXT]))]

# Ids of users are lowercase at Lichess; other servers may not be as strict, and ids are compared.
UserId = Annotated[Shown, AfterValidator(str.lower)]


class Payload(BaseModel):
    """Base of every model."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        """Drop nulls, which mean absent everywhere in the API."""
        if isinstance(data, dict):
            return {key: value for key, value in data.items() if value is not None}
        return data


class User(Payload):
    """A user in a challenge. Compare ids, never names: a name may carry the title."""

    id: UserId
    name: Shown = ""
    title: Shown = ""
    rating: Number | None = None

    @property
    def is_bot(self) -> bool:
        return self.title == BOT_TITLE

    @property
    def has_players_title(self) -> bool:
        """Whether the user has a title of a human player."""
        return bool(self.title) and not self.is_bot

    def __str__(self) -> str:
        return self.name or self.id or "anonymous"


ANONYMOUS: Final = User(id="")
"""The user in place of a null."""


class VariantRef(Payload):
    """The variant of a challenge or a game: `{key, name, ...}`; exports have a bare key instead."""

    key: Shown


_STANDARD: Final = VariantRef(key=Variant.STANDARD)
"""For a game whose variant cannot be read: it would be lost if it were not played at all."""


class TimeControl(Payload):
    """Clock in seconds; correspondence games have days instead, unlimited ones nothing."""

    type: Shown
    limit: Number | None = None
    increment: Number | None = None
    days_per_turn: Number | None = Field(default=None, alias="daysPerTurn")

    @property
    def clock(self) -> ExactClock | None:
        """The clock; None in correspondence and unlimited games."""
        if self.limit is None or self.increment is None:
            return None
        return ExactClock(self.limit, self.increment)

    def __str__(self) -> str:
        if self.days_per_turn is not None:
            return counted(self.days_per_turn, "day")
        return str(self.clock or self.type)


class Challenge(Payload):
    """A challenge, in the stream and as a reply. `challenger` is null if anonymous, `destUser` in an open challenge."""

    id: Id
    status: Shown = "created"
    challenger: User = ANONYMOUS
    destination: User = Field(default=ANONYMOUS, alias="destUser")
    variant: VariantRef
    rated: bool = False
    color: str = ""  # the challenger's choice
    speed: Shown
    time_control: TimeControl = Field(alias="timeControl")
    initial_fen: str | None = Field(default=None, alias="initialFen")
    rematch_of: Id | None = Field(default=None, alias="rematchOf")
    rules: tuple[str, ...] = ()
    decline_reason_key: str = Field(default="", alias="declineReasonKey")


class Compat(Payload):
    """Which APIs may play the game. Beside a challenge, inside a game."""

    bot: bool = True


class Opponent(Payload):
    """The opponent in the event stream; the built-in AI has no id."""

    id: UserId | None = None
    username: Shown = ""
    rating: Number | None = None
    rating_diff: Number | None = Field(default=None, alias="ratingDiff")

    @property
    def is_bot(self) -> bool:
        """Whether the name carries the bot title; there is no other sign here."""
        return self.username.startswith(f"{BOT_TITLE} ")


class GameInfo(Payload):
    """A game in the event stream and in `/api/account/playing`, where `id` is missing."""

    game_id: Id = Field(alias="gameId")
    color: Colour | None = None
    variant: VariantRef = _STANDARD
    speed: str = ""
    rated: bool = False
    is_my_turn: bool | None = Field(default=None, alias="isMyTurn")
    seconds_left: Number | None = Field(default=None, alias="secondsLeft")
    fen: str = ""
    last_move: str = Field(default="", alias="lastMove")
    opponent: Opponent = Opponent()
    status: GameStatus | None = Field(default=None, validation_alias=_STATUS)
    winner: Colour | None = None
    rating: Number | None = None
    """Ours before the game, if the server says it."""
    rating_diff: Number | None = Field(default=None, alias="ratingDiff")
    """Ours, once the game is over; it may be missing although the game was rated."""
    compat: Compat = Compat()
    tournament_id: Id | None = Field(default=None, validation_alias=_ARENA)
    swiss_id: str | None = Field(default=None, validation_alias=AliasChoices("swissId", AliasPath("swissTour", "id")))

    @property
    def is_correspondence(self) -> bool:
        """Whether the game has days for each move, or no clock at all."""
        return self.speed == Speed.CORRESPONDENCE

    @property
    def is_tournament(self) -> bool:
        return self.tournament_id is not None or self.swiss_id is not None

    @property
    def urgency(self) -> tuple[bool, float]:
        """A sort key: games in which our clock runs come first, by the time left."""
        return not self.is_my_turn, math.inf if self.seconds_left is None else self.seconds_left

    @model_validator(mode="before")
    @classmethod
    def _either_id(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("gameId") is None and data.get("id") is not None:
            return {**data, "gameId": data["id"]}
        return data


class GameStart(Payload):
    """A game began, or is in progress when the stream opens."""

    game: GameInfo


class GameFinish(Payload):
    """A game ended, aborts included."""

    game: GameInfo


class ChallengeReceived(Payload):
    """A challenge to us or by us; without `compat` if sent because the stream opened."""

    challenge: Challenge
    compat: Compat = Compat()

    @property
    def is_replay(self) -> bool:
        """Whether it was sent because the stream opened, so that its age is unknown."""
        return "compat" not in self.model_fields_set


class UnreadableChallenge(Payload):
    """A challenge to us of which only the id, and perhaps the challenger, can be read."""

    challenge: Challenge
    problem: str


class ChallengeCanceled(Payload):
    """A challenge was withdrawn."""

    challenge: Challenge


class ChallengeDeclined(Payload):
    """A challenge was declined, by us or by the player we challenged."""

    challenge: Challenge


class Clock(Payload):
    """The time control of a real-time game, in milliseconds."""

    initial: Number
    increment: Number

    @property
    def exact(self) -> ExactClock:
        """The same in whole seconds."""
        return ExactClock(self.initial // 1000, self.increment // 1000)


class Player(Payload):
    """A player in the game stream; an AI has only `aiLevel`, an anonymous player nothing."""

    id: UserId | None = None
    name: Shown = ""
    title: Shown = ""
    rating: Number | None = None
    ai_level: Number | None = Field(default=None, alias="aiLevel")

    @property
    def is_bot(self) -> bool:
        """Whether the player is a program, including the built-in AI."""
        return self.title == BOT_TITLE or self.ai_level is not None

    def __str__(self) -> str:
        if self.ai_level is not None:
            return f"AI-{self.ai_level}"
        return self.name or self.id or "anonymous"


class GameState(Payload):
    """All moves since `initialFen`, and the clocks in ms at that moment; 0 if missing or unreadable."""

    moves: str
    wtime: Number = 0
    btime: Number = 0
    winc: Number = 0
    binc: Number = 0
    status: GameStatus = Field(validation_alias=_STATUS)
    winner: Colour | None = None
    wdraw: bool = False
    bdraw: bool = False
    wtakeback: bool = False
    btakeback: bool = False

    def time_ms(self, colour: Colour) -> int:
        """Return the clock of that side."""
        return self.wtime if colour is Colour.WHITE else self.btime

    def offers_draw(self, colour: Colour) -> bool:
        """Whether that side's draw flag is set; it may lag behind a move that declined the offer."""
        return self.wdraw if colour is Colour.WHITE else self.bdraw

    def asks_takeback(self, colour: Colour) -> bool:
        return self.wtakeback if colour is Colour.WHITE else self.btakeback


class GameFull(Payload):
    """The first line of every game stream, with the full state of the game."""

    id: Id
    variant: VariantRef = _STANDARD
    speed: str = ""
    rated: bool = False
    created_at_ms: WholeNumber = Field(default=0, ge=0, le=LATEST_MS, alias="createdAt")
    tournament_id: str | None = Field(default=None, validation_alias=_ARENA)
    white: Player = Player()
    black: Player = Player()
    initial_fen: str = Field(default=STANDARD_START, alias="initialFen")
    clock: Clock | None = None
    days_per_turn: Number | None = Field(default=None, alias="daysPerTurn")
    state: GameState

    def player(self, colour: Colour) -> Player:
        return self.white if colour is Colour.WHITE else self.black

    def colour_of(self, user_id: str) -> Colour | None:
        """Return the side that this user plays; None in a game of others."""
        return next((colour for colour in Colour if self.player(colour).id == user_id), None)

    @property
    def initial_s(self) -> float | None:
        """The initial time of each player in seconds; None without clocks."""
        return None if self.clock is None else self.clock.initial / 1000


class ChatLine(Payload):
    """A line in one of the two chat rooms of a game, ours included."""

    room: str = ""
    username: Shown = ""
    text: Shown = ""

    @property
    def is_copy(self) -> bool:
        """Whether it tells spectators what Lichess tells the players in the same words."""
        return self.username == SYSTEM_NAME and self.room == ChatRoom.SPECTATOR


class OpponentGone(Payload):
    """The opponent left, or came back (`gone` is false)."""

    gone: bool
    claim_win_in_s: WholeNumber | None = Field(default=None, ge=0, le=_LONGEST_S, alias="claimWinInSeconds")


class UnknownEvent(Payload):
    """An event of an unknown type."""

    type: Shown = ""


AccountEvent = (
    GameStart
    | GameFinish
    | ChallengeReceived
    | UnreadableChallenge
    | ChallengeCanceled
    | ChallengeDeclined
    | UnknownEvent
)
GameEvent = GameFull | GameState | ChatLine | OpponentGone | UnknownEvent
StreamLine = AccountEvent | GameEvent
