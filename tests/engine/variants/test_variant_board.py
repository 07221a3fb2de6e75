"""Boards of the variants as callers see them: what ends a game, how moves are written."""

import chess
import chess.variant
import pytest

from engine.board import Ending
from engine.facade import Board, Engine, InvalidMove, Limits


@pytest.mark.parametrize(
    ("variant", "fen", "moves", "ending", "winner"),
    [
        pytest.param("kingOfTheHill", "4k3/8/8/8/8/3K4/8/8 w - - 0 1", "d3d4", Ending.VARIANT_END, "white", id="hill"),
        pytest.param("threeCheck", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +2+0", "a1a8", Ending.VARIANT_END, "white", id="3"),
        pytest.param("threeCheck", "k7/8/1K6/8/8/8/8/6Q1 w - - 0 1 +2+0", "g1g8", Ending.CHECKMATE, "white", id="mate"),
        pytest.param("antichess", "8/8/8/8/3p4/2P5/8/8 w - - 0 1", "c3d4", Ending.VARIANT_END, "black", id="lost all"),
        pytest.param("antichess", "8/p7/8/P7/8/8/8/8 w - - 0 1", "a5a6", Ending.VARIANT_END, "black", id="stuck"),
        pytest.param("atomic", "4k3/3p4/8/8/8/8/8/3QK3 w - - 0 1", "d1d7", Ending.VARIANT_END, "white", id="exploded"),
        pytest.param("atomic", "k7/p7/P7/8/8/8/7P/1R4K1 w - - 0 1", "h2h3", Ending.STALEMATE, None, id="stalemate"),
        pytest.param("horde", "4k3/8/8/8/8/8/r7/P7 b - - 0 1", "a2a1", Ending.VARIANT_END, "black", id="horde is gone"),
        pytest.param("racingKings", "8/6K1/8/8/8/k7/8/8 w - - 0 1", "g7g8", Ending.VARIANT_END, "white", id="race"),
        pytest.param("racingKings", "8/k5K1/8/8/8/8/8/8 w - - 0 1", "g7g8 a7a8", Ending.VARIANT_DRAW, None, id="tie"),
        pytest.param("racingKings", "8/k5K1/8/8/8/8/8/8 w - - 0 1", "g7g8 a7a6", Ending.VARIANT_END, "white", id="no"),
        pytest.param("crazyhouse", "6k1/5ppp/8/8/8/8/8/R3K3/ w - -", "a1a8", Ending.CHECKMATE, "white", id="back rank"),
    ],
)
def test_the_end_of_a_game(variant: str, fen: str, moves: str, ending: Ending, winner: str | None) -> None:
    board = Board(fen, variant=variant)
    assert board.outcome() is None
    for move in moves.split():
        board.push(move)
    outcome = board.outcome()
    assert (outcome.ending, outcome.winner) == (ending, winner)
    assert board.legal_moves() == []


def test_a_drop_may_save_from_mate() -> None:
    mated = Board("6rk/5Npp/8/8/8/8/8/4K3/ b - - 0 1", variant="crazyhouse")
    saved = Board("4R2k/6pp/8/8/8/8/8/4K3/n b - - 0 1", variant="crazyhouse")
    assert mated.is_checkmate()
    assert not saved.is_checkmate()
    assert saved.legal_moves() == ["N@f8", "N@g8"]


CYCLES = (
    pytest.param(
        "7k/8/3b4/4n3/8/3N4/8/7K[] w - - 0 1",
        "d3e5 d6e5 N@d3 e5d6 h1g1 N@e5 d3e5 d6e5 N@d3 e5d6 g1h1 N@e5",
        id="knights are exchanged and dropped",
    ),
    pytest.param(
        "kb3Q2/1pp2p1N/1b6/pN1pN3/1P1P2B1/2N5/PP1pPQ1P/R5K1/PPPPBRRr b - - 0 40",
        "R@c1 R@d1 c1a1 d1a1",
        id="rooks block and are taken",
    ),
    pytest.param("7k/8/8/8/8/2n5/3n4/K7[B] w - - 0 1", "B@b2 d2b1 b2c3 b1c3", id="no cycle: a knight is gone"),
    pytest.param("4k3/8/8/8/8/8/8/4K2R[] w K - 0 1", "e1g1 e8d8 f1f2 d8e8 f2f1 e8d8 f1f2 d8e8", id="after castling"),
)


@pytest.mark.parametrize(("fen", "cycle"), CYCLES)
def test_in_crazyhouse_positions_repeat_across_captures_and_drops(fen: str, cycle: str) -> None:
    board, theirs = Board(fen, variant="crazyhouse"), chess.variant.CrazyhouseBoard(fen)
    for move in cycle.split() * 3:
        if move not in board.legal_moves():
            break
        board.push(move)
        theirs.push_uci(move)
        times = max(number for number in range(1, 6) if theirs.is_repetition(number))
        assert board.repetition_count() == board.copy().repetition_count() == times
        assert board.halfmove_clock == theirs.halfmove_clock


def test_in_crazyhouse_the_search_sees_that_captures_and_drops_only_repeat() -> None:
    board = Board("kb3Q2/1pp2p1N/1b6/pN1pN3/1P1P2B1/2N5/PP1pPQ1P/R5K1/PPPPBRRr b - - 0 40", variant="crazyhouse")
    for move in ["R@c1", "R@d1", "c1a1", "d1a1", "R@c1"]:
        board.push(move)
    engine = Engine(hash_mb=1)
    engine.set_position(board)
    for _ in range(2):
        chosen = engine.go(Limits(nodes=1500)).best_move
        assert chosen is not None
        assert chosen != "R@d1", "it would be played for ever"


def test_crazyhouse_has_no_fifty_move_rule() -> None:
    fen = "4k3/8/8/8/8/8/8/R3K3 w - - 100 90"
    assert Board(fen, variant="crazyhouse").outcome() is None
    for variant in ("standard", "atomic"):
        assert Board(fen.replace("R", "Q"), variant=variant).outcome().ending is Ending.FIFTY_MOVES


def test_standard_chess_ends_as_lichess_judges() -> None:
    for moves, ending, winner in (
        ("f2f3 e7e5 g2g4 d8h4", Ending.CHECKMATE, "black"),
        ("g1f3 g8f6 f3g1 f6g8 " * 4, Ending.FIVEFOLD_REPETITION, None),
        ("g1f3 g8f6 f3g1 f6g8 " * 3, None, None),
    ):
        board = Board().after(*moves.split())
        outcome = board.outcome()
        assert (outcome and outcome.ending, outcome and outcome.winner) == (ending, winner)


@pytest.mark.parametrize(
    ("variant", "fen", "move", "san", "others"),
    [
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3/QP w - - 0 1", "Q@e4", "Q@e4+", ("Q@e4",)),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3/QP w - - 0 1", "P@e4", "P@e4", ("@e4", "P@e4!")),
        ("crazyhouse", "6k1/5ppp/8/8/8/8/8/4K3/RP w - - 0 1", "R@a8", "R@a8#", ("R@a8",)),
        ("antichess", "8/P7/8/8/8/8/7p/8 w - - 0 1", "a7a8k", "a8=K", ("a8K", "a8=k")),
        ("antichess", "K1K5/8/8/8/8/8/8/7r w - - 0 1", "a8b8", "Kab8", ("Ka8-b8",)),
        ("atomic", "4k3/3p4/8/8/8/8/8/3QK3 w - - 0 1", "d1d7", "Qxd7#", ("Qd7",)),
        ("kingOfTheHill", "4k3/8/8/8/8/3K4/8/8 w - - 0 1", "d3d4", "Kd4#", ("Kd4",)),
        ("racingKings", "8/k5K1/8/8/8/8/8/8 w - - 0 1", "g7g8", "Kg8", ("Kg8",)),
    ],
)
def test_algebraic_notation(variant: str, fen: str, move: str, san: str, others: tuple[str, ...]) -> None:
    board = Board(fen, variant=variant)
    assert board.san(move) == san
    for text in (san, *others):
        assert board.parse_san(text) == move


def test_standard_chess_knows_neither_drops_nor_promotion_to_king() -> None:
    board = Board("4k3/P7/8/8/8/8/8/4K3 w - - 0 1")
    for text in ("a7a8k", "P@a2", "Q@e4"):
        with pytest.raises(InvalidMove, match="is not legal here"):
            board.push(text)
    for text in ("a8=K", "Q@e4"):
        with pytest.raises(InvalidMove):
            board.push_san(text)


def test_a_copy_and_a_replay_stay_of_the_variant() -> None:
    board = Board(variant="threeCheck").after("e2e4", "f7f6", "d1h5", "g7g6", "h5g6")
    assert board.copy().fen() == board.replayed().fen() == board.fen()
    assert board.fen().endswith("+2+0")
    assert board.copy().variant == board.replayed().variant == "threeCheck"


def test_pockets_and_checks_are_told() -> None:
    board = Board("4k3/8/8/8/8/8/8/4K3[QNPPqp] w - - 0 1", variant="crazyhouse")
    assert (board.pocket("white"), board.pocket("black")) == ("QNPP", "qp")
    board.push("N@f3")
    assert board.pocket("white") == "QPP"
    board = Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1 +2+1", variant="threeCheck")
    assert (board.checks_given("white"), board.checks_given("black")) == (2, 1)
    assert (Board().pocket("white"), Board().checks_given("black")) == ("", 0)
