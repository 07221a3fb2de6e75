"""Random games compared with Fairy-Stockfish (pyffish), whose rules are nobody else's here."""

import pytest

from engine.facade import Board
from tests.engine.variants.games import PLIES, UCI_NAMES, VARIANTS, random_games

pyffish = pytest.importorskip("pyffish")


def fairy_fen(board: Board) -> str:
    """The FEN as Fairy-Stockfish writes it."""
    fields = board.fen().split(" ")
    if board.variant == "crazyhouse":
        ranks, _, pockets = fields[0].rpartition("/")
        fields[0] = f"{ranks}[{pockets}]"
    if board.variant == "threeCheck":
        white, black = fields.pop()[1:].split("+")
        fields.insert(4, f"{3 - int(white)}+{3 - int(black)}")
    return " ".join(fields)


def compare_games(variant: str, games: int, seed: int, plies: int) -> int:
    """Compare the legal moves in every position of this many games, and in each fourth whether the game is over.

    Returns how many positions there were.
    """
    name, positions = UCI_NAMES[variant], 0
    for ply in random_games(variant, games, seed, plies):
        fen, ours = fairy_fen(ply.board), sorted(ply.moves)
        is_over = not ours or positions % 4 == 0
        if is_over:
            is_over, _ = pyffish.is_immediate_game_end(name, fen, [])
            assert not (is_over and ours), fen
        if not is_over:
            assert ours == sorted(pyffish.legal_moves(name, fen, [], ply.board.chess960)), fen
        positions += 1
    return positions


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_games_equal_fairy_stockfish_move_for_move(variant: str) -> None:
    assert compare_games(variant, games=2, seed=31, plies=30) > 20


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_million_positions_equal_fairy_stockfish(variant: str, seed: int) -> None:
    positions = 0
    while positions < 1_000_000 / 70:              # seven variants, ten seeds
        positions += compare_games(variant, games=10, seed=1_000_000 * seed + positions, plies=PLIES)
