"""Games as text: python-chess reads what we write."""

import io
import random

import chess
import chess.engine
import chess.pgn
import pytest

from engine.facade import Board, chess960_fen, pgn_text


def test_every_chess960_position_has_its_number() -> None:
    for number in range(960):
        assert chess960_fen(number) == chess.Board.from_chess960_pos(number).fen()


@pytest.mark.parametrize("number", [-1, 960])
def test_there_are_960_positions(number: int) -> None:
    with pytest.raises(ValueError, match="0 to 959"):
        chess960_fen(number)


def test_pgn_is_read_back_by_python_chess(chess960: bool) -> None:
    rng = random.Random(51)
    board = Board(chess960_fen(rng.randrange(960)), chess960=True) if chess960 else Board()
    while len(board.moves) < 120 and board.legal_moves():
        board.push(rng.choice(board.legal_moves()))
    headers = {"Event": "A casual game", "White": "one", "Black": "two"}
    if chess960:
        headers["Variant"] = "Chess960"
    text = pgn_text(headers, board, "1/2-1/2", [60.0 - ply for ply in range(len(board.moves))])
    assert all(len(line) <= 80 for line in text.splitlines() if not line.startswith("["))
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert game.errors == []
    assert game.headers["Event"] == headers["Event"]
    assert game.headers["Result"] == "1/2-1/2"
    assert game.end().board().fen() == board.fen()
    assert game.next().clock() == 60.0


def test_quotes_and_backslashes_in_headers_are_escaped() -> None:
    text = pgn_text({"Event": 'a "b" \\'}, Board(), "*")
    assert text.splitlines()[0] == '[Event "a \\"b\\" \\\\"]'


def test_clocks_and_evaluations_are_comments_and_may_be_missing() -> None:
    board = Board()
    for move in ("e2e4", "e7e5", "g1f3"):
        board.push(move)
    text = pgn_text({"White": "one"}, board, "*", [None, 59.0, 58.0], ["0.31,12", None, "#-3"])
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    first, second, third = game.mainline()
    assert first.eval() == chess.engine.PovScore(chess.engine.Cp(31), chess.WHITE)
    assert (first.eval_depth(), first.clock()) == (12, None)
    assert (second.eval(), second.clock()) == (None, 59.0)
    assert third.eval() == chess.engine.PovScore(chess.engine.Mate(-3), chess.WHITE)
    assert third.clock() == 58.0
