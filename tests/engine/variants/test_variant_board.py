"""Boards of the variants as callers see them: what ends a game, how moves are written."""

import pytest

from engine.board import Ending
from engine.facade import Board, InvalidMove


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
    assert outcome is not None
    assert (outcome.ending, outcome.winner) == (ending, winner)
    assert board.legal_moves() == []


def test_a_drop_may_save_from_mate() -> None:
    mated = Board("6rk/5Npp/8/8/8/8/8/4K3/ b - - 0 1", variant="crazyhouse")
    saved = Board("4R2k/6pp/8/8/8/8/8/4K3/n b - - 0 1", variant="crazyhouse")
    assert mated.is_checkmate()
    assert not saved.is_checkmate()
    assert saved.legal_moves() == ["N@f8", "N@g8"]


def test_crazyhouse_has_no_fifty_move_rule() -> None:
    fen = "4k3/8/8/8/8/8/8/R3K3 w - - 100 90"
    assert Board(fen, variant="crazyhouse").outcome() is None
    for variant in ("standard", "atomic"):
        outcome = Board(fen.replace("R", "Q"), variant=variant).outcome()
        assert outcome is not None
        assert outcome.ending is Ending.FIFTY_MOVES


def test_standard_chess_ends_as_lichess_judges() -> None:
    for moves, ending, winner in (
        ("f2f3 e7e5 g2g4 d8h4", Ending.CHECKMATE, "black"),
        ("g1f3 g8f6 f3g1 f6g8 " * 4, Ending.FIVEFOLD_REPETITION, None),
        ("g1f3 g8f6 f3g1 f6g8 " * 3, None, None),
    ):
        board = Board()
        for move in moves.split():
            board.push(move)
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
    board = Board(variant="threeCheck")
    for move in ("e2e4", "f7f6", "d1h5", "g7g6", "h5g6"):
        board.push(move)
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
