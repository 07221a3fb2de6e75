"""The terms of a challenge of ours (variant, time control, rated or casual, colour) and its rating category."""

from dataclasses import dataclass
from typing import Final

from lichessbot.lichess.enums import ULTRA_BULLET, Colour, ExactClock, Mode, Speed, Variant

_WITHOUT_OWN_RATING: Final = (Variant.STANDARD, Variant.FROM_POSITION)


@dataclass(frozen=True, slots=True)
class Days:
    """A time control of days for each move."""

    days: int

    def __str__(self) -> str:
        return f"{self.days} d a move"


def may_be_rated(variant: Variant, time_control: ExactClock | Days) -> bool:
    """Return whether Lichess rates such a game; a challenge with too short a clock silently becomes casual."""
    if variant is Variant.STANDARD:
        return True
    if variant is Variant.FROM_POSITION or isinstance(time_control, Days):
        return False
    return time_control.speed is not None and (time_control.base_s > 0 or time_control.increment_s > 1)


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a challenge; `colour` is ours, None means random."""

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
            case ExactClock() as clock:
                return clock.speed or ULTRA_BULLET
            case Days():
                return Speed.CORRESPONDENCE

    @property
    def rating_category(self) -> str:
        """The key of the rating on Lichess: the speed in standard chess, else the variant."""
        return self.speed if self.variant in _WITHOUT_OWN_RATING else self.variant.value

    def __str__(self) -> str:
        return f"{self.time_control} {self.mode} {self.variant}"
