"""Exchanges: a slow version that plays them on python-chess's board gives the same gain."""

import chess
import pytest

from engine.core import params
from engine.core.fen import parse_fen
from engine.core.move import uci_text
from engine.core.movegen import legal_moves
from engine.core.see import exchange_wins
from tests.engine.positions import Start, random_games

VALUE = dict(zip(chess.PIECE_TYPES, params.EXCHANGE_VALUE, strict=True))


def recapture(board: chess.Board, target: chess.Square, side: chess.Color) -> int:
    """What the side gains at most by capturing on the square, always with its least valuable piece."""
    attackers = list(board.attackers(side, target))
    if not attackers:
        return 0
    origin = min(attackers, key=lambda square: (board.piece_type_at(square), square))
    piece = board.piece_at(origin)
    if piece.piece_type == chess.KING and board.attackers(not side, target):
        return 0
    gain = VALUE[board.piece_type_at(target) or chess.PAWN]
    after = board.copy(stack=False)
    after.remove_piece_at(origin)
    after.set_piece_at(target, piece)
    return max(0, gain - recapture(after, target, not side))


def exchange(board: chess.Board, move: chess.Move) -> int:
    """What the move gains once all captures on its square are done."""
    if board.is_castling(move):
        return 0
    victim = chess.PAWN if board.is_en_passant(move) else board.piece_type_at(move.to_square)
    gain = VALUE[victim] if victim else 0
    if move.promotion:
        gain += VALUE[move.promotion] - VALUE[chess.PAWN]
    after = board.copy(stack=False)
    after.push(move)
    return gain - recapture(after, move.to_square, after.turn)


def test_exchanges_of_random_games_equal_playing_them_out(start: Start) -> None:
    for board in random_games(count=2, plies=100, start=start, seed=81):
        position, _ = parse_fen(board.fen())
        for move in legal_moves(position):
            gain = exchange(board, board.parse_uci(uci_text(move)))
            assert [exchange_wins(position, move, gain + more) for more in (-1, 0, 1)] == [True, True, False], (
                board.fen(), uci_text(move), gain
            )


@pytest.mark.parametrize(
    ("fen", "move", "gain"),
    [
        pytest.param("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", 100, id="a pawn for nothing"),
        pytest.param("4k3/8/4p3/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", -400, id="a defended pawn"),
        pytest.param("3rk3/8/8/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5", 100, id="doubled rooks against one defender"),
        pytest.param("3qk3/3r4/8/3p4/8/8/3R4/3QK3 w - - 0 1", "d2d5", -400, id="rook and queen each"),
        pytest.param("8/8/3k4/3p4/4K3/8/8/3R4 w - - 0 1", "d1d5", 100, id="a king may not recapture what is defended"),
        pytest.param("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "d4e3", 100, id="en passant"),
        pytest.param("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", 850, id="promotion"),
    ],
)
def test_well_known_exchanges(fen: str, move: str, gain: int) -> None:
    position, _ = parse_fen(fen)
    packed = next(legal for legal in legal_moves(position) if uci_text(legal) == move)
    assert exchange_wins(position, packed, gain)
    assert not exchange_wins(position, packed, gain + 1)
