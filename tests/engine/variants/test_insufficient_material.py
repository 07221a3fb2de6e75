"""Dead draws and sides that cannot win, as Lichess judges them (scalachess); horde also against python-chess."""

import random
from collections.abc import Iterator

import chess
import chess.variant
import pytest

from engine.board import Ending
from engine.facade import Board


@pytest.mark.parametrize(
    ("variant", "fen", "drawn"),
    [
        pytest.param("atomic", "7K/8/2b5/8/8/8/5B2/3k4 b - - 0 1", True, id="atomic: bishops of opposite colours"),
        pytest.param("atomic", "B2BBBB1/7P/8/8/8/8/3kb3/4K3 w - - 1 53", False, id="atomic: a bishop may be exploded"),
        pytest.param("atomic", "8/8/6p1/3K4/6P1/2k5/8/8 w - - 0 1", False, id="atomic: pawns that can move"),
        pytest.param("atomic", "8/6p1/6P1/3K4/8/2k5/8/8 w - - 0 1", True, id="atomic: closed position"),
        pytest.param("atomic", "8/6p1/6P1/3K1P2/8/2k5/8/8 w - - 0 1", False, id="atomic: a pawn may still run"),
        pytest.param("atomic", "8/5p1p/5P1P/3K2B1/8/2k5/8/8 w - - 0 1", True, id="atomic: no pawn for the bishop"),
        pytest.param("atomic", "8/5pp1/5PP1/3K1B2/8/2k5/8/8 w - - 0 1", False, id="atomic: pawns that can capture"),
        pytest.param("atomic", "8/5p1p/5P1P/3K4/5B2/2k5/8/8 w - - 0 1", True, id="atomic: bishop on the other colour"),
        pytest.param("atomic", "8/6p1/6P1/3K1B2/8/2k5/8/8 w - - 0 1", True, id="atomic: light bishop, dark pawn"),
        pytest.param("atomic", "8/7p/7P/3K1B2/8/2k5/8/8 w - - 0 1", False, id="atomic: light bishop, light pawn"),
        pytest.param("atomic", "8/8/8/3K4/8/2k5/8/8 w - - 0 1", True, id="atomic: bare kings"),
        pytest.param("atomic", "8/8/8/3K4/8/2k3r1/8/8 w - - 0 1", True, id="atomic: a rook"),
        pytest.param("atomic", "8/8/8/3K4/8/2k3q1/8/8 w - - 0 1", False, id="atomic: a queen"),
        pytest.param("atomic", "8/8/8/3K4/8/2k2nn1/8/8 w - - 0 1", True, id="atomic: two knights"),
        pytest.param("atomic", "8/8/8/3K4/8/1nk2nn1/8/8 w - - 0 1", False, id="atomic: three knights"),
        pytest.param("atomic", "8/5k2/8/8/8/8/5KB1/6N1 b - - 0 1", False, id="atomic: bishop and knight"),
        pytest.param("antichess", "8/8/8/8/6b1/8/4B3/8 b - - 0 1", False, id="antichess: bishops of one colour"),
        pytest.param("antichess", "8/2b5/8/8/8/8/4B3/8 b - - 0 1", True, id="antichess: bishops of opposite colours"),
        pytest.param("antichess", "6B1/8/8/8/1b6/8/8/5B2 b - - 0 1", True, id="antichess: three bishops"),
        pytest.param("antichess", "8/6p1/4B1P1/4p3/4P3/8/8/2b5 w - - 0 1", True, id="antichess: stuck pawns"),
        pytest.param("antichess", "8/6p1/1B4P1/4p3/4P3/8/8/3b4 w - - 0 1", False, id="antichess: pawns can be met"),
        pytest.param("antichess", "8/6b1/4B1P1/4p3/4P3/8/8/8 w - - 0 1", False, id="antichess: stopped by a bishop"),
        pytest.param("antichess", "1B3b2/6p1/4B1P1/4p3/4P3/8/8/8 b - - 0 1", False, id="antichess: both colours"),
        pytest.param("antichess", "4K3/8/1b6/8/8/8/5B2/3k4 b - - 0 1", False, id="antichess: kings can be taken"),
        pytest.param("threeCheck", "8/8/8/3K4/8/2k5/8/8 w - - 0 1", True, id="three-check: bare kings"),
        pytest.param("threeCheck", "8/8/8/3K4/8/2k3n1/8/8 w - - 0 1", False, id="three-check: a knight gives check"),
        pytest.param("crazyhouse", "8/8/8/3K4/8/2k5/8/8/ w - - 0 1", False, id="crazyhouse: bare kings"),
        pytest.param("kingOfTheHill", "8/8/8/8/7K/2k5/8/8 w - - 0 1", False, id="king of the hill: bare kings"),
        pytest.param("racingKings", "8/8/8/3K4/8/2k5/8/8 w - - 0 1", False, id="racing kings: bare kings"),
        pytest.param("horde", "8/8/k7/p7/P7/8/8/8 b - - 0 1", True, id="horde: a stuck pawn"),
        pytest.param("horde", "7k/p7/P7/8/8/P7/8/8 b - - 0 1", False, id="horde: a pawn may still move"),
        pytest.param("horde", "k7/P7/8/8/8/8/8/8 b - - 0 1", False, id="horde: the last piece can be taken"),
        pytest.param("horde", "7k/8/p7/P7/8/p7/P7/8 b - - 0 1", True, id="horde: closed position"),
    ],
)
def test_a_game_is_drawn_when_nobody_can_win(variant: str, fen: str, drawn: bool) -> None:
    board = Board(fen, variant=variant)
    outcome = board.outcome()
    assert (outcome is not None and outcome.ending is Ending.INSUFFICIENT_MATERIAL) == drawn
    assert board.is_insufficient_material() == drawn


@pytest.mark.parametrize(
    ("variant", "fen", "white", "black"),
    [
        pytest.param("atomic", "8/8/8/8/7p/2k4q/2K3P1/8 w - - 19 54", False, False, id="atomic: pawn and queen"),
        pytest.param("atomic", "8/8/8/8/7p/2k4q/2K5/8 w - - 19 54", True, False, id="atomic: bare king"),
        pytest.param("threeCheck", "8/8/8/3K4/8/2k3n1/8/8 w - - 0 1", True, False, id="three-check: bare king"),
        pytest.param("kingOfTheHill", "8/8/8/8/7K/2k3q1/8/8 w - - 0 1", False, False, id="king of the hill: bare king"),
        pytest.param("antichess", "8/8/3n4/8/5N2/8/8/8 b - - 0 1", True, False, id="antichess: knights, same colour"),
        pytest.param("antichess", "7n/8/8/8/8/1N6/8/8 b - - 0 1", False, True, id="antichess: knights, other colours"),
        pytest.param("antichess", "7n/8/8/8/8/1N6/8/7N b - - 0 1", False, False, id="antichess: three knights"),
        pytest.param("horde", "k7/8/8/8/8/8/8/N7 w - - 0 1", True, False, id="horde: a knight"),
        pytest.param("horde", "k7/8/8/8/8/8/8/NNNN4 w - - 0 1", False, False, id="horde: four knights"),
    ],
)
def test_who_cannot_win_on_time(variant: str, fen: str, white: bool, black: bool) -> None:
    board = Board(fen, variant=variant)
    assert board.has_insufficient_material("white") == white
    assert board.has_insufficient_material("black") == black


def test_a_small_horde_can_win_exactly_where_python_chess_says_so() -> None:
    rng = random.Random(5)
    results = set()
    for _ in range(1200):
        theirs = chess.variant.HordeBoard(None)
        squares = rng.sample(range(8, 56), 9)
        theirs.set_piece_at(squares.pop(), chess.Piece.from_symbol("k"))
        for symbols, most in (("PNNBBRQ", 4), ("pnnbbbrq", 4)):
            for _ in range(rng.randrange(symbols == "PNNBBRQ", most + 1)):
                theirs.set_piece_at(squares.pop(), chess.Piece.from_symbol(rng.choice(symbols)))
        ours = Board(theirs.fen(), variant="horde") if not theirs.was_into_check() else None
        if ours is None or ours.is_insufficient_material():
            continue
        expected = theirs.has_insufficient_material(chess.WHITE)
        assert ours.has_insufficient_material("white") == expected, theirs.fen()
        results.add((expected, chess.popcount(theirs.occupied_co[chess.WHITE])))
    assert {(True, count) for count in (1, 2, 3)} | {(False, count) for count in (1, 2, 3, 4)} <= results


def random_endings(kind: type[chess.Board], pieces: str, count: int) -> Iterator[chess.Board]:
    """Positions with some of these pieces on random squares, with either side to move."""
    rng = random.Random(pieces)
    while count:
        board = kind(None)
        squares = rng.sample(range(8, 56), len(pieces))
        chosen = [piece for piece in pieces if piece in "Kk" or rng.random() < 0.5]
        for piece in chosen:
            board.set_piece_at(squares.pop(), chess.Piece.from_symbol(piece))
        board.turn = rng.random() < 0.5
        if not (board.was_into_check() or board.is_variant_end()) and any(board.legal_moves):
            count -= 1
            yield board


@pytest.mark.parametrize(
    ("variant", "kind", "pieces"),
    [
        ("atomic", chess.variant.AtomicBoard, "KNBRkn"),
        ("atomic", chess.variant.AtomicBoard, "KNNkbb"),
        ("atomic", chess.variant.AtomicBoard, "KBPkbp"),
        ("antichess", chess.variant.AntichessBoard, "BBbb"),
        ("antichess", chess.variant.AntichessBoard, "NBNb"),
        ("antichess", chess.variant.AntichessBoard, "NKnp"),
        ("threeCheck", chess.variant.ThreeCheckBoard, "KNkp"),
    ],
)
def test_python_chess_knows_no_other_dead_position(variant: str, kind: type[chess.Board], pieces: str) -> None:
    """But for closed ones, which only Lichess draws."""
    dead = set()
    for theirs in random_endings(kind, pieces, 400):
        ours = Board(theirs.fen(), variant=variant)
        found, expected = ours.is_insufficient_material(), theirs.is_insufficient_material()
        closed = not theirs.knights | theirs.rooks | theirs.queens
        assert found == expected or (found and closed), theirs.fen()
        outcome = ours.outcome()
        assert (outcome is not None and outcome.ending is Ending.INSUFFICIENT_MATERIAL) == found
        for side, color in (("white", chess.WHITE), ("black", chess.BLACK)):
            can_still_win = not theirs.has_insufficient_material(color)
            assert not (ours.has_insufficient_material(side) and can_still_win), theirs.fen()
        dead.add(found)
    assert dead == ({True, False} if pieces != "NKnp" else {False})
