"""Questions to move sources."""

from collections.abc import Callable
from typing import TypeVar

from engine.facade import STARTING_FEN, Board
from lichessbot.errors import Unreachable
from lichessbot.lichess.enums import Variant
from lichessbot.move_sources.models import Question

ROOK_ENDING = "8/8/8/4k3/8/8/4K3/4R3 w - - 0 1"
T = TypeVar("T")


def question(
    *moves: str,
    fen: str = STARTING_FEN,
    variant: Variant = Variant.STANDARD,
    remaining_s: float | None = 300.0,
    initial_s: float | None = 300.0,
    patience_s: float = 10.0,
) -> Question:
    """Return a question about the position after `moves`."""
    board = Board(fen, chess960=variant is not Variant.STANDARD).after(*moves)
    return Question(1, variant.value, board, remaining_s, initial_s, patience_s)


def in_time(ask: Callable[[float], T]) -> T:
    """Return the answer to a question within a few seconds, or within more if a busy machine read nothing in them."""
    for seconds in (1.0, 10.0):
        try:
            return ask(seconds)
        except Unreachable:
            continue
    return ask(60.0)
