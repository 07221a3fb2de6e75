"""FEN in and out: python-chess agrees on good ones, each bad one is refused with its reason."""

import chess
import pytest

from engine.facade import Board, InvalidFen


def test_an_inner_castling_rook_is_named_by_its_file() -> None:
    fen = "1k5r/8/8/8/8/8/8/R2RK3 w D - 0 1"
    assert Board(fen).fen() == fen
    assert chess.Board(fen, chess960=True).fen() == fen


def test_clocks_may_be_missing() -> None:
    assert Board("4k3/8/8/8/8/8/8/4K3 w - -").fen() == "4k3/8/8/8/8/8/8/4K3 w - - 0 1"


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("", "expected 4 to 6 fields"),
        ("8/8/8/8/8/8/8 w - - 0 1", "expected 8 ranks, found 7"),
        ("4k3/8/8/8/8/8/8/4K4 w - - 0 1", "rank 1 has 9 squares"),
        ("4k3/8/8/8/8/8/8/4X3 w - - 0 1", "unknown piece 'X' on rank 1"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "expected w or b"),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "Black has 0 kings"),
        ("4k3/8/8/8/8/8/8/K3K3 w - - 0 1", "White has 2 kings"),
        ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "pawn on the first or last rank"),
        ("4k3/8/8/8/PPPPPPPP/P7/8/4K3 w - - 0 1", "9 pawns"),
        ("4k3/8/8/8/PPPPPPPP/8/QQQQQQQQ/4K3 w - - 0 1", "17 pieces and pawns"),
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "side not to move is in check"),
        ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", "no rook to castle with"),
        ("4k3/8/8/8/8/8/4K3/7R w K - 0 1", "the king is on e2"),
        ("4k3/8/8/8/8/8/8/4K2R w Z - 0 1", "unknown castling right 'Z'"),
        ("4k3/8/8/8/8/8/8/4KR1R w FH - 0 1", "two castling rights"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "no pawn has just made a double step"),
        ("4k3/8/8/8/8/8/8/4K3 w - e3 0 1", "wrong rank"),
        ("4k3/8/8/8/8/8/8/4K3 w - xx 0 1", "expected an en passant square"),
        ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "halfmove clock"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 -3", "fullmove number"),
        ("4k3/8/8/1B1R4/8/4R3/8/3K4 b - - 0 1", ""),
        ("4k3/3R4/8/1b6/8/4R3/8/R3K3 b - - 0 1", ""),
    ],
)
def test_bad_fen_is_refused_with_its_reason(fen: str, reason: str) -> None:
    if not reason:
        assert Board(fen).is_check() == chess.Board(fen).is_check()
        return
    with pytest.raises(InvalidFen) as caught:
        Board(fen)
    assert reason in str(caught.value)
    assert repr(fen) in str(caught.value)
