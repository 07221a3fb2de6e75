"""Legal moves: the known leaf counts, and python-chess on random games."""

import chess
import pytest

from engine.fen import parse_fen
from engine.movegen import legal_move_texts
from engine.perft import divide, perft
from tests.engine.positions import PERFT, random_games


@pytest.mark.parametrize("fen", PERFT)
def test_perft_equals_the_known_counts(fen: str) -> None:
    position, _ = parse_fen(fen)
    before = position.state()
    for depth, count in enumerate(PERFT[fen], 1):
        assert perft(position, depth) == count
        assert position.state() == before


def test_counting_in_bulk_and_making_every_leaf_agree() -> None:
    for fen, counts in PERFT.items():
        assert perft(parse_fen(fen)[0], 3, bulk=False) == counts[2]


def test_divide_splits_the_count_by_first_move() -> None:
    counts = divide(parse_fen(chess.STARTING_FEN)[0], 3)
    assert len(counts) == 20
    assert sum(counts.values()) == 8902
    assert counts["e2e4"] == 600


def test_legal_moves_equal_those_of_python_chess_in_random_games(chess960: bool) -> None:
    for board in random_games(count=60, plies=120, chess960=chess960, seed=11):
        position, _ = parse_fen(board.fen())
        expected = sorted(board.uci(move, chess960=True) for move in board.legal_moves)
        assert sorted(legal_move_texts(position)) == expected, board.fen()


@pytest.mark.long
def test_legal_moves_equal_those_of_python_chess_in_many_random_games(chess960: bool) -> None:
    for board in random_games(count=1500, plies=200, chess960=chess960, seed=12):
        position, _ = parse_fen(board.fen())
        expected = sorted(board.uci(move, chess960=True) for move in board.legal_moves)
        assert sorted(legal_move_texts(position)) == expected, board.fen()


@pytest.mark.parametrize(
    ("fen", "moves", "absent"),
    [
        pytest.param("8/8/8/K1pP3q/8/8/8/4k3 w - c6 0 1", (), ("d5c6",), id="en passant pinned on the rank"),
        pytest.param("4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 1", ("d5c6",), (), id="en passant"),
        pytest.param("8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1", ("e4d3",), (), id="en passant takes the checker"),
        pytest.param("4k3/8/8/8/8/8/8/qR1K3R w H - 0 1", ("d1h1",), (), id="short castling, rook h1"),
        pytest.param("4k3/8/8/8/8/8/8/qR1K4 w B - 0 1", (), ("d1b1",), id="castling bares the king on the rank"),
        pytest.param("4k3/8/8/8/8/5r2/8/4K2R w K - 0 1", (), ("e1h1",), id="castling through check"),
        pytest.param("4k3/8/8/8/8/1r6/8/R3K3 w Q - 0 1", ("e1a1",), (), id="only the rook passes an attacked square"),
        pytest.param("3rk3/8/8/8/8/8/8/4K2R w K - 0 1", ("e1h1",), (), id="castling beside an attack"),
    ],
)
def test_special_moves(fen: str, moves: tuple[str, ...], absent: tuple[str, ...]) -> None:
    legal = legal_move_texts(parse_fen(fen)[0])
    assert set(moves) <= set(legal)
    assert not set(absent) & set(legal)


def test_the_position_with_most_legal_moves_fits_the_list() -> None:
    position, _ = parse_fen("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1")
    assert len(legal_move_texts(position)) == 218
