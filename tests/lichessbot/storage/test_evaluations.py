"""Evaluations as the records keep them."""

import pytest

from lichessbot.storage.evaluations import mate_cp, mate_in, score_text


@pytest.mark.parametrize(
    ("score_cp", "mate", "text"),
    [(35, None, "+0.35"), (-1234, None, "-12.34"), (99_997, 3, "#3"), (-99_998, -2, "#-2"), (0, None, "+0.00")],
)
def test_an_evaluation_is_shown_in_pawns_or_moves_to_mate(score_cp: int, mate: int | None, text: str) -> None:
    assert (mate_in(score_cp), score_text(score_cp)) == (mate, text)


@pytest.mark.parametrize(("moves", "score_cp"), [(1, 99_999), (3, 99_997), (-3, -99_997), (0, -100_000)])
def test_a_mate_survives_as_a_number(moves: int, score_cp: int) -> None:
    assert mate_cp(moves) == score_cp
    assert mate_in(score_cp) == moves
