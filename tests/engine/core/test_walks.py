"""Random games of every kind, in lockstep with python-chess: the rules, FEN, SAN and move texts are the same.

Each run asserts that it met what it is meant to compare: mates, stalemates, repetitions, dead positions and the rest.
"""

import random
from collections import Counter
from collections.abc import Iterator

import chess
import pytest

from engine.core.fen import parse_fen
from engine.facade import Board, Ending
from tests.engine.positions import IN_FEN, Start, random_games

SIDES = (("white", chess.WHITE), ("black", chess.BLACK))
EVERY_EVENT = {
    "check", "double check", "checkmate", "stalemate", "nobody can win", "one side cannot win", "repetition 3",
    "repetition 5", "100 plies without progress", "150 plies without progress", "en passant", "no en passant",
    "castling", "promotion", "underpromotion",
}


def compare_state(ours: Board, theirs: chess.Board) -> None:
    """Who moves, check, the ends of the game, counts, and the text of the position."""
    assert ours.fen() == theirs.fen()
    assert ours.turn == ("white" if theirs.turn else "black")
    assert ours.is_check() == theirs.is_check()
    assert ours.is_checkmate() == theirs.is_checkmate()
    outcome = ours.outcome()
    assert (outcome is not None and outcome.ending is Ending.STALEMATE) == theirs.is_stalemate()
    assert ours.is_insufficient_material() == theirs.is_insufficient_material()
    for side, color in SIDES:
        assert ours.has_insufficient_material(side) == theirs.has_insufficient_material(color)
    assert ours.halfmove_clock == theirs.halfmove_clock
    assert (ours.halfmove_clock >= 100 and bool(ours.legal_moves())) == theirs.is_fifty_moves()
    assert theirs.is_repetition(ours.repetition_count())
    assert not theirs.is_repetition(ours.repetition_count() + 1)


def compare_moves(ours: Board, theirs: chess.Board, rng: random.Random) -> None:
    """The legal moves in both spellings of castling, and two of them in algebraic notation and back."""
    moves = list(theirs.legal_moves)
    assert sorted(ours.legal_moves()) == sorted(theirs.uci(move, chess960=ours.chess960) for move in moves)
    for move in moves:
        if theirs.is_castling(move):
            both = {theirs.uci(move, chess960=True), theirs.uci(move, chess960=False)}
            assert {ours.king_takes_rook(text) for text in both} == {theirs.uci(move, chess960=True)}
    for move in rng.sample(moves, min(2, len(moves))):
        text = theirs.uci(move, chess960=ours.chess960)
        assert ours.san(text) == theirs.san(move)
        assert ours.parse_san(theirs.san(move)) == text


def compare_reading(ours: Board, theirs: chess.Board) -> None:
    """X-FEN and Shredder-FEN of the position lead to the same position, key included."""
    expected = ours.position.state()
    for fen in (theirs.fen(), theirs.shredder_fen()):
        position, fullmove_number = parse_fen(fen)
        assert fullmove_number == theirs.fullmove_number
        read = position.state()
        assert {field: read[field] for field in IN_FEN} == {field: expected[field] for field in IN_FEN}


def events(theirs: chess.Board) -> Iterator[str]:
    """What makes this position worth a comparison."""
    if theirs.is_check():
        yield "checkmate" if theirs.is_checkmate() else "check"
        if theirs.checkers_mask().bit_count() == 2:
            yield "double check"
    elif theirs.is_stalemate():
        yield "stalemate"
    if theirs.is_insufficient_material():
        yield "nobody can win"
    elif theirs.has_insufficient_material(chess.WHITE) or theirs.has_insufficient_material(chess.BLACK):
        yield "one side cannot win"
    for count in (3, 5):
        if theirs.is_repetition(count):
            yield f"repetition {count}"
    for plies in (100, 150):
        if theirs.halfmove_clock >= plies:
            yield f"{plies} plies without progress"
    if theirs.ep_square is not None:
        yield "en passant" if theirs.has_legal_en_passant() else "no en passant"
    if theirs.move_stack:
        move = theirs.pop()
        if theirs.is_castling(move):
            yield "castling"
        if move.promotion is not None:
            yield "promotion" if move.promotion == chess.QUEEN else "underpromotion"
        theirs.push(move)


def walk(start: Start, count: int, plies: int, seed: int) -> Counter[str]:
    """Compare every position of this many games; returns how often each event was met, and the positions."""
    rng = random.Random(seed)
    met: Counter[str] = Counter()
    ours = Board()
    for theirs in random_games(count, plies, start, seed):
        if theirs.move_stack:
            ours.push(theirs.peek().uci())
        else:
            ours = Board(theirs.fen(), chess960=rng.random() < 0.5)
        compare_state(ours, theirs)
        compare_moves(ours, theirs, rng)
        compare_reading(ours, theirs)
        met.update(events(theirs))
        met["positions"] += 1
    return met


def walk_everywhere(count: int, plies: int, seed: int) -> Counter[str]:
    """So many games from every kind of start; asserts that every event was met."""
    met: Counter[str] = Counter()
    for start in Start:
        met += walk(start, count, plies, seed)
    assert set(met) == {*EVERY_EVENT, "positions"}
    return met


def test_random_games_equal_python_chess_position_for_position() -> None:
    assert walk_everywhere(count=3, plies=200, seed=1)["positions"] > 2000


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 120))
def test_two_hundred_thousand_positions_equal_python_chess(seed: int) -> None:
    assert walk_everywhere(count=18, plies=250, seed=seed)["positions"] > 10_000
