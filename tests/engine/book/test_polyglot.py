"""Book keys: the published examples, and python-chess on random games."""

import chess
import chess.polyglot
import chess.variant
import pytest

from engine.facade import Board, polyglot_key
from tests.engine import positions
from tests.engine.positions import Start
from tests.engine.variants.games import UCI_NAMES, VARIANTS, random_games

# The format's page gives these: the moves from the starting position, and the key that they lead to.
EXAMPLES = {
    "": 0x463B96181691FC9C,
    "e2e4": 0x823C9B50FD114196,
    "e2e4 d7d5": 0x0756B94461C50FB0,
    "e2e4 d7d5 e4e5": 0x662FAFB965DB29D4,
    "e2e4 d7d5 e4e5 f7f5": 0x22A48B5A8E47FF78,
    "e2e4 d7d5 e4e5 f7f5 e1e2": 0x652A607CA3F242C1,
    "e2e4 d7d5 e4e5 f7f5 e1e2 e8f7": 0x00FDD303C946BDD9,
    "a2a4 b7b5 h2h4 b5b4 c2c4": 0x3C8123EA7B067637,
    "a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3": 0x5C3F9B829B279560,
}


@pytest.mark.parametrize("moves", EXAMPLES)
def test_the_published_examples(moves: str) -> None:
    board, theirs = Board(), chess.Board()
    for move in moves.split():
        board.push(move)
        theirs.push_uci(move)
    assert polyglot_key(board) == EXAMPLES[moves]
    assert polyglot_key(Board(theirs.fen(en_passant="fen"))) == EXAMPLES[moves]


def test_random_games_have_the_keys_of_python_chess(start: Start) -> None:
    board = Board()
    for theirs in positions.random_games(count=6, plies=120, start=start, seed=71):
        if theirs.move_stack:
            board.push(theirs.peek().uci())
        else:
            board = Board(theirs.fen(), chess960=theirs.chess960)
        assert polyglot_key(board) == polyglot_key(board.copy()) == chess.polyglot.zobrist_hash(theirs)
        named = Board(theirs.fen(en_passant="fen"), chess960=theirs.chess960)
        assert polyglot_key(named) == chess.polyglot.zobrist_hash(theirs)


@pytest.mark.parametrize("variant", VARIANTS)
def test_games_of_variants_have_the_keys_of_python_chess(variant: str) -> None:
    for ply in random_games(variant, games=8, seed=73):
        if ply.move is None:
            theirs = chess.variant.find_variant(UCI_NAMES[variant])(ply.board.fen(), chess960=ply.board.chess960)
        else:
            theirs.push_uci(ply.move)
        assert polyglot_key(ply.board) == chess.polyglot.zobrist_hash(theirs)


def test_horde_has_no_capture_en_passant_after_a_step_from_the_first_rank() -> None:
    fen = "4k3/8/8/8/8/p7/8/1P6 w - - 0 1"
    board, theirs = Board(fen, variant="horde"), chess.variant.HordeBoard(fen)
    board.push("b1b3")
    theirs.push_uci("b1b3")
    assert polyglot_key(board) == chess.polyglot.zobrist_hash(theirs)


def test_a_pawn_pinned_against_capturing_en_passant_still_counts() -> None:
    board, theirs = Board("8/2p5/8/K2P3q/8/8/8/4k3 b - - 0 1"), chess.Board("8/2p5/8/K2P3q/8/8/8/4k3 b - - 0 1")
    board.push("c7c5")
    theirs.push_uci("c7c5")
    assert board.fen().split()[3] == "-"
    assert polyglot_key(board) == chess.polyglot.zobrist_hash(theirs) != polyglot_key(Board(board.fen()))


@pytest.mark.parametrize("fen", ["4k3/8/8/8/3KN3/8/8/8 b - e3 0 1", "4k3/8/8/8/3Pp3/8/8/4K3 b - e3 0 1"])
def test_en_passant_of_a_fen_counts_only_beside_a_pawn_that_has_stepped(fen: str) -> None:
    assert polyglot_key(Board(fen)) == chess.polyglot.zobrist_hash(chess.Board(fen))


def test_a_piece_that_moves_two_ranks_makes_no_double_step() -> None:
    board = Board("4k3/8/8/8/1p6/8/R7/4K3 w - - 0 1").after("a2a4")
    assert polyglot_key(board) == polyglot_key(Board(board.fen()))


def test_a_copy_without_moves_has_the_same_key() -> None:
    board = Board("4k3/8/8/8/1pP5/8/3P4/4K3 b - c3 0 1")
    for move in ("e8e7", "d2d4", "e7e6"):
        assert polyglot_key(board.copy(moves=False)) == polyglot_key(board)
        board.push(move)
        assert polyglot_key(board.copy(moves=False)) == polyglot_key(board), move
