"""The evaluation: symmetric, the sum of its terms, and right about chess where right is plain."""

import chess
import pytest

from engine.core.fen import parse_fen
from engine.evaluation import weights
from engine.evaluation.evaluate import evaluate, is_known, use_values
from engine.evaluation.weights import Group, weighed
from engine.facade import STARTING_FEN, Board, evaluation
from tests.engine.positions import Start, random_games

KINGS_AND_PAWNS = "4k3/pp3ppp/8/8/8/8/PP3PPP/4K3 w - - 0 1"


def midgame(fen: str, term: str) -> int:
    """White's midgame value of a term, less Black's."""
    part = evaluation(Board(fen)).terms[term]
    return part[0] - part[2]


def endgame(fen: str, term: str) -> int:
    """White's endgame value of a term, less Black's."""
    part = evaluation(Board(fen)).terms[term]
    return part[1] - part[3]


def test_a_mirrored_position_has_the_mirrored_score() -> None:
    for board in random_games(count=6, plies=160, start=Start.STANDARD, seed=61):
        position, _ = parse_fen(board.fen())
        mirrored, _ = parse_fen(board.mirror().fen())
        assert evaluate(position) == evaluate(mirrored), board.fen()


def test_positions_without_castling_rights_are_symmetric() -> None:
    for board in random_games(count=6, plies=160, start=Start.STANDARD, seed=63):
        board.castling_rights = chess.BB_EMPTY
        flipped = board.transform(chess.flip_horizontal)
        assert evaluate(parse_fen(board.fen())[0]) == evaluate(parse_fen(flipped.fen())[0]), board.fen()


def test_the_same_position_always_has_the_same_score() -> None:
    boards = [board.fen() for board in random_games(count=5, plies=100, start=Start.CHESS960, seed=64)]
    first = [evaluate(parse_fen(fen)[0]) for fen in boards]
    assert first == [evaluate(parse_fen(fen)[0]) for fen in reversed(boards)][::-1]


def test_the_start_is_even_but_for_the_tempo() -> None:
    board = chess.Board()
    white, _ = parse_fen(board.fen())
    board.turn = chess.BLACK
    black, _ = parse_fen(board.fen())
    assert evaluate(white) == evaluate(black)
    assert 0 <= evaluate(white) <= 60


def test_the_terms_add_up_to_the_score() -> None:
    for board in random_games(count=6, plies=160, start=Start.STANDARD, seed=62):
        ours = Board(board.fen())
        parts = evaluation(ours)
        opening = sum(term[0] - term[2] for term in parts.terms.values())
        ending = sum(term[1] - term[3] for term in parts.terms.values())
        blended = (opening * parts.phase + ending * (parts.full_phase - parts.phase)) / parts.full_phase
        assert abs(blended - parts.score_cp) <= 2, board.fen()
        assert parts.score_cp == ours.evaluate()


def test_a_queen_up_is_winning_for_its_side() -> None:
    assert Board(STARTING_FEN.replace("rnbq", "rnb1")).evaluate() > 700
    assert Board(STARTING_FEN.replace("RNBQ", "RNB1")).evaluate() < -700


@pytest.mark.parametrize(
    ("term", "better", "worse"),
    [
        ("pawn structure", "4k3/8/8/8/8/8/PP6/4K3 w - - 0 1", "4k3/8/8/8/8/P7/P7/4K3 w - - 0 1"),
        ("pawn structure", "4k3/8/8/8/8/8/PP6/4K3 w - - 0 1", "4k3/8/8/8/8/8/P1P5/4K3 w - - 0 1"),
        ("passed pawns", "4k3/8/1P6/8/8/8/8/4K2R w - - 0 1", "4k3/8/8/8/8/1P6/8/4K2R w - - 0 1"),
        ("passed pawns", "4k3/8/8/1P6/8/8/8/4K2R w - - 0 1", "4k3/p7/8/1P6/8/8/8/4K2R w - - 0 1"),
        ("passed pawns", "8/8/1K6/1P6/8/8/8/2k3NN w - - 0 1", "8/8/2k5/1P6/8/8/8/2K3NN b - - 0 1"),
        ("minor pieces", "4k3/8/8/8/8/8/P7/2B1KB2 w - - 0 1", "4k3/8/8/8/8/8/P7/1NB1K3 w - - 0 1"),
        ("rooks", "4k3/1p6/8/8/8/8/1P6/R3K3 w - - 0 1", "4k3/p7/8/8/8/8/P7/R3K3 w - - 0 1"),
        ("mobility", "4k3/8/8/8/3N4/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/N3K3 w - - 0 1"),
    ],
    ids=["doubled", "isolated", "advanced", "unopposed", "own king near", "bishop pair", "open file", "centre knight"],
)
def test_what_is_better_counts_for_more(term: str, better: str, worse: str) -> None:
    assert midgame(better, term) + endgame(better, term) > midgame(worse, term) + endgame(worse, term)


def test_pawns_before_a_castled_king_are_its_shelter() -> None:
    covered = "r4rk1/8/8/8/8/8/5PPP/R4RK1 w - - 0 1"
    assert midgame(covered, "king shelter") > midgame(covered.replace("5PPP", "7P"), "king shelter")


def test_several_attackers_of_the_king_are_worth_more_than_their_sum() -> None:
    queen = midgame("6k1/5ppp/8/6Q1/8/8/8/6K1 w - - 0 1", "king attack")
    knight = midgame("6k1/5ppp/8/5N2/8/8/8/6K1 w - - 0 1", "king attack")
    both = midgame("6k1/5ppp/8/5NQ1/8/8/8/6K1 w - - 0 1", "king attack")
    assert both > queen + knight


def test_a_pawn_that_attacks_a_piece_is_a_threat() -> None:
    assert midgame("4k3/8/3n4/4P3/8/8/8/4K3 w - - 0 1", "threats") > 0


@pytest.mark.parametrize("fen", ["4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "4k3/8/8/8/8/8/8/BN2K3 w - - 0 1"])
def test_a_bare_king_is_judged_without_summing_up(fen: str) -> None:
    assert is_known(parse_fen(fen)[0])
    assert not is_known(parse_fen(KINGS_AND_PAWNS)[0])


def test_a_style_scales_its_group() -> None:
    castled = "r4rk1/8/8/8/8/8/5PPP/R4RK1 w - - 0 1"
    before = evaluation(Board(castled)).terms
    use_values(weighed({Group.KING_SAFETY: 2.0}))
    try:
        after = evaluation(Board(castled)).terms
    finally:
        use_values(weights.default_values())
    assert after["king shelter"] == tuple(2 * value for value in before["king shelter"])
    assert after["mobility"] == before["mobility"]


def test_a_weight_too_few_is_refused() -> None:
    values = weights.default_values()
    values["tempo"] = ()
    with pytest.raises(ValueError, match="tempo: expected 1 weights, found 0"):
        use_values(values)
    del values["tempo"]
    with pytest.raises(ValueError, match="missing or unknown"):
        use_values(values)
