"""Two chess clocks, of which one runs at most."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic

SIDES = ("white", "black")


class InvalidTimeControl(ValueError):
    """The text is no time control. The message quotes it."""


@dataclass(frozen=True)
class TimeControl:
    """Seconds at the start and seconds gained by each move."""

    base_s: float
    increment_s: float

    def __str__(self) -> str:
        return f"{self.base_s:g}+{self.increment_s:g}"


def parse_minutes(text: str) -> TimeControl:
    """'5+3': five minutes and three seconds a move, as players say it; '5' without. Raises InvalidTimeControl."""
    minutes, _, increment = text.partition("+")
    try:
        control = TimeControl(float(minutes) * 60, float(increment or 0))
    except ValueError:
        control = TimeControl(0, 0)
    if not (0 < control.base_s <= 86400 and 0 <= control.increment_s <= 3600):
        raise InvalidTimeControl(f"expected minutes and seconds a move such as 5+3, found {text[:40]!r}")
    return control


def parse_seconds(text: str) -> TimeControl | None:
    """PGN's TimeControl header, '300+3'; None for anything else it may hold."""
    base, _, increment = text.partition("+")
    if not (base.isdecimal() and (increment or "0").isdecimal()) or len(text) > 12 or int(base) == 0:
        return None
    return TimeControl(int(base), int(increment or 0))


class ChessClock:
    """`start` makes the first side's clock run, `press` stops the mover's and starts the other's."""

    def __init__(self, control: TimeControl, now: Callable[[], float] = monotonic) -> None:
        self.control = control
        self._now = now
        self._left_s = dict.fromkeys(SIDES, control.base_s)
        self._running: str | None = None
        self._since = 0.0

    def start(self, side: str) -> None:
        """Let this side's clock run, if none does."""
        if self._running is None:
            self._running, self._since = side, self._now()

    def stop(self) -> None:
        """Nobody's clock runs; what ran until now counts."""
        if self._running is not None:
            self._left_s[self._running] = self.left_s(self._running)
            self._running = None

    def press(self) -> None:
        """The side whose clock runs has moved: it gains the increment, the other's clock runs."""
        mover = self._running
        self.stop()
        if mover is not None:
            self._left_s[mover] += self.control.increment_s
            self.start(SIDES[1 - SIDES.index(mover)])

    def left_s(self, side: str) -> float:
        """Seconds left, negative when the time is up."""
        gone = self._now() - self._since if side == self._running else 0.0
        return self._left_s[side] - gone

    def both_s(self) -> dict[str, float]:
        """What both sides have left."""
        return {side: self.left_s(side) for side in SIDES}

    def set_both(self, left_s: Mapping[str, float]) -> None:
        """Go on from these; nobody's clock runs."""
        self._left_s, self._running = dict(left_s), None


def clock_text(seconds: float) -> str:
    """'4:05', '1:00:00', and tenths under ten seconds: '0:09.3'."""
    seconds = max(0.0, seconds)
    if seconds < 10:
        return f"0:0{int(seconds * 10) / 10:.1f}"
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
