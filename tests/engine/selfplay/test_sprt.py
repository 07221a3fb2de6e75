"""Match statistics: error bounds and the sequential test."""

import random

import pytest

from engine.selfplay.sprt import LLR_BOUND, MatchScore, Sprt, elo_difference, expected_score


def score_of(*pairs: int) -> MatchScore:
    return MatchScore(list(pairs))


def test_an_even_match_proves_nothing() -> None:
    score = score_of(10, 20, 40, 20, 10)
    assert score.games == 200
    assert score.share() == 0.5
    assert score.likelihood_of_superiority() == 0.5
    middle, low, high = score.elo()
    assert middle == 0
    assert low == pytest.approx(-high)


def test_three_quarters_of_the_points_are_191_elo() -> None:
    assert elo_difference(0.75) == pytest.approx(190.8, abs=0.1)
    assert elo_difference(0.25) == pytest.approx(-190.8, abs=0.1)


def test_more_games_narrow_the_bounds() -> None:
    few, many = score_of(1, 2, 4, 3, 2), score_of(10, 20, 40, 30, 20)
    assert few.error() > 2.5 * many.error()
    assert 0.5 < few.likelihood_of_superiority() < many.likelihood_of_superiority() < 1


def test_pairs_split_by_colour_have_a_smaller_error() -> None:
    """If White wins every game, each pair is 1-1 and the players are equal."""
    assert score_of(0, 0, 50, 0, 0).error() < 0.5 * score_of(25, 0, 0, 0, 25).error()


def test_a_perfect_score_has_finite_bounds() -> None:
    middle, low, high = score_of(0, 0, 0, 0, 10).elo()
    assert 200 < low < middle <= high < 1300
    assert 0.5 < score_of(0, 0, 0, 0, 1).likelihood_of_superiority() < 0.95


def test_the_score_as_text_has_no_doubt_added() -> None:
    even = str(score_of(10, 20, 40, 20, 10))
    assert even.startswith("200 games, 50.0 %, Elo +0 (-")
    assert even.endswith(", pairs 10 20 40 20 10, better with 50.0 %")
    assert str(score_of(2, 0, 0, 0, 0)).startswith("4 games, 0.0 %, Elo ")
    assert str(score_of(0, 0, 0, 0, 3)).startswith("6 games, 100.0 %, Elo ")
    assert str(MatchScore()).startswith("0 games, 0.0 %, Elo +0 (-")
    assert MatchScore() == score_of(0, 0, 0, 0, 0)


def test_elo_difference_and_expected_score_are_inverse() -> None:
    for elo in (-400.0, -10.0, 0.0, 3.5, 120.0):
        assert elo_difference(expected_score(elo)) == pytest.approx(elo)


def test_a_score_halfway_between_the_hypotheses_favours_neither() -> None:
    score = score_of(0, 0, 100, 0, 0)
    assert score.log_likelihood_ratio(-5, 5) == pytest.approx(0)
    assert score.log_likelihood_ratio(0, 10) < 0 < score.log_likelihood_ratio(-10, 0)


def test_the_bounds_by_hand() -> None:
    """52.5 % with a standard error of 1.2437 %, less half a pair at either end: 50.06 to 54.94 %; and log(19)."""
    assert score_of(20, 80, 180, 80, 40).elo() == pytest.approx((17.4, 0.4, 34.4), abs=0.2)
    assert pytest.approx(2.944, abs=0.001) == LLR_BOUND


def test_the_log_likelihood_ratio_by_hand() -> None:
    """400 pairs of 52.5 % with a variance of 0.061875, and 51.4387 % for 10 Elo, less half a pair at either end."""
    by_hand = 400 * 0.014387 * (2 * 0.525 - 0.5 - 0.514387) / (2 * 0.061875)
    assert score_of(20, 80, 180, 80, 40).log_likelihood_ratio(0, 10) == pytest.approx(by_hand, rel=0.02)


def test_the_line_of_a_test_shows_its_state() -> None:
    assert Sprt(0, 10).line(score_of(5, 20, 50, 22, 6)).endswith("goes on")
    assert Sprt(0, 10).line(score_of(20, 200, 500, 350, 80)).endswith("accepted: +10")
    assert Sprt(0, 10).line(score_of(80, 350, 500, 200, 20)).endswith("accepted: +0")


@pytest.mark.parametrize(("lead", "decided"), [(0, -1), (10, 1)])
def test_a_sequential_test_rarely_errs(lead: float, decided: int) -> None:
    """At least 34 of 40 tests of [0, 10] end with the right hypothesis."""
    rng = random.Random(3)
    ends = []
    for _ in range(40):
        score = MatchScore()
        while abs(score.log_likelihood_ratio(0, 10)) < LLR_BOUND and score.games < 40_000:
            drift = expected_score(lead) - 0.5
            outcomes = rng.choices(range(5), (0.05 - drift / 2, 0.2 - drift, 0.5, 0.2 + drift, 0.05 + drift / 2), k=50)
            for half_points in outcomes:
                score.add(half_points)
        ends.append(score.log_likelihood_ratio(0, 10) * decided >= LLR_BOUND)
    assert sum(ends) >= 34
