"""Known endings: who wins, and which way the bare king must go."""

import random
from pathlib import Path

import chess
import chess.syzygy
import pytest

from engine.core.fen import parse_fen
from engine.evaluation.evaluate import is_known
from engine.evaluation.kpk import won_positions
from engine.facade import Board, Engine, Limits, evaluation

DRAW = 0


@pytest.mark.parametrize(
    ("fen", "won"),
    [
        ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", True),      # king on the sixth before its pawn
        ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", True),
        ("8/4k3/8/4K3/4P3/8/8/8 w - - 0 1", False),     # the defender has the opposition
        ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1", True),
        ("k7/8/K7/P7/8/8/8/8 w - - 0 1", False),        # rook pawn
        ("8/8/8/8/8/k7/7P/7K w - - 0 1", True),         # outside the square of the pawn
        ("8/8/8/8/4k3/8/4P3/7K b - - 0 1", False),
        ("4k3/4P3/4K3/8/8/8/8/8 b - - 0 1", False),     # stalemate
        ("8/8/8/3K4/8/8/4Pk2/8 b - - 0 1", False),      # the pawn falls
    ],
)
def test_king_and_pawn_against_king(fen: str, won: bool) -> None:
    board = chess.Board(fen)
    for twin in (board, board.transform(chess.flip_horizontal)):
        assert (Board(twin.fen()).evaluate() > DRAW) == won
        assert (Board(twin.mirror().fen()).evaluate() < DRAW) == won


def test_king_and_pawn_positions_won_are_as_many_as_there_are() -> None:
    """111282 of the positions with the pawn on the files a to d are won, as is known. (chessprogramming wiki: KPK)"""
    assert won_positions() == 111282


def test_knight_and_bishop_drive_the_king_to_a_corner_of_the_bishop() -> None:
    light = Board("k7/8/8/8/3K4/3N4/4B3/8 w - - 0 1").evaluate()       # a8 is light, as is e2
    dark = Board("7k/8/8/8/4K3/4N3/4B3/8 w - - 0 1").evaluate()
    centre = Board("8/8/8/3k4/8/3K4/3NB3/8 w - - 0 1").evaluate()
    assert light > dark > centre > 700


@pytest.mark.parametrize("bishop", ["4B3", "3B4"])
def test_each_step_from_the_wrong_corner_to_the_right_one_scores_more(bishop: str) -> None:
    ranks = ["7k", "6k1", "5k2", "4k3", "3k4", "2k5", "1k6", "k7"]     # from h8, dark as d2, to a8, light as e2
    way = [Board(f"{rank}/8/8/8/8/8/{bishop}/KN6 w - - 0 1").evaluate() for rank in ranks]
    assert way == sorted(way, reverse=bishop == "3B4")
    assert len(set(way)) == len(way)


def test_a_bare_king_at_the_edge_with_the_other_near_is_closest_to_mate() -> None:
    centre = Board("8/8/8/3k4/8/8/8/R3K3 w - - 0 1").evaluate()
    edge = Board("3k4/8/8/8/8/8/8/R3K3 w - - 0 1").evaluate()
    near = Board("3k4/8/3K4/8/8/8/8/R7 w - - 0 1").evaluate()
    assert 1000 < centre < edge < near < 10000


def test_two_knights_cannot_force_mate() -> None:
    assert Board("4k3/8/8/8/8/8/8/1N2K1N1 w - - 0 1").evaluate() == DRAW


@pytest.mark.parametrize(
    ("fen", "drawn"),
    [
        ("7k/8/5K2/7P/8/3B4/8/8 w - - 0 1", True),
        ("6k1/8/6KP/7P/6B1/5B2/8/8 b - - 0 1", True),     # two pawns and two such bishops are no better
        ("6k1/8/5K1P/7P/8/8/8/8 w - - 0 1", True),        # nor are pawns alone
        ("7k/8/5K2/7P/8/4B3/8/8 w - - 0 1", False),       # the right bishop
        ("7k/8/5K2/6P1/8/3B4/8/8 w - - 0 1", False),      # another pawn
        ("8/5k2/8/5K1P/8/3B4/8/8 w - - 0 1", False),      # too far from the corner to be sure
        ("7k/8/5K2/7P/8/3BN3/8/8 w - - 0 1", False),
        ("7k/8/5K2/P6P/8/3B4/8/8 w - - 0 1", False),      # the other corner
    ],
)
def test_a_rook_pawn_whose_corner_the_bishop_does_not_attack(fen: str, drawn: bool) -> None:
    for twin in (chess.Board(fen), chess.Board(fen).transform(chess.flip_horizontal)):
        for board in (twin, twin.mirror()):
            assert is_known(parse_fen(board.fen())[0]) == drawn, board.fen()
            assert (Board(board.fen()).evaluate() == DRAW) == drawn, board.fen()


@pytest.mark.parametrize("ending", ["KBPvK", "KPPvK"])
def test_what_is_called_a_draw_before_the_corner_is_one(ending: str, tables: Path) -> None:
    rng = random.Random(ending)
    found = 0
    with chess.syzygy.open_tablebase(str(tables)) as base:
        while found < 250:
            board = chess.Board(None)
            file, other = rng.choice((0, 7)), ending[1]
            squares = {
                chess.Piece.from_symbol("P"): chess.square(file, rng.randint(1, 6)),
                chess.Piece.from_symbol("k"): rng.choice([square for square in chess.SQUARES if square >> 3 > 4]),
                chess.Piece.from_symbol("K"): rng.randrange(64),
            }
            for piece, square in squares.items():
                board.set_piece_at(square, piece)
            second = chess.square(file, rng.randint(1, 6)) if other == "P" else rng.randrange(64)
            board.set_piece_at(second, chess.Piece.from_symbol(other))
            board.turn = rng.random() < 0.5
            if board.is_valid() and len(board.piece_map()) == 4 and is_known(parse_fen(board.fen())[0]):
                assert base.probe_wdl(board) == 0, board.fen()
                found += 1


@pytest.mark.parametrize("fen", ["7k/8/5K2/7P/8/3B4/8/8 w - - 0 1", "8/8/8/4b1k1/8/8/6Kp/8 b - - 0 1"])
@pytest.mark.parametrize("choice", ["<shipped>", "none"])
def test_a_search_of_a_known_draw_believes_in_nothing_else(fen: str, choice: str) -> None:
    """Neither what corrections make of it nor a promoted rook that the lone king would take."""
    engine = Engine(hash_mb=1)
    engine.set_evaluation(choice)
    for depth in range(1, 13):
        engine.set_position(Board(fen))
        assert engine.go(Limits(depth=depth)).report.score_cp == DRAW, depth


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/4r3/R3KB2 w - - 0 1",             # rook and bishop against rook
        "4k3/8/8/5b2/3P4/8/3B4/4K3 w - - 0 1",          # bishops of opposite colours
    ],
)
def test_drawish_endings_count_for_less(fen: str) -> None:
    assert evaluation(Board(fen)).terms["drawishness"][1] < 0
