import time
from dataclasses import replace
from datetime import timedelta
from random import Random
from types import SimpleNamespace

import pytest

from lichessbot.backoff import Backoff
from lichessbot.lichess.rate_limiter import Purpose, RateLimiter
from lichessbot.timeouts import Timeouts

TIMEOUTS = replace(
    Timeouts(),
    rate_limit=timedelta(seconds=0.2),
    longest_pause=timedelta(seconds=5),
    event_stream_window=timedelta(seconds=0.3),
)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that stands still unless a test moves it."""
    clock = SimpleNamespace(now=time.monotonic())
    monkeypatch.setattr("lichessbot.lichess.rate_limiter.time.monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def rate_limiter() -> RateLimiter:
    return RateLimiter(TIMEOUTS)


def test_requests_do_not_wait_without_a_reason(rate_limiter: RateLimiter) -> None:
    assert [rate_limiter.ask(Purpose.OTHER) for _ in range(1000)] == [0.0] * 1000
    assert rate_limiter.pause_s == 0.0


def test_after_a_429_all_requests_wait_for_its_pause(clock: SimpleNamespace, rate_limiter: RateLimiter) -> None:
    rate_limiter.hold_back(timedelta(seconds=0.1))
    for purpose in Purpose:
        assert rate_limiter.ask(purpose) == pytest.approx(0.1)
    assert rate_limiter.ask_to_reopen("game", clock.now) == 0.0, "the clock of a game is running"
    clock.now += 0.11
    assert rate_limiter.ask(Purpose.OTHER) == 0.0


def test_a_shorter_pause_does_not_end_a_longer_one(clock: SimpleNamespace, rate_limiter: RateLimiter) -> None:
    rate_limiter.hold_back(timedelta(seconds=2))
    rate_limiter.hold_back(timedelta(seconds=0.1))
    assert rate_limiter.ask(Purpose.OTHER) == rate_limiter.pause_s == pytest.approx(2)


def test_a_named_quota_holds_nothing_else_back(rate_limiter: RateLimiter) -> None:
    rate_limiter.hold_back(timedelta(hours=20), "bot games")
    assert rate_limiter.pause_s == 0.0


def test_a_used_up_daily_quota_does_not_stop_the_other_requests_for_hours(rate_limiter: RateLimiter) -> None:
    rate_limiter.hold_back(timedelta(hours=20))
    assert rate_limiter.ask(Purpose.OTHER) <= 0.2


@pytest.mark.parametrize(
    ("purpose", "most", "window"),
    [
        (Purpose.EVENT_STREAM, 25, TIMEOUTS.event_stream_window),
        (Purpose.ACCOUNT, 20, TIMEOUTS.account_window),
        (Purpose.CHALLENGE, 4, TIMEOUTS.challenge_window),
        (Purpose.TOURNAMENT, 25, TIMEOUTS.tournament_window),
        (Purpose.DECLINE, 20, TIMEOUTS.decline_window),
        (Purpose.CLOUD, 500, TIMEOUTS.cloud_window),
    ],
)
def test_each_purpose_has_a_budget_below_what_lichess_allows(
    purpose: Purpose, most: int, window: timedelta, clock: SimpleNamespace, rate_limiter: RateLimiter
) -> None:
    assert [rate_limiter.ask(purpose) for _ in range(most)] == [0.0] * most
    assert rate_limiter.ask(purpose) == pytest.approx(window.total_seconds())
    assert rate_limiter.ask(Purpose.OTHER) == 0.0, "other requests have no part in it"
    clock.now += window.total_seconds() + 0.001
    assert rate_limiter.ask(purpose) == 0.0


def test_a_request_that_has_to_wait_is_not_counted(clock: SimpleNamespace, rate_limiter: RateLimiter) -> None:
    rate_limiter.hold_back(timedelta(seconds=0.05))
    for _ in range(100):
        rate_limiter.ask(Purpose.EVENT_STREAM)
    clock.now += 0.06
    for _ in range(100):
        assert rate_limiter.wait_s(Purpose.EVENT_STREAM) == 0.0
    assert rate_limiter.ask(Purpose.EVENT_STREAM) == 0.0


def test_of_two_streams_the_one_that_should_be_open_sooner_goes_first(
    clock: SimpleNamespace, rate_limiter: RateLimiter
) -> None:
    began = clock.now
    for passed_s in (0.0, 0.25, 0.5, 0.75):
        clock.now = began + passed_s
        assert rate_limiter.ask_to_reopen("any", began) == 0.0
    assert rate_limiter.ask_to_reopen("late", began + 5) == pytest.approx(0.25)
    assert rate_limiter.ask_to_reopen("soon", began + 2) == pytest.approx(0.25)
    clock.now = began + 1.001
    assert rate_limiter.ask_to_reopen("late", began + 5) == pytest.approx(0.249), "the room is for the other one"
    assert rate_limiter.ask_to_reopen("soon", began + 2) == 0.0
    clock.now = began + 1.251
    assert rate_limiter.ask_to_reopen("late", began + 5) == 0.0
    assert set(rate_limiter.held_back) == {"streams of games"}


def test_a_stream_that_is_not_wanted_any_more_holds_up_no_other(
    clock: SimpleNamespace, rate_limiter: RateLimiter
) -> None:
    began = clock.now
    waits_s = [rate_limiter.ask_to_reopen(stream, began + stream) for stream in range(13)]
    assert waits_s == pytest.approx([0.0] * 4 + [TIMEOUTS.stream_window.total_seconds()] * 9)
    for stream in range(4, 12):
        rate_limiter.withdraw(stream)
    clock.now = began + 1.001
    assert rate_limiter.ask_to_reopen(12, began + 12) == 0.0


def test_none_of_many_streams_waits_for_long_and_least_of_all_the_one_with_little_time(
    clock: SimpleNamespace, rate_limiter: RateLimiter
) -> None:
    began = clock.now
    chance = Random(1)
    streams = list(range(16))
    patience_s = dict.fromkeys(streams, 5.0) | {0: 2.5}
    asks_at = dict.fromkeys(streams, clock.now)
    wants_since = dict.fromkeys(streams, clock.now)
    waits_s: dict[int, list[float]] = {stream: [] for stream in streams}
    opened_at: list[float] = []
    while clock.now < began + 60:
        clock.now += 0.01
        chance.shuffle(streams)
        for stream in streams:
            if clock.now < asks_at[stream]:
                continue
            wait_s = rate_limiter.ask_to_reopen(stream, wants_since[stream] + patience_s[stream])
            asks_at[stream] = clock.now + (wait_s or 0.5)
            if wait_s == 0.0:
                waits_s[stream].append(clock.now - wants_since[stream])
                opened_at.append(clock.now)
                wants_since[stream] = clock.now + 0.5
    assert len(opened_at) > 200, "nearly four a second"
    window_s = TIMEOUTS.stream_window.total_seconds()
    assert all(fifth - first > window_s - 1e-6 for first, fifth in zip(opened_at, opened_at[4:], strict=False))
    assert max(waits_s[0]) < 2.5
    assert max(wait_s for waits in waits_s.values() for wait_s in waits) < 16 / 4 + 1.5


@pytest.mark.parametrize("purpose", [Purpose.EVENT_STREAM, Purpose.ACCOUNT])
def test_an_outage_of_hours_stays_within_the_limits(purpose: Purpose, clock: SimpleNamespace) -> None:
    timeouts = Timeouts()
    rate_limiter, backoff = (
        RateLimiter(timeouts),
        Backoff(timeouts.backoff_first, timeouts.backoff_ceiling, random=Random(7)),
    )
    for _ in range(500):
        wait_s = rate_limiter.ask(purpose)
        assert wait_s < timeouts.backoff_ceiling.total_seconds()
        clock.now += wait_s or backoff.next_delay().total_seconds()


def test_what_is_held_back_is_told_in_words(clock: SimpleNamespace, rate_limiter: RateLimiter) -> None:
    assert rate_limiter.held_back == {}
    for _ in range(4):
        rate_limiter.ask(Purpose.CHALLENGE)
    rate_limiter.hold_back(timedelta(seconds=3))
    window_s = TIMEOUTS.challenge_window.total_seconds()
    assert rate_limiter.held_back == pytest.approx({"all but moves": 3, "challenges": window_s})
