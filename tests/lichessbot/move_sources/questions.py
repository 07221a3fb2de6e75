"""Questions to move sources."""

from engine.facade import STARTING_FEN, Board
from lichessbot.lichess.enums import Variant
from lichessbot.move_sources.models import Question

ROOK_ENDING = "8/8/8/4k3/8/8/4K3/4R3 w - - 0 1"


def question(
    *moves: str,
    fen: str = STARTING_FEN,
    variant: Variant = Variant.STANDARD,
    remaining_s: float | None = 300.0,
    initial_s: float | None = 300.0,
    patience_s: float = 10.0,
) -> Question:
    """Return a question about the position after `moves`."""
    board = Board(fen, chess960=variant is not Variant.STANDARD)
    for move in moves:
        board.push(move)
    return Question(1, variant.value, board, remaining_s, initial_s, patience_s)
