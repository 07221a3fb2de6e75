"""What a Python program meets when it gives the facade numbers and names that cannot be."""

import pytest

from engine.facade import Board, perft

TOO_MANY = 10**30


@pytest.mark.parametrize("depth", [-1, 101, TOO_MANY])
@pytest.mark.parametrize("variant", ["standard", "atomic"])
def test_a_perft_of_an_impossible_depth_is_refused(depth: int, variant: str) -> None:
    board = Board(variant=variant)
    before = board.fen()
    with pytest.raises(ValueError, match=f"expected a depth from 0 to 100, found {depth}"):
        sum(board.perft(depth))
    with pytest.raises(ValueError, match="expected a depth from 0 to 100"):
        perft(board.position, depth)
    assert board.fen() == before
