"""What a side attacks: python-chess, asked piece by piece, must say the same."""

import chess

from engine.core.fen import parse_fen
from engine.evaluation.threats import squares_attacked
from tests.engine.positions import Start, random_games


def test_all_squares_attacked_are_those_that_some_piece_attacks(start: Start) -> None:
    for board in random_games(count=4, plies=120, start=start, seed=86):
        position, _ = parse_fen(board.fen())
        for number, colour in enumerate((chess.WHITE, chess.BLACK)):
            expected = chess.SquareSet()
            for square in chess.SquareSet(board.occupied_co[colour]):
                expected |= board.attacks(square)
            assert squares_attacked(position, number) == int(expected), board.fen()
