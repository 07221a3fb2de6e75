"""Positions as Lichess tells them: where a game begins, what a player has beside the board, and how it ended."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from engine.facade import Board, InvalidMove
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.models import STANDARD_START, GameInfo

# In these Lichess writes castling as king takes rook, and so does a board in this mode.
_KING_TAKES_ROOK = (Variant.CHESS960, Variant.FROM_POSITION)


def start_board(variant: str, initial_fen: str) -> Board:
    """Return the start of a game by the rules of its variant, spelling moves as Lichess does.

    Lichess and our records name the variant's own start `startpos`, or not at all; records without a variant are of
    standard chess. Raises InvalidFen, and InvalidVariant for a variant that this version does not know.
    """
    fen = None if initial_fen in ("", STANDARD_START) else initial_fen
    return Board(fen, chess960=variant in _KING_TAKES_ROOK, variant=variant or Variant.STANDARD)


def line_in_san(board: Board, line: Sequence[str]) -> Iterator[str]:
    """Yield the moves of a line in SAN, as far as they are legal: an engine may report anything."""
    board = board.copy(moves=False)
    for move in line:
        try:
            san = board.san(move)
            board.push(move)
        except InvalidMove:
            return
        yield san


def plies_in_common(moves: Iterable[str], others: Iterable[str]) -> int:
    """Return how many moves both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(moves, others, strict=False)))


def holdings(board: Board, side: str) -> str:
    """Return what a side has beside the board: `QNPP` in its pocket, or `+2` checks given; mostly nothing."""
    checks = board.checks_given(side)
    return f"+{checks}" if checks else board.pocket(side).upper()


def missing_moves(board: Board, end: GameInfo, sent: str | None) -> tuple[str, ...]:
    """Return the moves of a game that is over that `board` lacks: its last one, and perhaps ours before, as `sent`.

    The two streams of a game come in any order: `end` may be here before our move and a quick answer to it.
    """
    for ours in ((sent,), ()) if sent is not None else ((),):
        try:
            before = board.after(*ours)
        except InvalidMove:
            continue
        for last in _moves_between(before, end.last_move):
            if _placement(before.fen()) != _placement(end.fen) == _placement(before.after(last).fen()):
                return *ours, last
    return ()


def _moves_between(board: Board, squares: str) -> Iterator[str]:
    """Yield the legal moves that an event may mean: of a promotion it tells only the squares, of a drop one twice."""
    try:
        yield board.normalise(squares)
    except InvalidMove:
        yield from (it for it in board.legal_moves() if (2 * it[2:] if "@" in it else it[:4]) == squares)


def _placement(fen: str) -> list[str]:
    """Return the ranks of a FEN without pockets and marks of promoted pieces, which servers write differently."""
    return re.sub(r"\[.*|~", "", fen.partition(" ")[0]).split("/")[:8]
