"""How facts about games are written in a terminal: tables, graphs, clocks and the numbers of moves."""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from lichessbot.log import inert
from lichessbot.storage.game_records import GameRecord

_BAR_WIDTH: Final = 20
_PLOT_HEIGHT: Final = 8
_PLOT_WIDTH: Final = 60


def table(rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> Iterator[str]:
    """Yield lines of aligned columns; the columns in `numbers` are flush right."""
    shown = [[inert(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = (
            cell.rjust(width) if index in numbers else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def can_be_shown(signs: str) -> bool:
    """Return whether standard output has these signs."""
    try:
        signs.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def bar(share: float) -> str:
    """Return a bar whose length is this share of the longest."""
    return ("█" if can_be_shown("█") else "#") * round(_BAR_WIDTH * share)


def plot(values: Sequence[float], low: float, high: float, lines: int = _PLOT_HEIGHT) -> Iterator[str]:
    """Yield the lines of a graph of the values, with labels from `low` to `high` at the left."""
    point, axis = "•│" if can_be_shown("•│") else "*|"
    width = min(_PLOT_WIDTH, len(values))
    columns = [values[(column + 1) * len(values) // width - 1] for column in range(width)]
    heights = [round((lines - 1) * (value - low) / (high - low)) for value in columns]
    for height in range(lines - 1, -1, -1):
        label = f"{low + (high - low) * height / (lines - 1):.0f}"
        points = "".join(point if it == height else " " for it in heights)
        yield f"{label:>6} {axis}{points}".rstrip()


def move_number(ply: int, initial_fen: str) -> str:
    """Return the number of a move as in notation: `23.` for White and `23...` for Black.

    `initial_fen` is empty for the usual start. Its last two numbers may be missing.
    """
    side, numbers = initial_fen.split()[1:2], [it for it in initial_fen.split()[4:] if it.isdecimal()]
    first = max(1, int(numbers[1])) if len(numbers) > 1 else 1
    moves, is_black = divmod(ply - 1 + (side == ["b"]), 2)
    return f"{first + moves}{'...' if is_black else '.'}"


def terms_text(game: GameRecord) -> str:
    """Return for example `3+2 rated`, or `3+2 casual atomic level 1500`; the level is ours."""
    mode = "rated" if game.rated else "casual"
    variant = "" if game.variant in ("standard", "") else f" {game.variant}"
    level = "" if game.level is None else f" level {game.level}"
    return f"{game.time_control} {mode}{variant}{level}"


def games_in_words(count: int) -> str:
    return "1 game" if count == 1 else f"{count:,} games"


def clock_text(ms: float | None) -> str:
    """Return a clock in minutes and seconds; empty if it is not known."""
    return "" if ms is None else f"{int(ms) // 60_000}:{int(ms) // 1000 % 60:02}"
