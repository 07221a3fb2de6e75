"""What a challenge of ours proposes: variant, clock, mode, colour; and how Lichess classes it.

Plain values; which terms are proposed to whom is decided elsewhere.
"""

from dataclasses import dataclass
from typing import Final

from lichessbot.lichess.enums import Colour, ExactClock, Mode, Speed, Variant

_TOO_FAST_FOR_BOTS: Final = "ultraBullet"
_WITHOUT_OWN_RATING: Final = (Variant.STANDARD, Variant.FROM_POSITION)


@dataclass(frozen=True, slots=True)
class Days:
    """So many days for each move."""

    days: int

    def __str__(self) -> str:
        return f"{self.days} d a move"


@dataclass(frozen=True, slots=True)
class Terms:
    """`colour` is ours; None leaves it to chance."""

    variant: Variant
    time_control: ExactClock | Days
    rated: bool
    colour: Colour | None = None

    @property
    def mode(self) -> Mode:
        return Mode.RATED if self.rated else Mode.CASUAL

    @property
    def has_clock(self) -> bool:
        return isinstance(self.time_control, ExactClock)

    @property
    def speed(self) -> str:
        match self.time_control:
            case ExactClock(base_s, increment_s):
                return Speed.of_clock(base_s, increment_s) or _TOO_FAST_FOR_BOTS
            case Days():
                return Speed.CORRESPONDENCE

    @property
    def rating_category(self) -> str:
        """The key under which Lichess keeps the rating: the speed in standard chess, else the variant."""
        return self.speed if self.variant in _WITHOUT_OWN_RATING else self.variant.value

    def __str__(self) -> str:
        return f"{self.time_control} {self.mode} {self.variant}"
