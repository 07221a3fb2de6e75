"""The evaluation's symmetry and scale."""

import chess

from engine.evaluate import static_score
from engine.facade import STARTING_FEN, Board, evaluation
from engine.fen import parse_fen
from tests.engine.positions import Start, random_games


def test_a_mirrored_position_has_the_mirrored_score() -> None:
    for board in random_games(count=20, plies=100, start=Start.STANDARD, seed=61):
        position, _ = parse_fen(board.fen())
        mirrored, _ = parse_fen(board.mirror().fen())
        assert static_score(position) == static_score(mirrored)


def test_the_start_is_even_but_for_the_tempo() -> None:
    board = chess.Board()
    white, _ = parse_fen(board.fen())
    board.turn = chess.BLACK
    black, _ = parse_fen(board.fen())
    assert static_score(white) == static_score(black)
    assert 0 <= static_score(white) <= 30


def test_the_terms_add_up_to_the_score() -> None:
    for board in random_games(count=10, plies=120, start=Start.STANDARD, seed=62):
        ours = Board(board.fen())
        parts = evaluation(ours)
        midgame = sum(term[0] - term[2] for term in parts.terms.values())
        endgame = sum(term[1] - term[3] for term in parts.terms.values())
        blended = (midgame * parts.phase + endgame * (parts.full_phase - parts.phase)) / parts.full_phase
        assert abs(blended - parts.score_cp) <= 1
        assert parts.score_cp == ours.evaluate()


def test_a_queen_up_is_winning_for_whoever_has_it() -> None:
    assert Board(STARTING_FEN.replace("rnbq", "rnb1")).evaluate() > 700
    assert Board(STARTING_FEN.replace("RNBQ", "RNB1")).evaluate() < -700
