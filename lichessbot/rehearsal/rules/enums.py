"""The words of the Lichess API as enumerations, spelled as on the wire. Names and numbers only."""

from enum import Enum, StrEnum

BOT_TITLE = "BOT"


class Color(StrEnum):
    """A side of the board."""

    WHITE = "white"
    BLACK = "black"

    @property
    def other(self) -> "Color":
        return Color.BLACK if self is Color.WHITE else Color.WHITE


class ColorChoice(StrEnum):
    """The colour a challenger asks for."""

    WHITE = "white"
    BLACK = "black"
    RANDOM = "random"


class Status(Enum):
    """The status of a game: number and name. Those that no game here has are left out."""

    STARTED = (20, "started")
    ABORTED = (25, "aborted")
    MATE = (30, "mate")
    RESIGN = (31, "resign")
    STALEMATE = (32, "stalemate")
    TIMEOUT = (33, "timeout")
    DRAW = (34, "draw")
    OUT_OF_TIME = (35, "outoftime")
    NO_START = (37, "noStart")
    INSUFFICIENT_MATERIAL_CLAIM = (39, "insufficientMaterialClaim")
    VARIANT_END = (60, "variantEnd")

    def __init__(self, number: int, wire_name: str) -> None:
        self.number = number
        self.wire_name = wire_name

    @property
    def is_over(self) -> bool:
        return self is not Status.STARTED


class Variant(Enum):
    """Variant key, name and short name."""

    STANDARD = ("standard", "Standard", "Std")
    CHESS960 = ("chess960", "Chess960", "960")
    FROM_POSITION = ("fromPosition", "From Position", "FEN")
    CRAZYHOUSE = ("crazyhouse", "Crazyhouse", "Crazy")
    ANTICHESS = ("antichess", "Antichess", "Anti")
    ATOMIC = ("atomic", "Atomic", "Atom")
    HORDE = ("horde", "Horde", "Horde")
    KING_OF_THE_HILL = ("kingOfTheHill", "King of the Hill", "KotH")
    RACING_KINGS = ("racingKings", "Racing Kings", "Racing")
    THREE_CHECK = ("threeCheck", "Three-check", "3check")

    def __init__(self, key: str, display_name: str, short: str) -> None:
        self.key = key
        self.display_name = display_name
        self.short = short

    @classmethod
    def of_key(cls, key: str) -> "Variant | None":
        return next((variant for variant in cls if variant.key == key), None)

    @property
    def has_own_rating(self) -> bool:
        """Whether players have a rating for the variant, instead of one for each speed."""
        return self not in (Variant.STANDARD, Variant.FROM_POSITION)

    @property
    def has_own_start(self) -> bool:
        """Whether the start position differs from game to game, and so is sent."""
        return self in (Variant.CHESS960, Variant.FROM_POSITION)

    @property
    def has_unusual_start(self) -> bool:
        """Whether all games begin from the same position, but not that of standard chess."""
        return self in (Variant.HORDE, Variant.RACING_KINGS)


class Speed(StrEnum):
    """Speed classes, slowest last."""

    ULTRA_BULLET = "ultraBullet"
    BULLET = "bullet"
    BLITZ = "blitz"
    RAPID = "rapid"
    CLASSICAL = "classical"
    CORRESPONDENCE = "correspondence"

    @property
    def display_name(self) -> str:
        return "UltraBullet" if self is Speed.ULTRA_BULLET else self.value.capitalize()


class Source(StrEnum):
    """Where a game came from."""

    FRIEND = "friend"
    ARENA = "arena"


class Rule(StrEnum):
    """Restrictions that a challenge may set."""

    NO_ABORT = "noAbort"
    NO_REMATCH = "noRematch"
    NO_GIVE_TIME = "noGiveTime"
    NO_CLAIM_WIN = "noClaimWin"
    NO_EARLY_DRAW = "noEarlyDraw"


class ChallengeStatus(StrEnum):
    """The status of a challenge."""

    CREATED = "created"
    OFFLINE = "offline"
    CANCELED = "canceled"
    DECLINED = "declined"
    ACCEPTED = "accepted"


class DeclineReason(Enum):
    """The key in a request, and the sentence that the challenger reads."""

    GENERIC = ("generic", "I'm not accepting challenges at the moment.")
    LATER = ("later", "This is not the right time for me, please ask again later.")
    TOO_FAST = (
        "tooFast",
        "This time control is too fast for me, please challenge again with a slower game.",
    )
    TOO_SLOW = (
        "tooSlow",
        "This time control is too slow for me, please challenge again with a faster game.",
    )
    TIME_CONTROL = ("timeControl", "I'm not accepting challenges with this time control.")
    RATED = ("rated", "Please send me a rated challenge instead.")
    CASUAL = ("casual", "Please send me a casual challenge instead.")
    STANDARD = ("standard", "I'm not accepting variant challenges right now.")
    VARIANT = ("variant", "I'm not willing to play this variant right now.")
    NO_BOT = ("noBot", "I'm not accepting challenges from bots.")
    ONLY_BOT = ("onlyBot", "I'm only accepting challenges from bots.")

    def __init__(self, key: str, sentence: str) -> None:
        self.wire_key = key.lower()             # as the challenger receives it
        self.sentence = sentence

    @classmethod
    def of_key(cls, key: str) -> "DeclineReason":
        """Return the reason of a key, in any case; unknown keys mean generic."""
        return next((reason for reason in cls if reason.wire_key == key.lower()), cls.GENERIC)


class ChatRoom(StrEnum):
    """The room of a chat line."""

    PLAYER = "player"
    SPECTATOR = "spectator"


class Scope(StrEnum):
    """What a token may do."""

    BOT_PLAY = "bot:play"
    BOARD_PLAY = "board:play"
    TOURNAMENT_WRITE = "tournament:write"
    CHALLENGE_READ = "challenge:read"
    CHALLENGE_WRITE = "challenge:write"
    TEAM_WRITE = "team:write"
    WEB_MOBILE = "web:mobile"
