"""The chess clock."""

from collections.abc import Callable, Mapping
from time import monotonic

from engine.pgn.time_control import TimeControl

SIDES = ("white", "black")


def opponent_of(side: str) -> str:
    return SIDES[1 - SIDES.index(side)]


class ChessClock:
    """The clocks of both sides, at most one of them running."""

    def __init__(self, control: TimeControl, now: Callable[[], float] = monotonic) -> None:
        self.control = control
        self._now = now
        self._left_s = dict.fromkeys(SIDES, control.base_s)
        self._running: str | None = None
        self._since = 0.0

    def start(self, side: str) -> None:
        """Start this side's clock unless one is running."""
        if self._running is None:
            self._running, self._since = side, self._now()

    def stop(self) -> None:
        """Stop both clocks."""
        if self._running is not None:
            self._left_s[self._running] = self.left_s(self._running)
            self._running = None

    def press(self) -> None:
        """End the move of the side whose clock runs: add its increment, start the other clock."""
        mover = self._running
        self.stop()
        if mover is not None:
            self._left_s[mover] += self.control.increment_s
            self.start(opponent_of(mover))

    def left_s(self, side: str) -> float:
        """Return the seconds left, negative after the flag fell."""
        elapsed = self._now() - self._since if side == self._running else 0.0
        return self._left_s[side] - elapsed

    def both_s(self) -> dict[str, float]:
        """Return the seconds left to each side."""
        return {side: self.left_s(side) for side in SIDES}

    def set_both(self, left_s: Mapping[str, float]) -> None:
        """Set both clocks and stop them."""
        self._left_s, self._running = dict(left_s), None


def clock_text(seconds: float) -> str:
    """Format as '4:05' or '1:00:00', with tenths below ten seconds: '0:09.3'."""
    seconds = max(0.0, seconds)
    if seconds < 10:
        return f"0:0{int(seconds * 10) / 10:.1f}"
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
