"""The starting positions of Chess960: the same numbers as python-chess."""

import chess
import pytest

from engine.facade import chess960_fen


def test_every_chess960_position_has_its_number() -> None:
    for number in range(960):
        assert chess960_fen(number) == chess.Board.from_chess960_pos(number).fen()


@pytest.mark.parametrize("number", [-1, 960])
def test_there_are_960_positions(number: int) -> None:
    with pytest.raises(ValueError, match="0 to 959"):
        chess960_fen(number)
