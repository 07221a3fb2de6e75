"""A review as the bot says it in the chat."""

import pytest

from engine.facade import accuracy
from lichessbot.config import LONGEST_CHAT_LINE
from lichessbot.games.review.review import Mistake, Review, review_of
from lichessbot.games.review.words import chat_lines
from lichessbot.lichess.enums import Colour
from tests.lichessbot.games.review.games import GAME, MOVES, SCORES, reviewed

WHITE, BLACK = Colour.WHITE, Colour.BLACK


def of_scores(scores: list[int]) -> Review:
    return review_of(GAME, MOVES, reviewed(scores))


def test_two_turning_points_are_said_from_the_opponents_view() -> None:
    review = of_scores([*SCORES[:6], 200, 190, 200, *SCORES[9:]])
    assert chat_lines(review, BLACK) == [
        "Turning points: 3... Nd4 (my chances fell from 49 % to 32 %, better Nf6) "
        "and 5. Nxf7 (yours fell from 68 % to 15 %, better Bxf7+)."
    ]
    assert chat_lines(review, WHITE) == [
        "Turning points: 3... Nd4 (your chances fell from 49 % to 32 %, better Nf6) "
        "and 5. Nxf7 (mine fell from 68 % to 15 %, better Bxf7+)."
    ]


def test_one_or_no_turning_point_is_said_too() -> None:
    assert chat_lines(of_scores(SCORES), WHITE) == [
        "The turning point: 5. Nxf7 (my chances fell from 59 % to 15 %, better Bxf7+)."
    ]
    assert chat_lines(of_scores([15] * 15), WHITE) == [
        "I see no turning point: none of our moves lost much. Well played!"
    ]


@pytest.mark.parametrize("ours", [WHITE, BLACK])
def test_the_longest_notation_fits_into_two_lines(ours: Colour) -> None:
    longest = [
        Mistake(ply, WHITE, f"{ply}...", "a1b2", "Qa1xb2#", accuracy.Judgement.BLUNDER, 100.0, 0.0, "exd8=Q#", "e7d8q")
        for ply in (1111, 1113)
    ]
    lines = chat_lines(Review(reviewed(), [], None, longest), ours)
    assert len(lines) == 2
    assert all(len(line) <= LONGEST_CHAT_LINE for line in lines)
    assert " ".join(lines).count("better exd8=Q#") == 2
