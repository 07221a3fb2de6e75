"""Winning chances, accuracy and the names of mistakes, as Lichess computes them."""

import math

import chess
import chess.engine
import pytest

from engine.accuracy import (
    Judgement,
    Score,
    average_loss_cp,
    game_accuracy,
    judge,
    move_accuracy,
    win_percent,
    winning_chances,
)

WHITE, BLACK = "white", "black"


@pytest.mark.parametrize("cp", [-5000, -1000, -350, -20, 0, 15, 100, 280, 1000, 4000])
def test_winning_chances_are_those_of_the_formula_and_of_python_chess(cp: int) -> None:
    bounded = max(-1000, min(1000, cp))
    assert winning_chances(Score(cp)) == pytest.approx(2 / (1 + math.exp(-0.00368208 * bounded)) - 1)
    expectation = chess.engine.Cp(bounded).wdl(model="lichess").expectation()
    assert winning_chances(Score(cp)) == pytest.approx(2 * expectation - 1, abs=0.002)


def test_a_mate_counts_as_ten_pawns() -> None:
    assert winning_chances(Score(mate=7)) == winning_chances(Score(1000))
    assert winning_chances(Score(mate=-1)) == winning_chances(Score(-1000))
    assert win_percent(Score(mate=1)) == pytest.approx(97.5, abs=0.1)


def test_an_even_game_is_won_by_either_side_in_half_the_cases() -> None:
    assert win_percent(Score(0)) == 50.0
    assert win_percent(Score(100)) == pytest.approx(59.1, abs=0.1)
    assert win_percent(Score(-100)) == pytest.approx(40.9, abs=0.1)


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
        (Score(-700), Score(mate=-3), Judgement.BLUNDER),
        (Score(-701), Score(mate=-3), Judgement.MISTAKE),
        (Score(-999), Score(mate=-3), Judgement.MISTAKE),
        (Score(-1000), Score(mate=-3), Judgement.INACCURACY),
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


# Accuracy


@pytest.mark.parametrize(
    ("before", "after", "accuracy"),
    # 103.1668 * exp(-0.04354 * loss) - 3.1669 + 1
    [(50, 50, 100), (50, 60, 100), (100, 95, 80.8), (60, 50, 64.6), (100, 80, 41.0), (100, 60, 15.9), (90, 0, 0)],
)
def test_the_accuracy_of_a_move_falls_with_the_loss(before: float, after: float, accuracy: float) -> None:
    assert move_accuracy(before, after) == pytest.approx(accuracy, abs=0.1)


def accuracies(cps: list[int], begins: str) -> tuple[float, float] | None:
    found = game_accuracy([Score(cp) for cp in [15, *cps]], begins)
    return None if found is None else (found["white"], found["black"])


# Of lila: modules/analyse/src/test/AccuracyPercentTest.scala, with its tolerances.
@pytest.mark.parametrize(
    ("begins", "cps", "white", "black"),
    [
        (WHITE, [15, 15], (100, 1), (100, 1)),
        (WHITE, [-900, -900], (10, 5), (100, 1)),
        (WHITE, [15, 900], (100, 1), (10, 5)),
        (WHITE, [-900, 0], (10, 5), (10, 5)),
        (WHITE, [15] * 20, (100, 1), (100, 1)),
        (WHITE, [15] * 20 + [-900], (50, 5), (100, 1)),
        (WHITE, [15] * 21 + [900], (100, 1), (50, 5)),
        (WHITE, [-50, 15] * 5, (76, 8), (76, 8)),
        (WHITE, [-50, 15] * 50, (76, 8), (76, 8)),
        (WHITE, [-135, 15] * 50, (54, 8), (54, 8)),
        (WHITE, [-435, 15] * 50, (20, 8), (20, 8)),
        (BLACK, [15, 15], (100, 1), (100, 1)),
        (BLACK, [900, 900], (100, 1), (10, 5)),
        (BLACK, [15, -900], (10, 5), (100, 1)),
        (BLACK, [900, 0], (10, 5), (10, 5)),
    ],
)
def test_games_have_the_accuracy_of_lilas_tests(
    begins: str, cps: list[int], white: tuple[int, int], black: tuple[int, int]
) -> None:
    found = accuracies(cps, begins)
    assert found[0] == pytest.approx(white[0], abs=white[1])
    assert found[1] == pytest.approx(black[0], abs=black[1])


def test_without_a_move_of_both_sides_there_is_no_accuracy() -> None:
    assert game_accuracy([]) is accuracies([], WHITE) is accuracies([15], BLACK) is None
