"""Named styles: python-chess sees the same features, the bonus is fair to both colours, and it shows in the search."""

from math import comb

import chess
import pytest

from engine.core.fen import parse_fen
from engine.evaluation.style import StyleName, bonus_of
from engine.evaluation.style_bonus import FEATURES, StyleBonus, seen
from engine.facade import NAMED_STYLES, Board, Engine, Limits
from tests.engine.positions import Start, random_games

MIDDLEGAME = "r1bq1rk1/ppp2ppp/2np1n2/4p1N1/2B1P3/3P4/PPP2PPP/RNBQ1RK1 w - - 0 8"
VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
# White is a bishop down, and can trade queens.
TRADE = "r2q1rk1/ppp2ppp/2n1bn2/8/8/2N2N2/PPP2PPP/R2Q1RK1 w - - 0 12"


def boards() -> list[chess.Board]:
    return list(random_games(count=8, plies=120, start=Start.STANDARD, seed=4))[::9]


def expected(board: chess.Board, us: chess.Color) -> dict[str, int]:
    """What python-chess finds."""
    king = board.king(not us)
    zone = chess.SquareSet(chess.BB_KING_ATTACKS[king] | chess.BB_SQUARES[king])
    pieces = {square: piece for square, piece in board.piece_map().items() if piece.color == us}
    minors = {square for square, piece in pieces.items() if piece.piece_type in (chess.KNIGHT, chess.BISHOP)}
    rank = 0 if us else 7
    knights, bishops = board.pieces(chess.KNIGHT, us), board.pieces(chess.BISHOP, us)
    home = {square for square in knights if square in (chess.square(1, rank), chess.square(6, rank))}
    home |= {square for square in bishops if square in (chess.square(2, rank), chess.square(5, rank))}
    castled = board.king(us) in [chess.square(file, rank) for file in (0, 1, 2, 6)]
    pawns = board.pieces(chess.PAWN, us)
    near = [pawn for pawn in pawns if abs(chess.square_file(pawn) - chess.square_file(king)) <= 1]
    return {
        "attackers": sum(
            bool(board.attacks(square) & zone)
            for square, piece in pieces.items()
            if piece.piece_type not in (chess.PAWN, chess.KING)
        ),
        "storm": sum(chess.square_rank(pawn) - 1 if us else 6 - chess.square_rank(pawn) for pawn in near),
        "material": sum(VALUES[piece.piece_type] for piece in pieces.values()),
        "queens": len(board.pieces(chess.QUEEN, True) | board.pieces(chess.QUEEN, False)),
        "centre": len(pawns & chess.SquareSet(chess.BB_CENTER)),
        "development": len(minors - home) + 3 * castled,
    }


def test_python_chess_sees_the_same_features() -> None:
    for board in boards():
        position, _ = parse_fen(board.fen())
        for side, us in enumerate((chess.WHITE, chess.BLACK)):
            assert seen(position, side) == expected(board, us), board.fen()


def test_each_weight_counts_its_feature() -> None:
    for board in boards():
        position, _ = parse_fen(board.fen())
        for side, us in enumerate((chess.WHITE, chess.BLACK)):
            ours, theirs = expected(board, us), expected(board, not us)
            ahead, rival = (8 if us else -8), chess.Piece(chess.PAWN, not us)
            units = {
                "attackers": comb(ours["attackers"], 2),
                "storm": ours["storm"],
                "danger": comb(theirs["attackers"], 2),
                "sacrifice": max(0, min(4, theirs["material"] - ours["material"])),
                "pieces_off": 16 - (board.occupied & ~board.pawns).bit_count(),
                "queens_off": int(ours["queens"] == 0),
                "centre": ours["centre"],
                "development": ours["development"],
                "blocked": sum(board.piece_at(pawn + ahead) == rival for pawn in board.pieces(chess.PAWN, us)),
            }
            sign = 1 if board.turn == us else -1
            found = {name: sign * StyleBonus({name: 1}).add(0, position, side) for name in FEATURES}
            assert found == units, board.fen()


def test_a_bonus_is_bounded_and_makes_no_known_win() -> None:
    position, _ = parse_fen(MIDDLEGAME)
    for sign in (-1, 1):
        bonus = StyleBonus({"centre": sign * 1000})
        assert bonus.add(0, position, 0) == sign * 300
        assert bonus.add(sign * 3900, position, 0) == sign * 4000


@pytest.mark.parametrize("name", StyleName)
def test_a_bonus_is_the_same_for_both_colours_and_either_to_move(name: StyleName) -> None:
    bonus = bonus_of(name)
    for board in boards():
        position, mirrored = parse_fen(board.fen())[0], parse_fen(board.mirror().fen())[0]
        for score in (-400, -70, 0, 120):
            assert bonus.add(score, position, 0) == bonus.add(score, mirrored, 1), board.fen()
            assert abs(bonus.add(score, position, 0) - score) <= 300


def test_the_side_of_the_style_likes_what_its_opponent_fears() -> None:
    position, _ = parse_fen(MIDDLEGAME)
    bonus = StyleBonus({"attackers": 10})
    assert seen(position, 0)["attackers"] == 2             # the knight and the bishop at f7
    assert bonus.add(35, position, 0) == 45
    assert bonus.add(35, position, 1) == 35                # Black attacks nothing
    black_to_move, _ = parse_fen(MIDDLEGAME.replace(" w ", " b "))
    assert bonus.add(35, black_to_move, 0) == 25


def test_the_swindler_wakes_up_when_worse() -> None:
    position, _ = parse_fen(MIDDLEGAME)
    bonus = bonus_of(StyleName.SWINDLER)
    assert [bonus.add(score, position, 0) for score in (0, 80)] == [0, 80]
    # Two attackers are a pair, and one bishop has left the board.
    assert [bonus.add(score, position, 0) for score in (-75, -150, -300)] == [-75 + 52, -150 + 105, -300 + 105]


def test_a_sacrifice_must_not_lose() -> None:
    position, _ = parse_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1")
    bonus = StyleBonus({"sacrifice": 50})
    assert [bonus.add(score, position, 0) - score for score in (30, 0, -75, -150, -400)] == [50, 50, 25, 0, 0]
    assert bonus.add(30, position, 1) == 30                # Black has sacrificed nothing


def test_a_feature_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KeyError, match="courage"):
        StyleBonus({"courage": 50})


@pytest.mark.parametrize("name", NAMED_STYLES)
def test_a_style_keeps_the_network_and_leaves_no_trace(name: str) -> None:
    engine = Engine(hash_mb=1)
    engine.set_position(Board(MIDDLEGAME))

    def nodes() -> int:
        return engine.go(Limits(depth=7)).report.nodes

    before, evaluation = nodes(), engine.describe_evaluation()
    engine.set_named_style(name)
    assert engine.describe_evaluation() == f"{evaluation}, style {name}"
    nodes()
    engine.set_named_style(None)
    assert nodes() == before


@pytest.mark.parametrize(("style", "trades"), [("endgame", True), ("swindler", False)])
def test_the_worse_side_avoids_the_trade_of_queens_in_one_style_only(style: str, trades: bool) -> None:
    engine = Engine(hash_mb=4)
    engine.set_named_style(style)
    engine.set_position(Board(TRADE))
    assert (engine.go(Limits(nodes=20_000)).best_move == "d1d8") is trades


def test_the_table_forgets_the_bonus_of_the_other_side_only() -> None:
    engine, fresh = Engine(hash_mb=1), Engine(hash_mb=1)
    board = Board(MIDDLEGAME)
    for each in (engine, fresh):
        each.set_named_style("attacker")
    engine.set_position(board)
    engine.go(Limits(depth=6))
    board.push("g5f3")
    nodes = []
    for each in (engine, fresh, engine):
        each.set_position(board)
        nodes.append(each.go(Limits(depth=6)).report.nodes)
    assert nodes[0] == nodes[1] > 2 * nodes[2]
