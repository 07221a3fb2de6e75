from datetime import timedelta
from random import Random

import pytest

from lichessbot.backoff import Backoff, doubled

FIRST = timedelta(seconds=1)
CEILING = timedelta(seconds=10)


def test_the_first_retry_is_immediate() -> None:
    assert Backoff(FIRST, CEILING).next_delay() == timedelta()


def test_later_delays_double_within_their_random_half() -> None:
    backoff = Backoff(FIRST, CEILING, random=Random(1))
    backoff.next_delay()
    for bound_s in (1, 2, 4, 8, 10, 10):
        assert bound_s / 2 <= backoff.next_delay().total_seconds() <= bound_s


def test_a_day_of_failures_stays_below_the_ceiling() -> None:
    backoff = Backoff(FIRST, CEILING)
    assert all(backoff.next_delay() <= CEILING for _ in range(10_000))


@pytest.mark.parametrize("first", [timedelta(milliseconds=1), timedelta(days=2), timedelta(days=366)])
def test_no_duration_is_doubled_beyond_what_python_can_hold(first: timedelta) -> None:
    assert doubled(first, 10_000, timedelta(days=30)) == timedelta(days=30)


def test_a_success_starts_a_new_series() -> None:
    backoff = Backoff(FIRST, CEILING)
    backoff.next_delay()
    backoff.next_delay()
    backoff.reset()
    assert backoff.next_delay() == timedelta()


def test_two_series_have_different_delays() -> None:
    one, other = Backoff(FIRST, CEILING), Backoff(FIRST, CEILING)
    assert [one.next_delay() for _ in range(5)] != [other.next_delay() for _ in range(5)]
