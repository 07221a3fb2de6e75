"""Draws curves as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 960, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 320, 40, 50         # margins; the legend is in the right one
FONT = 'font-family="sans-serif" font-size="12"'
GRID = "#dddddd"


@dataclass(frozen=True)
class Curve:
    """A named series of points; a single point is drawn as a horizontal line."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]


def svg(title: str, curves: Sequence[Curve], across: str, *, logarithmic: bool = False) -> str:
    """Draw curves, at least one of them with two points.

    `across` names the x axis. The y axis is logarithmic, or goes from 0 to 1.
    """
    scale = _Scale(curves, logarithmic)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
        *(line for height in scale.grid() for line in _grid_line(scale, height)),
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 12}" text-anchor="end">{scale.widest:,.0f} {across}</text>',
        *(line for number, curve in enumerate(curves) for line in _drawn(scale, curve, number)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Scale:
    """Maps numbers to places in the picture."""

    def __init__(self, curves: Sequence[Curve], logarithmic: bool) -> None:
        heights = [y for curve in curves for _, y in curve.points]
        self.widest = max(x for curve in curves for x, _ in curve.points)
        self.logarithmic = logarithmic
        self._low, self._high = 0.0, 1.0
        if logarithmic:
            self._low, self._high = log10(min(heights)) - 0.02, log10(max(heights)) + 0.02

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - RIGHT - LEFT) * value / self.widest

    def y(self, height: float) -> float:
        place = log10(height) if self.logarithmic else height
        return TOP + (HEIGHT - TOP - BOTTOM) * (self._high - place) / (self._high - self._low)

    def grid(self) -> list[float]:
        """Return the heights of the grid lines: round numbers, or tenths of a linear scale."""
        if not self.logarithmic:
            return [part / 10 for part in range(11)]
        powers = range(floor(self._low), ceil(self._high) + 1)
        steps = [10**power * digit / 10 for power in powers for digit in range(10, 100)]
        inside = [height for height in steps if self._low <= log10(height) <= self._high]
        return inside[:: max(1, len(inside) // 6)]


def _grid_line(scale: _Scale, height: float) -> list[str]:
    y = scale.y(height)
    return [
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>',
        f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{height:.4g}</text>',
    ]


def _drawn(scale: _Scale, curve: Curve, number: int) -> list[str]:
    """Draw a curve and its entry in the legend."""
    points = list(curve.points)
    if len(points) == 1:
        points = [(0.0, points[0][1]), (scale.widest, points[0][1])]
    path = " ".join(f"{scale.x(seen):.1f},{scale.y(loss):.1f}" for seen, loss in points)
    dashes = ' stroke-dasharray="6 4"' if len(curve.points) == 1 else ""
    x, y = WIDTH - RIGHT + 20, TOP + 14 + 18 * number
    last = f" {curve.points[-1][1]:.5f}" if scale.logarithmic else ""
    return [
        f'<polyline points="{path}" fill="none" stroke="{curve.colour}" stroke-width="2"{dashes}/>',
        f'<line x1="{x}" x2="{x + 24}" y1="{y - 4}" y2="{y - 4}" stroke="{curve.colour}" stroke-width="2"{dashes}/>',
        f'<text x="{x + 30}" y="{y}">{escape(curve.name)}{last}</text>',
    ]
