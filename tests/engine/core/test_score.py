"""Packed scores and the table's view of mates."""

from hypothesis import given
from hypothesis import strategies as st

from engine.core.score import MATE, mate_distance


def test_mates_are_counted_in_full_moves() -> None:
    assert mate_distance(MATE - 1) == 1
    assert mate_distance(MATE - 3) == 2
    assert mate_distance(-MATE) == 0
    assert mate_distance(-MATE + 2) == -1
    assert mate_distance(-MATE + 4) == -2


@given(st.integers(-20000, 20000))
def test_ordinary_scores_are_no_mates(score: int) -> None:
    assert mate_distance(score) is None
