"""Random games compared with the variants of python-chess: moves, texts and ends at every position."""

import random
from collections import Counter

import chess
import chess.variant
import pytest

from engine.board import Ending, Outcome
from engine.facade import Board
from tests.engine.variants.games import VARIANTS, random_games

THEIR_BOARDS = {
    "crazyhouse": chess.variant.CrazyhouseBoard,
    "kingOfTheHill": chess.variant.KingOfTheHillBoard,
    "threeCheck": chess.variant.ThreeCheckBoard,
    "antichess": chess.variant.AntichessBoard,
    "atomic": chess.variant.AtomicBoard,
    "horde": chess.variant.HordeBoard,
    "racingKings": chess.variant.RacingKingsBoard,
}
# Where Lichess and python-chess judge otherwise which material cannot win; `test_insufficient_material.py` has these.
OTHER_MATERIAL = ("antichess", "atomic", "horde")
ENDS = {
    "crazyhouse": {Ending.CHECKMATE, Ending.FIVEFOLD_REPETITION},
    "kingOfTheHill": {Ending.VARIANT_END, Ending.CHECKMATE, Ending.FIVEFOLD_REPETITION},
    "threeCheck": {Ending.VARIANT_END, Ending.FIVEFOLD_REPETITION},
    "antichess": {Ending.VARIANT_END, Ending.FIVEFOLD_REPETITION},
    "atomic": {Ending.VARIANT_END, Ending.FIVEFOLD_REPETITION, Ending.INSUFFICIENT_MATERIAL},
    "horde": {Ending.CHECKMATE, Ending.STALEMATE},
    "racingKings": {Ending.VARIANT_END, Ending.FIVEFOLD_REPETITION},
}


def lichess_fen(theirs: chess.Board) -> str:
    """The FEN of python-chess as Lichess writes it."""
    fields = theirs.fen().split(" ")
    if isinstance(theirs, chess.variant.CrazyhouseBoard):
        board, pockets = fields[0][:-1].split("[")
        ordered = sorted(pockets, key="PNBRQpnbrq".index)
        fields[0] = f"{board}/{''.join(ordered)}"
    if isinstance(theirs, chess.variant.ThreeCheckBoard):
        white, black = map(int, fields.pop(4).split("+"))
        fields.append(f"+{3 - white}+{3 - black}")
    return " ".join(fields)


def has_ended(theirs: chess.Board) -> bool:
    """Whether the variant's own rules have ended the game, as Lichess has them.

    In racing kings python-chess looks only for attacks on the squares of the goal, not for legal moves.
    """
    if isinstance(theirs, chess.variant.RacingKingsBoard) and theirs.turn == chess.BLACK:
        white, black = theirs.king(chess.WHITE), theirs.king(chess.BLACK)
        if white is not None and white >= chess.A8 and black is not None and black < chess.A8:
            return not any(move.from_square == black and move.to_square >= chess.A8 for move in theirs.legal_moves)
    return theirs.is_variant_end()


def is_checkmate(theirs: chess.Board) -> bool:
    """Whether the side to move is mated; Lichess says so also where the variant's own rules end the game besides."""
    if isinstance(theirs, chess.variant.ThreeCheckBoard | chess.variant.KingOfTheHillBoard):
        return chess.Board(f"{theirs.board_fen()} {'w' if theirs.turn else 'b'} - -").is_checkmate()
    return not theirs.is_variant_end() and theirs.is_checkmate()


def expected_outcome(theirs: chess.Board) -> Outcome | None:
    """How the game has ended by what python-chess knows, in the order in which Lichess asks."""
    mover, other = ("white", "black") if theirs.turn else ("black", "white")
    if is_checkmate(theirs):
        return Outcome(Ending.CHECKMATE, other)
    if has_ended(theirs):
        if isinstance(theirs, chess.variant.RacingKingsBoard):
            arrived = {color: (theirs.king(color) or 0) >= chess.A8 for color in chess.COLORS}
            if all(arrived.values()):
                return Outcome(Ending.VARIANT_DRAW, None)
            return Outcome(Ending.VARIANT_END, "white" if arrived[chess.WHITE] else "black")
        return Outcome(Ending.VARIANT_END, mover if theirs.is_variant_win() else other)
    if not any(theirs.legal_moves):
        won = isinstance(theirs, chess.variant.AntichessBoard)
        return Outcome(Ending.VARIANT_END, mover) if won else Outcome(Ending.STALEMATE, None)
    if theirs.is_insufficient_material():
        return Outcome(Ending.INSUFFICIENT_MATERIAL, None)
    if theirs.halfmove_clock >= 100 and not isinstance(theirs, chess.variant.CrazyhouseBoard):
        return Outcome(Ending.FIFTY_MOVES, None)
    return Outcome(Ending.FIVEFOLD_REPETITION, None) if theirs.is_repetition(5) else None


def compare_outcome(ours: Board, theirs: chess.Board) -> Outcome | None:
    """Compare how the game stands; returns how it has ended."""
    outcome, expected = ours.outcome(), expected_outcome(theirs)
    if ours.variant not in OTHER_MATERIAL:
        assert outcome == expected, ours.fen()
        for side, color in (("white", chess.WHITE), ("black", chess.BLACK)):
            assert ours.has_insufficient_material(side) == theirs.has_insufficient_material(color)
    elif Ending.INSUFFICIENT_MATERIAL not in (outcome and outcome.ending, expected and expected.ending):
        assert outcome == expected, ours.fen()
    return outcome


def compare_moves(ours: Board, found: list[str], theirs: chess.Board, rng: random.Random) -> None:
    """The legal moves, and two of them in algebraic notation and back."""
    moves = [] if has_ended(theirs) else list(theirs.legal_moves)
    assert sorted(found) == sorted(theirs.uci(move, chess960=ours.chess960) for move in moves), ours.fen()
    for move in rng.sample(moves, min(2, len(moves))):
        text, san = theirs.uci(move, chess960=ours.chess960), theirs.san(move)
        expected = f"P{san}" if san.startswith("@") else san        # Lichess names the pawn
        assert ours.san(text) == expected, ours.fen()
        assert ours.parse_san(san) == text


def compare_games(variant: str, games: int, seed: int) -> Counter[str]:
    """Compare every position of this many games; returns how they ended, and the positions."""
    rng = random.Random(seed)
    met: Counter[str] = Counter()
    theirs, clock = chess.Board(), 0
    for ply in random_games(variant, games, seed):
        if ply.move is None:
            theirs, clock = THEIR_BOARDS[variant](ply.board.fen(), chess960=True), 0
        else:
            theirs.push(theirs.parse_uci(ply.move))
            resets = theirs.halfmove_clock == 0 or ply.move.startswith("P@")       # the drop only on Lichess
            clock = 0 if resets else clock + 1
            theirs.halfmove_clock = clock
        assert ply.board.fen() == lichess_fen(theirs)
        assert ply.board.is_check() == theirs.is_check()
        assert Board(theirs.fen(), variant=variant).key() == ply.board.key()
        compare_moves(ply.board, ply.moves, theirs, rng)
        outcome = compare_outcome(ply.board, theirs)
        met.update(("positions", outcome.ending) if outcome else ("positions",))
    return met


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_games_equal_python_chess_position_for_position(variant: str) -> None:
    assert compare_games(variant, games=3, seed=1)["positions"] > 100


@pytest.mark.long
@pytest.mark.parametrize("variant", VARIANTS)
def test_many_random_games_equal_python_chess(variant: str) -> None:
    met = compare_games(variant, games=150, seed=2)
    assert met["positions"] > 5000
    assert set(met) >= ENDS[variant]
