"""The words of the Lichess API that the daemon decides by, spelled as the API does.

Lichess may send other words, such as new variants: the models keep those as text, which matches nothing here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self


class Variant(StrEnum):
    """The variants of Lichess. Which of them the bot plays, its engines decide."""

    STANDARD = "standard"
    CHESS960 = "chess960"
    FROM_POSITION = "fromPosition"
    CRAZYHOUSE = "crazyhouse"
    KING_OF_THE_HILL = "kingOfTheHill"
    THREE_CHECK = "threeCheck"
    ANTICHESS = "antichess"
    ATOMIC = "atomic"
    HORDE = "horde"
    RACING_KINGS = "racingKings"

    @property
    def has_standard_rules(self) -> bool:
        """Whether only the start position differs from standard chess, if anything does."""
        return self in (Variant.STANDARD, Variant.CHESS960, Variant.FROM_POSITION)

    @property
    def can_be_proposed(self) -> bool:
        """Whether a challenge of ours may ask for it: From Position needs a position, which we never send."""
        return self is not Variant.FROM_POSITION


PROPOSABLE_VARIANTS: Final = tuple(variant for variant in Variant if variant.can_be_proposed)
# As Lichess and python-chess name them in PGN, which does not name standard chess.
VARIANTS_IN_PGN: Final[Mapping[str, str]] = {
    Variant.CHESS960: "Chess960",
    Variant.FROM_POSITION: "From Position",
    Variant.CRAZYHOUSE: "Crazyhouse",
    Variant.KING_OF_THE_HILL: "King of the Hill",
    Variant.THREE_CHECK: "Three-check",
    Variant.ANTICHESS: "Antichess",
    Variant.ATOMIC: "Atomic",
    Variant.HORDE: "Horde",
    Variant.RACING_KINGS: "Racing Kings",
}


_SHORT_BASES_S: Final = (0, 15, 30, 45, 60, 90)
LONGEST_BASE_S: Final = 10800
OFFERED_BASES: Final = f"{', '.join(map(str, _SHORT_BASES_S))} or whole minutes up to {LONGEST_BASE_S} s"
LONGEST_INCREMENT_S: Final = 180
SHORTEST_ESTIMATE_S: Final = 30
"""Of base + 40 increments; shorter games are ultraBullet, which is closed to bots."""
ULTRA_BULLET: Final = "ultraBullet"
OFFERED_DAYS: Final = (1, 2, 3, 5, 7, 10, 14)
INITIAL_RATING: Final = 1500
"""The rating of an account that has not played such games; of a bot, only in variants other than Chess960."""
INITIAL_BOT_RATING: Final = 2000
"""The rating of a bot that has not played such games, in standard chess and Chess960."""
HIGHEST_RATING: Final = 4000
PLAYER_NAME: Final = r"[A-Za-z0-9_-]{2,30}"


def player_label(name: str, title: str = "", rating: int | None = None) -> str:
    """Return a player as Lichess shows one, such as `BOT maia1 (1600)`."""
    # A name in the event stream carries the title already.
    titled = f"{title} {name}" if title and not name.startswith(f"{title} ") else name
    return titled if rating is None else f"{titled} ({rating})"


def is_offered_base(base_s: int) -> bool:
    """Return whether a challenge may have this initial time."""
    return base_s in _SHORT_BASES_S or (base_s % 60 == 0 and 0 < base_s <= LONGEST_BASE_S)


def parse_arena_id(text: str) -> str | None:
    """Return the id in an id or address of an arena; None if there is none."""
    found = re.fullmatch(r"(?:https?://[^/]+/tournament/)?([A-Za-z0-9]{8})", text)
    return None if found is None else found[1]


def parse_team_id(text: str) -> str | None:
    """Return the id, in lower case as Lichess has it, in an id or address of a team; None if there is none."""
    found = re.fullmatch(r"(?:https?://[^/]+/team/)?([A-Za-z0-9_-]{2,100})", text)
    return None if found is None else found[1].lower()


class Odds(StrEnum):
    """What a player can give at the start of a From Position game, the most valuable first."""

    QUEEN = "queen"
    ROOK = "rook"
    BISHOP = "bishop"
    KNIGHT = "knight"
    PAWN = "pawn"
    MOVE = "move"


class Speed(StrEnum):
    """The speeds open to bots."""

    BULLET = "bullet"
    BLITZ = "blitz"
    RAPID = "rapid"
    CLASSICAL = "classical"
    CORRESPONDENCE = "correspondence"
    """Days for each move, or no clock at all."""


REAL_TIME_SPEEDS: Final = (Speed.BULLET, Speed.BLITZ, Speed.RAPID, Speed.CLASSICAL)


@dataclass(frozen=True, slots=True)
class ExactClock:
    """A time control, shown as on Lichess: minutes+seconds."""

    base_s: int
    increment_s: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse a clock such as `5+3` or `0.5+0`; None if `text` is not one."""
        found = re.fullmatch(r"(\d{1,3}(?:\.\d{1,2})?)\+(\d{1,3})", text.strip(), re.ASCII)
        return None if found is None else cls(round(float(found[1]) * 60), int(found[2]))

    @property
    def speed(self) -> Speed | None:
        """The speed, which Lichess derives from base + 40 increments; None for ultraBullet."""
        estimate_s = self.base_s + 40 * self.increment_s
        bounds = ((1500, Speed.CLASSICAL), (480, Speed.RAPID), (180, Speed.BLITZ), (SHORTEST_ESTIMATE_S, Speed.BULLET))
        return next((speed for at_least_s, speed in bounds if estimate_s >= at_least_s), None)

    @property
    def expected_s(self) -> float:
        """What a game lasts, both players together: a rule of thumb that operators know from other bots."""
        return 1.33 * self.base_s + 105 * self.increment_s

    def __str__(self) -> str:
        return f"{self.base_s / 60:g}+{self.increment_s}"


class Mode(StrEnum):
    CASUAL = "casual"
    RATED = "rated"


class Colour(StrEnum):
    WHITE = "white"
    BLACK = "black"

    @property
    def other(self) -> "Colour":
        return Colour.BLACK if self is Colour.WHITE else Colour.WHITE


class ChatRoom(StrEnum):
    """The two chat rooms of a game: for its players, and for spectators."""

    PLAYER = "player"
    SPECTATOR = "spectator"


class SortBy(StrEnum):
    """Which of several waiting challengers comes first."""

    BEST = "best"
    FIRST = "first"


class Preference(StrEnum):
    """Which kind of challenger comes first."""

    NONE = "none"
    HUMAN = "human"
    BOT = "bot"


class OpponentKind(StrEnum):
    """The kind of opponent; a program without an account, such as Lichess's own AI, counts as a bot."""

    HUMAN = "human"
    BOT = "bot"


class DeclineReason(StrEnum):
    """Why a challenge is declined; Lichess shows the challenger a translated sentence for each."""

    GENERIC = "generic"
    LATER = "later"
    TOO_FAST = "tooFast"
    TOO_SLOW = "tooSlow"
    TIME_CONTROL = "timeControl"
    RATED = "rated"
    CASUAL = "casual"
    STANDARD = "standard"
    VARIANT = "variant"
    NO_BOT = "noBot"
    ONLY_BOT = "onlyBot"

    @classmethod
    def received(cls, key: str) -> Self:
        """Return the reason that Lichess sends in lowercase; an unknown one counts as generic."""
        return next((reason for reason in cls if reason.lower() == key.lower()), cls("generic"))


class GameStatus(StrEnum):
    """The status of a game. An unknown name counts as `UNKNOWN_FINISH`: the game is over."""

    CREATED = "created"
    STARTED = "started"
    ABORTED = "aborted"
    MATE = "mate"
    RESIGN = "resign"
    STALEMATE = "stalemate"
    TIMEOUT = "timeout"
    DRAW = "draw"
    OUT_OF_TIME = "outoftime"
    CHEAT = "cheat"
    NO_START = "noStart"
    UNKNOWN_FINISH = "unknownFinish"
    INSUFFICIENT_MATERIAL_CLAIM = "insufficientMaterialClaim"
    VARIANT_END = "variantEnd"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls("unknownFinish") if isinstance(value, str) else None

    @property
    def is_over(self) -> bool:
        return self not in (GameStatus.CREATED, GameStatus.STARTED)

    @property
    def was_played(self) -> bool:
        """Whether a game that ended so was played: both sides made a move."""
        return self not in (GameStatus.ABORTED, GameStatus.NO_START)

    def has_result(self, winner: "Colour | None") -> bool:
        """Return whether Lichess counts a game that ended so: a player who does not start an arena's game loses it."""
        return winner is not None or self.was_played


class Scope(StrEnum):
    """The token scopes that the bot needs."""

    BOT_PLAY = "bot:play"
    CHALLENGE_READ = "challenge:read"
    CHALLENGE_WRITE = "challenge:write"
