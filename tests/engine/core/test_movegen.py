"""Legal moves: special ones, and how many there can be at most."""

import random
import re
from pathlib import Path

import chess
import pytest

import engine
from engine.core.fen import InvalidFen, parse_fen
from engine.core.move import uci_text
from engine.core.movegen import attacked_squares, is_legal, legal_moves
from tests.engine.positions import Start, random_games

ENGINE = Path(engine.__file__).parent
MOVE_LIST = re.compile(r"moves = cython\.declare\(cython\.int\[(\w+)\]\)")


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
    legal = [uci_text(move) for move in legal_moves(parse_fen(fen)[0])]
    assert set(moves) <= set(legal)
    assert not set(absent) & set(legal)


def test_the_position_with_most_legal_moves_fits_the_list() -> None:
    position, _ = parse_fen("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1")
    assert len(legal_moves(position)) == 218


def most_on_lines(lengths: list[int], sliders: int) -> int:
    """No more moves along these lines, whatever else stands there.

    Every square of a line is reached at most once from either side, and the only slider of a line is on one side:
    one slider has at most length - 1 moves, m of them 2 * (length - m). So the first adds length - 1, the second
    length - 3, and a third nothing.
    """
    gains = sorted((gain for length in lengths for gain in (length - 1, length - 3) if gain > 0), reverse=True)
    return sum(gains[:sliders])


def most_moves(pawns: int, knights: int, bishops: int, rooks: int, queens: int) -> int:
    """A side with these pieces and its king never has more moves: three captures with four promotions for a pawn."""
    diagonals = [*range(1, 9), *range(1, 8)]
    straight = 2 * most_on_lines([8] * 8, rooks + queens)
    diagonal = 2 * most_on_lines(diagonals, bishops + queens)
    king, castling = 8, 2
    return straight + diagonal + 8 * knights + 12 * pawns + king + castling


def test_a_move_from_elsewhere_is_played_only_where_it_is_legal(start: Start) -> None:
    """All 65,536 numbers that could stand in the table, on positions of random games."""
    for index, board in enumerate(random_games(count=2, plies=100, start=start, seed=17)):
        if index % 12 == 0:
            position, _ = parse_fen(board.fen())
            assert [move for move in range(65536) if is_legal(position, move)] == sorted(legal_moves(position))


def test_no_accepted_position_can_overflow_a_move_list() -> None:
    """`fen.py` lets in at most 15 pieces and pawns beside the king, and moves keep it so."""
    bound = max(
        most_moves(pawns, knights, bishops, rooks, 15 - pawns - knights - bishops - rooks)
        for pawns in range(9)
        for knights in range(16 - pawns)
        for bishops in range(16 - pawns - knights)
        for rooks in range(16 - pawns - knights - bishops)
    )
    most = re.search(r"MAX_MOVES = (\d+)", (ENGINE / "core" / "movegen.pxd").read_text())
    assert bound <= int(most[1])
    lists = [size for path in ENGINE.rglob("*.py") for size in MOVE_LIST.findall(path.read_text())]
    assert len(lists) > 15
    assert set(lists) == {"MAX_MOVES", "MAX_VARIANT_MOVES"}


def test_a_search_for_many_moves_stays_within_the_bound() -> None:
    """From a random board of nine queens, move one piece at a time as long as that adds moves."""
    rng = random.Random(91)
    best = 0
    for _ in range(3):
        squares = rng.sample(range(64), 17)
        count = count_moves(squares)
        for _ in range(1500):
            trial = list(squares)
            trial[rng.randrange(17)] = rng.choice([square for square in range(64) if square not in squares])
            if (more := count_moves(trial)) >= count:
                squares, count = trial, more
        best = max(best, count)
    assert 150 < best <= 218


def count_moves(squares: list[int]) -> int:
    """The legal moves of White's nine queens and pieces against a bare king, 0 if the position is refused."""
    board = ["1"] * 64
    for piece, square in zip("QQQQQQQQQRRBBNNKk", squares, strict=True):
        board[square] = piece
    try:
        position, _ = parse_fen("/".join("".join(board[row : row + 8]) for row in range(56, -1, -8)) + " w - - 0 1")
    except InvalidFen:
        return 0
    return len(legal_moves(position))


def test_all_squares_attacked_are_those_that_some_piece_attacks(start: Start) -> None:
    for board in random_games(count=4, plies=120, start=start, seed=86):
        position, _ = parse_fen(board.fen())
        for number, colour in enumerate((chess.WHITE, chess.BLACK)):
            expected = chess.SquareSet()
            for square in chess.SquareSet(board.occupied_co[colour]):
                expected |= board.attacks(square)
            assert attacked_squares(position, number, board.occupied) == int(expected), board.fen()
