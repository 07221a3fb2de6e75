"""A perft in portions, between which it can be stopped.

Plain Python on purpose: between the portions Ctrl-C is heard, as it never is in compiled code.
"""

from collections.abc import Iterator

from engine.movegen import legal_moves
from engine.perft import perft
from engine.position import Position

PORTION_PLIES = 4                  # takes a fraction of a second


def portions(position: Position, depth: int) -> Iterator[int]:
    """What adds up to `perft`. Until the last portion is there the position is another."""
    if depth <= PORTION_PLIES:
        yield perft(position, depth)
        return
    for move in legal_moves(position):
        position.push(move)
        yield from portions(position, depth - 1)
        position.pop(move)
