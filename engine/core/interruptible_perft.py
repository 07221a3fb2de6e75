"""Interruptible perft: the count in portions.

Plain Python on purpose: Ctrl-C is handled between the portions, as it never is in compiled code.
"""

from collections.abc import Iterator

from engine.core.movegen import legal_moves
from engine.core.perft import perft
from engine.core.position import Position

PORTION_PLIES = 4                  # a fraction of a second


def portions(position: Position, depth: int) -> Iterator[int]:
    """Yield numbers that add up to `perft`. Until the last one, `position` is another position."""
    if depth <= PORTION_PLIES:
        yield perft(position, depth)
        return
    for move in legal_moves(position):
        position.push(move)
        yield from portions(position, depth - 1)
        position.pop(move)
