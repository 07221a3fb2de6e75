"""Time controls and the clock of one game. Pure: the time is passed in as monotonic milliseconds.

A bot gets no lag credit: all the time that passes at the server counts (contract 6.1).
"""

from dataclasses import dataclass

from lichessbot.rehearsal.rules.enums import Color, Speed

UNLIMITED_MS = 2_147_483_647     # what a game without a clock shows (contract 5)
DAY_MS = 24 * 60 * 60 * 1000
ZERO_LIMIT_START_S = 3           # a clock with base 0 starts with this, or the increment if larger
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

    `hurried` marks a rehearsal clock quicker than Lichess allows bots: it is called bullet instead
    of ultraBullet, so that a short rehearsal meets the rules the operator wrote for bullet.
    """

    limit_s: int
    increment_s: int
    hurried: bool = False

    @property
    def estimate_s(self) -> int:
        """The expected time of one side (contract 6.1)."""
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
        """Whether base and increment, each by itself, can be asked for in a challenge (contract 3.4)."""
        limit_offered = self.limit_s in (15, 30, 45, 90) or self.limit_s % 60 == 0
        return limit_offered and 0 <= self.limit_s <= 10800 and 0 <= self.increment_s <= 180

    def __str__(self) -> str:
        return f"{self.limit_s}+{self.increment_s}"


@dataclass(frozen=True)
class Correspondence:
    """So many days for each move; a rehearsal's day may be shorter than ours."""

    days: int
    day_ms: int = DAY_MS

    @property
    def speed(self) -> Speed:
        return Speed.CORRESPONDENCE

    def __str__(self) -> str:
        return f"1/{self.days * DAY_MS // 1000}"


@dataclass(frozen=True)
class Unlimited:
    """No clock at all."""

    @property
    def speed(self) -> Speed:
        return Speed.CORRESPONDENCE

    def __str__(self) -> str:
        return "-"


TimeControl = RealTime | Correspondence | Unlimited


class GameClock:
    """What each side has left. It runs from the second ply on, for the side to move."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self._left_ms = dict.fromkeys(Color, self._start_ms())
        self._running: Color | None = None
        self._since_ms = 0

    @property
    def increment_ms(self) -> int:
        return 1000 * self.control.increment_s if isinstance(self.control, RealTime) else 0

    @property
    def running(self) -> Color | None:
        """The side whose time is passing."""
        return self._running

    def remaining_ms(self, color: Color, now_ms: int) -> int:
        """What `color` has left at `now_ms`, running time deducted; never negative."""
        spent_ms = now_ms - self._since_ms if color is self._running else 0
        return max(0, self._left_ms[color] - spent_ms)

    def is_flagged(self, color: Color, now_ms: int) -> bool:
        """Whether the time of `color` is running and used up."""
        return color is self._running and self.remaining_ms(color, now_ms) == 0

    def press(self, mover: Color, plies_played: int, now_ms: int) -> None:
        """`mover` has made ply number `plies_played`: stop that clock, start the other one."""
        if mover is self._running:
            self.stop(now_ms)
            self._left_ms[mover] = self._after_move_ms(self._left_ms[mover])
        self.run(mover.other, plies_played, now_ms)

    def run(self, color: Color, plies_played: int, now_ms: int) -> None:
        """Let the time of `color` pass from now on, if the game is far enough for clocks to run."""
        self.stop(now_ms)
        if plies_played >= TIMED_FROM_PLY and not isinstance(self.control, Unlimited):
            self._running = color
            self._since_ms = now_ms

    def give(self, color: Color, gift_ms: int, now_ms: int) -> None:
        """Add to what `color` has left at `now_ms`, whether its time is passing or not."""
        running = self._running
        self.stop(now_ms)
        self._left_ms[color] += gift_ms
        if running is not None:
            self._running, self._since_ms = running, now_ms

    def stop(self, now_ms: int) -> None:
        """Freeze both sides."""
        if self._running is not None:
            self._left_ms[self._running] = self.remaining_ms(self._running, now_ms)
            self._running = None

    def _start_ms(self) -> int:
        match self.control:
            case RealTime():
                return self.control.initial_ms
            case Correspondence(days, day_ms):
                return days * day_ms
            case Unlimited():
                return UNLIMITED_MS

    def _after_move_ms(self, left_ms: int) -> int:
        return left_ms + self.increment_ms if isinstance(self.control, RealTime) else self._start_ms()
