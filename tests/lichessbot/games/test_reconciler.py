from lichessbot.games.recovery import Reconciler
from lichessbot.timeouts import Timeouts

TIMEOUTS = Timeouts()
SPACING_S = TIMEOUTS.playing_spacing.total_seconds()
HEARTBEAT_S = TIMEOUTS.heartbeat.total_seconds()
NOW = 1000.0


def test_without_a_doubt_nothing_is_looked_at() -> None:
    reconciler = Reconciler(TIMEOUTS)
    assert reconciler.wake_at is None
    assert not reconciler.begin(NOW)


def test_many_doubts_at_once_are_one_look() -> None:
    reconciler = Reconciler(TIMEOUTS)
    for _ in range(20):
        reconciler.want(NOW)
    assert reconciler.begin(NOW)
    assert not reconciler.begin(NOW)
    reconciler.done(NOW + 1, answered=True)
    assert not reconciler.begin(NOW + SPACING_S)


def test_a_doubt_that_came_during_a_look_needs_another_one() -> None:
    reconciler = Reconciler(TIMEOUTS)
    reconciler.want(NOW)
    reconciler.begin(NOW)
    reconciler.want(NOW + 0.1)
    assert not reconciler.begin(NOW + 60), "one at a time"
    reconciler.done(NOW + 0.2, answered=True)
    assert not reconciler.begin(NOW + 1), "and some seconds apart"
    assert reconciler.wake_at == NOW + SPACING_S
    assert reconciler.begin(NOW + SPACING_S)


def test_a_look_that_failed_is_made_again() -> None:
    reconciler = Reconciler(TIMEOUTS)
    reconciler.want(NOW)
    reconciler.begin(NOW)
    reconciler.done(NOW + 15, answered=False)
    assert reconciler.begin(NOW + 15 + SPACING_S)


def test_now_and_then_the_games_are_looked_at_without_a_doubt() -> None:
    reconciler = Reconciler(TIMEOUTS)
    reconciler.want(NOW)
    reconciler.begin(NOW)
    reconciler.done(NOW, answered=True)
    assert not reconciler.begin(NOW + HEARTBEAT_S - 1)
    assert reconciler.begin(NOW + HEARTBEAT_S)
