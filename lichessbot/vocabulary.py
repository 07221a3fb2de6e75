"""The words of the Lichess API that the daemon decides by; values are spelled as on the wire.

What arrives may hold words not listed here (new variants, new statuses): events keep such words
as text, and only a known word ever matches.
"""

from enum import StrEnum
from typing import Self


class Variant(StrEnum):
    """The variants the engine plays."""

    STANDARD = "standard"
    CHESS960 = "chess960"
    FROM_POSITION = "fromPosition"


class Speed(StrEnum):
    """The real-time speeds open to bots; Lichess derives them from base + 40 increments."""

    BULLET = "bullet"
    BLITZ = "blitz"
    RAPID = "rapid"
    CLASSICAL = "classical"


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
    """Who hears a chat line: the two players, or everybody else."""

    PLAYER = "player"
    SPECTATOR = "spectator"


class DeclineReason(StrEnum):
    """What the challenger is told; Lichess shows a translated sentence for each."""

    GENERIC = "generic"
    LATER = "later"
    TOO_FAST = "tooFast"
    TOO_SLOW = "tooSlow"
    TIME_CONTROL = "timeControl"
    RATED = "rated"
    CASUAL = "casual"
    VARIANT = "variant"
    NO_BOT = "noBot"
    ONLY_BOT = "onlyBot"


class GameStatus(StrEnum):
    """Where a game stands. A word that Lichess adds later reads as `UNKNOWN_FINISH`: over."""

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
    def _missing_(cls, value: object) -> Self:
        return cls("unknownFinish")

    @property
    def is_over(self) -> bool:
        return self not in (GameStatus.CREATED, GameStatus.STARTED)


class Scope(StrEnum):
    """What a token may be allowed to do."""

    BOT_PLAY = "bot:play"
    CHALLENGE_READ = "challenge:read"
    CHALLENGE_WRITE = "challenge:write"
