"""Results are counted by bands, and an uneven band fails."""

import pytest

from tests.benchmarks.matching import BANDS, interval, read, report


def printed(won: int, drawn: int, lost: int, rating: int = 850) -> str:
    return f"against {rating}: {won + drawn + lost} games, {won} won, {drawn} drawn, {lost} lost, 0.0 %\n"


def test_two_ratings_share_a_band() -> None:
    assert read(["game 1\n", printed(5, 1, 6), printed(4, 2, 5, 950), printed(1, 0, 0, 1050)]) == {
        800: (9, 3, 11), 1000: (1, 0, 0),
    }  # fmt: skip


def test_the_interval_is_wilsons() -> None:
    score, low, high = interval((50, 0, 50))
    assert (score, round(low, 1), round(high, 1)) == (50.0, 40.4, 59.6)


@pytest.mark.parametrize(("won", "is_even"), [(50, True), (64, True), (85, False), (15, False)])
def test_a_band_fails_once_it_is_clearly_uneven(won: int, is_even: bool) -> None:
    bands = dict.fromkeys(BANDS, (50, 0, 50))
    assert report({**bands, 1400: (won, 0, 100 - won)}, 100 * len(BANDS)) is is_even


def test_missing_games_fail() -> None:
    assert not report(dict.fromkeys(BANDS, (5, 1, 5)), 200)
