"""Draws curves as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 20, 40, 50          # margins
BESIDE = 290                       # the right margin with a legend in it
FONT = 'font-family="sans-serif" font-size="12"'
GRID = "#dddddd"


@dataclass(frozen=True)
class Curve:
    """A named series of points; a single point is drawn as a horizontal line."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axes:
    """The name of the x axis, whether the y axis is logarithmic or goes from 0 to 1, and where the legend stands."""

    across: str
    logarithmic: bool
    legend_beside: bool = False    # on the right of the curves; else above them


LOSSES = Axes("positions seen", logarithmic=True)


def svg(title: str, curves: Sequence[Curve], axes: Axes = LOSSES) -> str:
    """Draw curves, at least one of them with two points."""
    across = max(x for curve in curves for x, _ in curve.points)
    heights = [y for curve in curves for _, y in curve.points]
    right = WIDTH - (BESIDE if axes.legend_beside else RIGHT)
    if axes.logarithmic:
        scale = _Scale(across, right, log10(min(heights)) - 0.02, log10(max(heights)) + 0.02, logarithmic=True)
    else:
        scale = _Scale(across, right, 0.0, 1.0, logarithmic=False)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
        *(line for height in scale.grid() for line in _grid_line(scale, height)),
        f'<text x="{right}" y="{HEIGHT - 12}" text-anchor="end">{across:,.0f} {axes.across}</text>',
        *(line for number, curve in enumerate(curves) for line in _drawn(scale, axes, curve, number)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


@dataclass(frozen=True)
class _Scale:
    """Maps numbers to places in the picture."""

    across: float
    right: float                   # where the x axis ends
    low: float                     # decimal logarithms, if the scale is logarithmic
    high: float
    logarithmic: bool

    def x(self, value: float) -> float:
        return LEFT + (self.right - LEFT) * value / self.across

    def y(self, height: float) -> float:
        place = log10(height) if self.logarithmic else height
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - place) / (self.high - self.low)

    def grid(self) -> list[float]:
        """Return the heights of the grid lines: round numbers, or tenths of a linear scale."""
        if not self.logarithmic:
            return [self.high * part / 10 for part in range(11)]
        powers = range(floor(self.low), ceil(self.high) + 1)
        steps = [10**power * digit / 10 for power in powers for digit in range(10, 100)]
        inside = [height for height in steps if self.low <= log10(height) <= self.high]
        return inside[:: max(1, len(inside) // 6)]


def _grid_line(scale: _Scale, height: float) -> list[str]:
    y = scale.y(height)
    return [
        f'<line x1="{LEFT}" x2="{scale.right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>',
        f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{height:.4g}</text>',
    ]


def _drawn(scale: _Scale, axes: Axes, curve: Curve, number: int) -> list[str]:
    """Draw a curve and its entry in the legend."""
    points = list(curve.points)
    if len(points) == 1:
        points = [(0.0, points[0][1]), (scale.across, points[0][1])]
    path = " ".join(f"{scale.x(seen):.1f},{scale.y(loss):.1f}" for seen, loss in points)
    dashes = ' stroke-dasharray="6 4"' if len(curve.points) == 1 else ""
    x, y = WIDTH - RIGHT - 220 if scale.logarithmic else LEFT + 20, TOP + 14 + 18 * number
    if axes.legend_beside:
        x = WIDTH - BESIDE + 20
    last = f" {curve.points[-1][1]:.5f}" if scale.logarithmic else ""
    return [
        f'<polyline points="{path}" fill="none" stroke="{curve.colour}" stroke-width="2"{dashes}/>',
        f'<line x1="{x}" x2="{x + 24}" y1="{y - 4}" y2="{y - 4}" stroke="{curve.colour}" stroke-width="2"{dashes}/>',
        f'<text x="{x + 30}" y="{y}">{escape(curve.name)}{last}</text>',
    ]
