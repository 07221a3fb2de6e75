"""Time controls: seconds for a game and per move."""

import re
from dataclasses import dataclass

IN_HEADER = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(?:\+(\d{1,6}(?:\.\d{1,6})?)?)?")


@dataclass(frozen=True)
class TimeControl:
    """Seconds per side, and seconds gained per move."""

    base_s: float
    increment_s: float

    def __str__(self) -> str:
        return f"{self.base_s:g}+{self.increment_s:g}"


def parse_minutes(text: str) -> TimeControl:
    """Read '5+3' as five minutes and three seconds per move; '5' has no increment. Raises ValueError."""
    return _parse(text, 60, "minutes and seconds per move such as 5+3")


def parse_seconds(text: str) -> TimeControl:
    """Read '8+0.08' as seconds and seconds per move; '8' has no increment. Raises ValueError."""
    return _parse(text, 1, "seconds such as 8+0.08")


def parse_header(text: str) -> TimeControl | None:
    """Read PGN's TimeControl header '300+3', also with parts of a second; None for its other forms."""
    found = IN_HEADER.fullmatch(text)
    if found is None or float(found[1]) == 0:
        return None
    return TimeControl(float(found[1]), float(found[2] or 0))


def _parse(text: str, unit_s: int, expected: str) -> TimeControl:
    base, _, increment = text.partition("+")
    try:
        control = TimeControl(float(base) * unit_s, float(increment or 0))
    except ValueError:
        control = TimeControl(0, 0)
    if not (0 < control.base_s <= 86_400 and 0 <= control.increment_s <= 3600):
        raise ValueError(f"expected {expected}, found {text[:40]!r}")
    return control
