"""Time controls and the clock of one game. Pure: monotonic milliseconds are passed in.

Bots get no lag compensation: all time at the server counts.
"""

from dataclasses import dataclass
from typing import ClassVar

from lichessbot.rehearsal.rules.enums import Color, Speed

UNLIMITED_MS = 2_147_483_647     # shown in games without a clock
MAX_LIMIT_S = 10_800             # the longest clock that challenges may ask for ...
MAX_INCREMENT_S = 180            # ... and the largest increment
OFFERED_LIMITS_S = (0, 15, 30, 45, 60, 90, *range(120, MAX_LIMIT_S + 1, 60))
DAY_MS = 24 * 60 * 60 * 1000
ZERO_LIMIT_START_S = 3           # a clock with base 0 starts with this, or with a larger increment
TIMED_FROM_PLY = 2               # each side's first move is free

_SPEED_BELOW_S = (
    (30, Speed.ULTRA_BULLET),
    (180, Speed.BULLET),
    (480, Speed.BLITZ),
    (1500, Speed.RAPID),
    (21600, Speed.CLASSICAL),
)


@dataclass(frozen=True)
class RealTime:
    """Base time and increment in seconds.

    `hurried`: a rehearsal may be faster than Lichess allows for bots. Its speed is then called bullet instead of
    ultraBullet, so that the operator's rules for bullet apply.
    """

    limit_s: int
    increment_s: int
    hurried: bool = False

    @property
    def estimate_s(self) -> int:
        """Return the expected time of one side."""
        return self.limit_s + 40 * self.increment_s

    @property
    def initial_ms(self) -> int:
        return 1000 * (self.limit_s or max(ZERO_LIMIT_START_S, self.increment_s))

    @property
    def speed(self) -> Speed:
        speeds = (speed for below_s, speed in _SPEED_BELOW_S if self.estimate_s < below_s)
        speed = next(speeds, Speed.CORRESPONDENCE)
        return Speed.BULLET if self.hurried and speed is Speed.ULTRA_BULLET else speed

    @property
    def is_offered(self) -> bool:
        """Return whether challenges may ask for this base and for this increment."""
        return self.limit_s in OFFERED_LIMITS_S and 0 <= self.increment_s <= MAX_INCREMENT_S

    def __str__(self) -> str:
        return f"{self.limit_s}+{self.increment_s}"


@dataclass(frozen=True)
class Correspondence:
    """Days for each move; the day of a rehearsal may be shorter."""

    speed: ClassVar = Speed.CORRESPONDENCE
    days: int
    day_ms: int = DAY_MS

    @property
    def initial_ms(self) -> int:
        return self.days * self.day_ms

    def __str__(self) -> str:
        return f"1/{self.days * DAY_MS // 1000}"


@dataclass(frozen=True)
class Unlimited:
    """No clock."""

    speed: ClassVar = Speed.CORRESPONDENCE
    initial_ms: ClassVar = UNLIMITED_MS

    def __str__(self) -> str:
        return "-"


TimeControl = RealTime | Correspondence | Unlimited


class GameClock:
    """The remaining time of each side. The clock of the side to move runs from the second ply on."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self._left_ms = dict.fromkeys(Color, control.initial_ms)
        self.running: Color | None = None       # the side whose clock runs
        self._has_begun = False                 # a takeback of the first moves stops no real-time clock
        self._since_ms = 0

    @property
    def increment_ms(self) -> int:
        return 1000 * self.control.increment_s if isinstance(self.control, RealTime) else 0

    def remaining_ms(self, color: Color, now_ms: int) -> int:
        """Return the remaining time of `color` at `now_ms`; never negative."""
        spent_ms = now_ms - self._since_ms if color is self.running else 0
        return max(0, self._left_ms[color] - spent_ms)

    def is_flagged(self, color: Color, now_ms: int) -> bool:
        """Return whether the clock of `color` runs and has reached zero."""
        return color is self.running and self.remaining_ms(color, now_ms) == 0

    def press(self, mover: Color, plies_played: int, now_ms: int) -> None:
        """Stop the clock of `mover`, who has made ply number `plies_played`, and start the other one."""
        if mover is self.running:
            self.stop(now_ms)
            self._left_ms[mover] = self._after_move_ms(self._left_ms[mover])
        self.run(mover.other, plies_played, now_ms)

    def run(self, color: Color, plies_played: int, now_ms: int) -> None:
        """Start the clock of `color`, unless it is too early in the game for clocks to run."""
        self.stop(now_ms)
        if plies_played >= TIMED_FROM_PLY:
            self._has_begun = isinstance(self.control, RealTime)
        elif not self._has_begun:
            return
        if not isinstance(self.control, Unlimited):
            self.running = color
            self._since_ms = now_ms

    def give(self, color: Color, gift_ms: int, now_ms: int) -> None:
        """Add time to the clock of `color`, running or not."""
        running = self.running
        self.stop(now_ms)
        self._left_ms[color] += gift_ms
        if running is not None:
            self.running, self._since_ms = running, now_ms

    def take_back(self, color: Color, earlier_ms: int | None) -> None:
        """Stop the clocks, and set that of `color` to its time after its last move; None: the initial time."""
        self.running = None
        self._left_ms[color] = self.control.initial_ms if earlier_ms is None else earlier_ms

    def stop(self, now_ms: int) -> None:
        """Stop both clocks."""
        if self.running is not None:
            self._left_ms[self.running] = self.remaining_ms(self.running, now_ms)
            self.running = None

    def _after_move_ms(self, left_ms: int) -> int:
        return left_ms + self.increment_ms if isinstance(self.control, RealTime) else self.control.initial_ms
