"""Known endings: who wins, and which way the bare king must go."""

import chess
import pytest

from engine.facade import Board, evaluation
from engine.kpk import kpk_counts

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
    assert kpk_counts()["won"] == 111282


def test_knight_and_bishop_drive_the_king_to_a_corner_of_the_bishop() -> None:
    light = Board("k7/8/8/8/3K4/3N4/4B3/8 w - - 0 1").evaluate()       # a8 is light, as is e2
    dark = Board("7k/8/8/8/4K3/4N3/4B3/8 w - - 0 1").evaluate()
    centre = Board("8/8/8/3k4/8/3K4/3NB3/8 w - - 0 1").evaluate()
    assert light > dark > 700
    assert light > centre


def test_a_bare_king_at_the_edge_with_the_other_near_is_closest_to_mate() -> None:
    centre = Board("8/8/8/3k4/8/8/8/R3K3 w - - 0 1").evaluate()
    edge = Board("3k4/8/8/8/8/8/8/R3K3 w - - 0 1").evaluate()
    near = Board("3k4/8/3K4/8/8/8/8/R7 w - - 0 1").evaluate()
    assert 1000 < centre < edge < near < 10000


def test_two_knights_cannot_force_mate() -> None:
    assert Board("4k3/8/8/8/8/8/8/1N2K1N1 w - - 0 1").evaluate() == DRAW


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/4r3/R3KB2 w - - 0 1",             # rook and bishop against rook
        "4k3/8/8/5b2/3P4/8/3B4/4K3 w - - 0 1",          # bishops of opposite colours
    ],
)
def test_drawish_endings_count_for_less(fen: str) -> None:
    assert evaluation(Board(fen)).terms["drawishness"][1] < 0
