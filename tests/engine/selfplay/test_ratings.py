"""Fitted ratings: the truth is found from synthetic results, with honest error bars."""

import math
import random
from itertools import pairwise

import pytest

from engine.selfplay.ratings import Pairing, fit, rising
from engine.selfplay.sprt import expected_score

TRUE = {"random": 300.0, "weak": 700.0, "middle": 1000.0, "strong": 1350.0, "anchor": 1500.0, "best": 1650.0}


def exact(games: int) -> list[Pairing]:
    """Results as the true ratings predict them."""
    return [Pairing(a, b, games * expected_score(TRUE[a] - TRUE[b]), games) for a, b in pairwise(TRUE)]


def drawn_by_lot(games: int, rng: random.Random) -> list[Pairing]:
    return [
        Pairing(a, b, sum(rng.random() < expected_score(TRUE[a] - TRUE[b]) for _ in range(games)), games)
        for a, b in pairwise(TRUE)
    ]


def test_exact_results_give_the_true_ratings() -> None:
    """The half draw that is added to each pairing pulls a little."""
    for name, rated in fit(exact(1_000_000), {"anchor": 1500.0}).items():
        assert rated.rating == pytest.approx(TRUE[name], abs=0.1)


def test_several_anchors_keep_their_ratings() -> None:
    found = fit(exact(1000), {"anchor": 1500.0, "middle": 990.0})
    assert (found["anchor"].rating, found["middle"].rating) == (1500.0, 990.0)
    assert found["anchor"].error == 0.0
    assert 1340 < found["strong"].rating < 1360


def test_the_error_grows_with_the_distance_from_the_anchor_and_covers_the_truth() -> None:
    inside = 0
    for seed in range(40):
        found = fit(drawn_by_lot(200, random.Random(seed)), {"anchor": 1500.0})
        errors = [found[name].error for name in ("strong", "middle", "weak", "random")]
        assert errors == sorted(errors)
        inside += abs(found["weak"].rating - TRUE["weak"]) <= found["weak"].error
    assert inside >= 34            # of 40, by a 95 % interval


def test_the_errors_by_hand() -> None:
    """An even game tells SLOPE**2 / 4; variances add up along a chain."""
    found = fit([Pairing("far", "near", 200, 400), Pairing("near", "anchor", 200, 400)], {"anchor": 1500.0})
    assert found["near"].error == pytest.approx(1.96 * 2 / (math.log(10) / 400 * math.sqrt(400.5)))
    assert found["far"].error == pytest.approx(found["near"].error * math.sqrt(2))
    assert [found[name].games for name in ("far", "near", "anchor")] == [400, 800, 400]


def test_without_an_anchor_the_first_player_has_0() -> None:
    found = fit([Pairing("first", "second", 7500, 10_000)], {})
    assert found["first"].rating == 0
    assert found["second"].rating == pytest.approx(-190.8, abs=0.1)


def test_a_pairing_without_a_loss_has_finite_ratings() -> None:
    found = fit([Pairing("a", "b", 20, 20)], {"b": 1000.0})
    assert 1400 < found["a"].rating < 2000


def test_a_player_without_games_against_the_rated_is_left_out() -> None:
    results = [*exact(100), Pairing("stranger", "other stranger", 5, 10)]
    assert set(fit(results, {"anchor": 1500.0})) == set(TRUE)


def test_rising_joins_neighbours_that_fall() -> None:
    assert rising([(1, 10), (2, 30), (3, 20), (4, 40)]) == [(1, 10), (2, 25), (3, 25), (4, 40)]
    assert rising([(3, 1), (1, 3), (2, 2)]) == [(1, 2), (2, 2), (3, 2)]
    assert rising([(3, 10), (2, 20), (2, 0), (1, 30)]) == [(1, 15), (2, 15), (2, 15), (3, 15)]


def test_rising_has_one_value_for_equal_places() -> None:
    assert rising([(2, 10), (1, 0), (2, 30), (2, 20), (3, 40)]) == [(1, 0), (2, 20), (2, 20), (2, 20), (3, 40)]
