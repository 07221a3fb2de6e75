"""The position that a game of Lichess begins from, and what a player has beside the board."""

from engine.facade import Board
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.models import STANDARD_START

# In these Lichess writes castling as king takes rook, and so does a board in this mode.
_KING_TAKES_ROOK = (Variant.CHESS960, Variant.FROM_POSITION)


def start_board(variant: str, initial_fen: str) -> Board:
    """Return the start of a game by the rules of its variant, spelling moves as Lichess does.

    Lichess and our records name the variant's own start `startpos`, or not at all; records without a variant are of
    standard chess. Raises InvalidFen, and InvalidVariant for a variant that this version does not know.
    """
    fen = None if initial_fen in ("", STANDARD_START) else initial_fen
    return Board(fen, chess960=variant in _KING_TAKES_ROOK, variant=variant or Variant.STANDARD)


def holdings(board: Board, side: str) -> str:
    """Return what a side has beside the board: `QNPP` in its pocket, or `+2` checks given; mostly nothing."""
    checks = board.checks_given(side)
    return f"+{checks}" if checks else board.pocket(side).upper()
