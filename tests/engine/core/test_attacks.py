"""The magic tables against attacks walked square by square."""

import random

import chess
import pytest

from engine.core.attacks import slider_attacks


@pytest.mark.parametrize("diagonal", [True, False], ids=["bishop", "rook"])
def test_magic_attacks_equal_walked_attacks_for_every_relevant_occupancy(diagonal: bool) -> None:
    masks = chess.BB_DIAG_MASKS if diagonal else None
    for square in range(64):
        mask = masks[square] if masks else chess.BB_RANK_MASKS[square] | chess.BB_FILE_MASKS[square]
        subset = 0
        while True:
            table, walked = slider_attacks(square, subset, diagonal)
            assert table == walked
            subset = (subset - mask) & mask
            if subset == 0:
                break


def test_walked_attacks_equal_those_of_python_chess_on_random_boards() -> None:
    rng = random.Random(1)
    for _ in range(2000):
        square, occupied = rng.randrange(64), rng.getrandbits(64) & rng.getrandbits(64)
        board = chess.Board(None)
        board.occupied = occupied
        diagonal = chess.BB_DIAG_ATTACKS[square][chess.BB_DIAG_MASKS[square] & occupied]
        straight = (
            chess.BB_RANK_ATTACKS[square][chess.BB_RANK_MASKS[square] & occupied]
            | chess.BB_FILE_ATTACKS[square][chess.BB_FILE_MASKS[square] & occupied]
        )
        assert slider_attacks(square, occupied, True) == (diagonal, diagonal)
        assert slider_attacks(square, occupied, False) == (straight, straight)
