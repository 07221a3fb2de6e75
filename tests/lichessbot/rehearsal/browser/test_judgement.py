"""Winning chances and the names of mistakes, as Lichess computes them."""

import math

import chess
import chess.engine
import pytest

from lichessbot.rehearsal.browser.judgement import Judgement, Score, average_loss_cp, judge, winning_chances
from lichessbot.rehearsal.rules.enums import Color

WHITE, BLACK = Color.WHITE, Color.BLACK


@pytest.mark.parametrize("cp", [-5000, -1000, -350, -20, 0, 15, 100, 280, 1000, 4000])
def test_winning_chances_are_those_of_the_formula_and_of_python_chess(cp: int) -> None:
    bounded = max(-1000, min(1000, cp))
    assert winning_chances(Score(cp)) == pytest.approx(2 / (1 + math.exp(-0.00368208 * bounded)) - 1)
    expectation = chess.engine.Cp(bounded).wdl(model="lichess").expectation()
    assert winning_chances(Score(cp)) == pytest.approx(2 * expectation - 1, abs=0.002)


def test_a_mate_is_certain() -> None:
    assert (winning_chances(Score(mate=7)), winning_chances(Score(mate=-1))) == (1.0, -1.0)


@pytest.mark.parametrize(
    ("before", "after", "judgement"),
    [
        # 2 / (1 + exp(0.00368208 * 56)) - 1 is -0.103: from 0 that is an inaccuracy, from -54 (0.099) it is not.
        (Score(0), Score(-54), None),
        (Score(0), Score(-56), Judgement.INACCURACY),
        (Score(0), Score(-112), Judgement.MISTAKE),
        (Score(0), Score(-170), Judgement.BLUNDER),
        (Score(50), Score(200), None),
        (Score(900), Score(600), Judgement.INACCURACY),
        (Score(2000), Score(1100), None),
        # A mate allowed: the worse the position was, the less it matters.
        (Score(0), Score(mate=-3), Judgement.BLUNDER),
        (Score(-750), Score(mate=-3), Judgement.MISTAKE),
        (Score(-1200), Score(mate=-3), Judgement.INACCURACY),
        # A mate lost.
        (Score(mate=3), Score(100), Judgement.BLUNDER),
        (Score(mate=3), Score(800), Judgement.MISTAKE),
        (Score(mate=3), Score(1500), Judgement.INACCURACY),
        (Score(mate=2), Score(mate=-4), Judgement.BLUNDER),
        # A slower mate, a mate found, and one that was certain anyway.
        (Score(mate=2), Score(mate=5), None),
        (Score(300), Score(mate=5), None),
        (Score(mate=-5), Score(mate=-2), None),
        (Score(mate=-5), Score(-300), None),
    ],
)
def test_the_loss_of_chances_names_the_mistake_of_either_side(
    before: Score, after: Score, judgement: Judgement | None
) -> None:
    assert judge(before, after, WHITE) is judgement
    assert judge(before.of(BLACK), after.of(BLACK), BLACK) is judgement
    for_the_opponent = judge(before, after, BLACK)
    assert for_the_opponent is None or for_the_opponent is not judgement


def test_the_average_loss_counts_the_moves_of_one_side() -> None:
    scores = [Score(20), Score(-80), Score(-60), Score(mate=-2)]
    assert average_loss_cp(scores, [WHITE, BLACK, WHITE], WHITE) == round((100 + 940) / 2)
    assert average_loss_cp(scores, [WHITE, BLACK, WHITE], BLACK) == 20
    assert average_loss_cp([Score(0)], [], WHITE) == 0


def test_scores_are_written_as_lichess_does() -> None:
    assert [str(Score(35)), str(Score(-120)), str(Score(mate=-2))] == ["+0.35", "-1.20", "#-2"]
