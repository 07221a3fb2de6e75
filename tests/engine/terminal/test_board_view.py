"""The board as text."""

import io

import pytest
from rich.console import Console

from engine.accuracy import Score
from engine.facade import Board
from engine.terminal.board_view import CHECK, BoardView, Theme, captured, draw

PLAIN = Theme(unicode=True, colour=False)
ASCII = Theme(unicode=False, colour=False)


def drawn(view: BoardView, theme: Theme = ASCII) -> list[str]:
    return draw(view, theme).plain.splitlines()


def test_the_board_is_drawn_from_either_side() -> None:
    above, below = drawn(BoardView(Board())), drawn(BoardView(Board(), white_below=False))
    assert above[0] == " 8  r  n  b  q  k  b  n  r "
    assert above[7] == " 1  R  N  B  Q  K  B  N  R "
    assert below[0] == " 1  R  N  B  K  Q  B  N  R "
    assert below[8].split() == list("hgfedcba")


def test_a1_is_dark_and_h1_light() -> None:
    text = draw(BoardView(Board()), Theme(unicode=True, colour=True))
    grounds = [str(span.style).split(" on ")[1] for span in text.spans if " on " in str(span.style)]
    brightness = [int(ground[1:3], 16) for ground in grounds]
    assert len(grounds) == 64
    a8, a1, h1 = brightness[0], brightness[56], brightness[63]
    assert a1 < h1 == a8
    assert [brightness[8 * row + column] == a8 for row in range(8) for column in range(8)] == [
        (row + column) % 2 == 0 for row in range(8) for column in range(8)
    ]


def test_the_last_move_and_the_targets_are_marked() -> None:
    board = Board().after("e2e4")
    assert drawn(BoardView(board))[4] == " 4  .  .  .  . [P] .  .  . "
    assert drawn(BoardView(board))[6] == " 2  P  P  P  P [.] P  P  P "
    assert drawn(BoardView(board, targets={"e7", "e6"}))[1] == " 7  p  p  p  p (p) p  p  p "
    assert drawn(BoardView(board, targets={"e7", "e6"}))[2] == " 6  .  .  .  .  *  .  .  . "


def test_the_evaluation_bar_grows_from_whites_side() -> None:
    whites_rows = {Score(0): 4, Score(300): 6, Score(-10**9): 0, Score(mate=3): 8, Score(mate=-1): 0}
    for white_below in (True, False):
        for white_score, rows in whites_rows.items():
            lines = drawn(BoardView(Board(), white_below, white_score))[:8]
            white = [line[0] == "#" for line in lines]
            assert sum(white) == rows
            assert white == sorted(white, reverse=not white_below)
    assert drawn(BoardView(Board(), white_score=Score(31)))[8].endswith(" h   +0.31")


@pytest.mark.parametrize(
    ("fen", "king"), [("4k3/8/8/8/8/8/8/K3R3 b - - 0 1", "e8"), ("r7/8/8/8/8/8/8/K6k w - - 0 1", "a1")]
)
def test_a_king_in_check_is_marked_in_colour(fen: str, king: str) -> None:
    text = draw(BoardView(Board(fen)), Theme(unicode=True, colour=True))
    squares = [span for span in text.spans if " on " in str(span.style)]
    (checked,) = [index for index, span in enumerate(squares) if CHECK in str(span.style)]
    assert f"{'abcdefgh'[checked % 8]}{8 - checked // 8}" == king
    assert text.plain[squares[checked].start : squares[checked].end] == " ♚ "


def test_captured_pieces_and_the_material_lead() -> None:
    board = Board().after("e2e4", "d7d5", "e4d5", "d8d5", "b1c3", "d5g2", "f1g2")
    assert captured(board, "white", ASCII) == "qp +8"
    assert captured(board, "black", ASCII) == "PP"
    assert captured(board, "white", PLAIN) == "♛♟ +8"
    for move in ("c4b5", "c4d5"):
        board = Board("4k3/8/8/1b1n4/2P5/8/8/4K3 w - - 0 1").after(move)
        assert captured(board, "black", ASCII) == "+2"     # a bishop and a knight count the same


def test_pockets_and_checks_stand_beside_the_board() -> None:
    view = BoardView(Board("4k3/8/8/8/8/8/8/4K3[QPqnn] w - - 0 1", variant="crazyhouse"), above="Black", below="White")
    assert drawn(view)[0].endswith("  Black  pocket qnn")
    assert drawn(view)[7].endswith("  White  pocket QP")
    assert draw(view, PLAIN).plain.splitlines()[7].endswith("pocket ♕♙")
    board = Board("4k3/8/8/3p4/4P3/8/8/4K3[] w - - 0 1", variant="crazyhouse").after("e4d5")
    assert captured(board, "white", ASCII) == "", "what White has captured is in the pocket"
    board = Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1 +2+0", variant="threeCheck")
    assert drawn(BoardView(board))[7].endswith("  checks 2")
    assert drawn(BoardView(board, white_below=False))[0].endswith("  checks 2")


def test_a_pawn_that_was_promoted_is_not_captured() -> None:
    board = Board("7k/P7/8/8/8/8/8/K7 w - - 0 1").after("a7a8q")
    assert captured(board, "black", ASCII) == ""
    assert captured(board, "white", ASCII) == "+9"


def test_kings_are_pieces_like_others_in_antichess() -> None:
    board = Board("8/P7/8/8/8/8/7p/8 w - - 0 1", variant="antichess").after("a7a8k")
    assert captured(board, "black", ASCII) == "+1"         # a king counts nothing
    for move in ("h2h1r", "a8b8", "h1h8", "b8a8", "h8a8"):
        board.push(move)
    assert captured(board, "black", ASCII) == "P +5"
    board = Board("7r/8/8/8/8/8/7K/8 b - - 0 1", variant="antichess").after("h8h2")
    assert captured(board, "black", ASCII) == "K +5"


def test_a_console_without_unicode_gets_letters() -> None:
    ascii_only = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert Theme.detect(ascii_only) == ASCII
    assert Theme.detect(Console(file=io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))) == PLAIN
