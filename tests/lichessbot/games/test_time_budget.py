"""The time budget of a game."""

import math
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.facade import Board, Limits, longest_think_s
from lichessbot.config import EngineConfig
from lichessbot.games.time_budget import GameClock, MoveTimes, longest_unread_s
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.models import GameFull, GameInfo
from tests.lichessbot.games.clocks import NOW, TIMEOUTS, clock, full

# Time budget


ENGINE = EngineConfig()
START = Board()


@pytest.mark.parametrize(
    ("reading", "elapsed_s", "remaining_s"),
    [
        (clock(), 10, 50),
        (clock(colour=Colour.BLACK), 10, 50),
        (clock(), 100, 0),
        (clock(running=False), 10, 60),
        (clock(timed=False), 10**6, math.inf),
    ],
    ids=["white", "black", "flag", "not running", "untimed"],
)
def test_the_remaining_time(reading: GameClock, elapsed_s: float, remaining_s: float) -> None:
    assert reading.remaining_s(NOW + elapsed_s) == remaining_s


def test_the_engine_gets_what_is_left_of_both_clocks() -> None:
    limits = clock(increment_ms=2000, their_increment_ms=500).limits(ENGINE, NOW + 1)
    assert (limits.white_time_ms, limits.black_time_ms) == (59_000, 90_000)
    assert (limits.white_increment_ms, limits.black_increment_ms) == (2000, 500)
    limits = clock(colour=Colour.BLACK).limits(ENGINE, NOW + 1)
    assert (limits.white_time_ms, limits.black_time_ms) == (90_000, 59_000)
    assert clock().limits(ENGINE, NOW + 100).white_time_ms == 1, "never 0"
    limits = clock().limits(EngineConfig(depth=5, nodes=1000), NOW)
    assert (limits.depth, limits.nodes) == (5, 1000)


def test_a_fixed_move_time_gives_way_when_the_clock_no_longer_bears_it() -> None:
    engine = EngineConfig(move_time_ms=1000)
    assert clock(60_000).limits(engine, NOW).move_time_ms == 1000
    assert clock(15_000).limits(engine, NOW).move_time_ms is None
    assert clock(15_000, increment_ms=1000).limits(engine, NOW).move_time_ms == 1000
    assert clock(900, increment_ms=1000).limits(engine, NOW).move_time_ms is None


def test_a_game_without_a_clock_has_a_fixed_move_time() -> None:
    untimed = clock(2_147_483_647, timed=False)
    assert untimed.limits(ENGINE, NOW).move_time_ms == 10_000
    assert untimed.limits(EngineConfig(move_time_ms=300), NOW).move_time_ms == 300
    assert untimed.limits(ENGINE, NOW).white_time_ms is None


@settings(deadline=None)  # a busy machine is no failure
@given(st.integers(0, 10**7), st.integers(0, 180_000), st.floats(0, 1000))
def test_a_hung_engine_is_replaced_before_the_flag_falls(ours_ms: int, increment_ms: int, elapsed_s: float) -> None:
    reading = clock(ours_ms, increment_ms=increment_ms)
    now = NOW + elapsed_s
    remaining_s = reading.remaining_s(now)
    patience_s = reading.think_limit_s(ENGINE, reading.limits(ENGINE, now), START, now)
    stopping_s = reading.stop_limit_s(now + patience_s)
    fallback_s = reading.fallback_limit_s(now + patience_s + stopping_s)
    rounding_s = 1e-9
    assert 0 <= patience_s <= remaining_s
    assert 0 <= stopping_s <= (remaining_s - patience_s) / 4 + rounding_s
    assert 0 <= fallback_s <= min(0.05, (remaining_s - patience_s - stopping_s) / 40 + rounding_s)
    assert patience_s + stopping_s + fallback_s < remaining_s + rounding_s


@settings(deadline=None)
@given(st.integers(1, 10**7), st.integers(0, 180_000), st.booleans())
def test_the_wait_for_an_engine_that_starts_is_a_small_share(ours_ms: int, increment_ms: int, first: bool) -> None:
    reading = clock(ours_ms, increment_ms=increment_ms)
    limits = reading.limits(ENGINE, NOW)
    think_limit_s = reading.think_limit_s(EngineConfig(command=("lc0",)), limits, START, NOW)
    limit_s = reading.start_limit_s(think_limit_s, NOW, first=first)
    rounding_s = 1e-9
    assert 0 <= limit_s <= ours_ms / 1000 / (8 if first else 20) + rounding_s


def test_our_own_engine_is_stopped_after_its_known_maximum() -> None:
    foreign, reading = EngineConfig(command=("stockfish",)), clock(60_000)
    limits = reading.limits(ENGINE, NOW)
    assert reading.think_limit_s(foreign, limits, START, NOW) == 30
    assert clock(2000, increment_ms=9000).think_limit_s(foreign, limits, START, NOW) == 1.5, "the increment comes later"
    assert 3 < (longest_s := longest_think_s(limits, START)) < 10
    assert reading.think_limit_s(ENGINE, limits, START, NOW) == longest_s + 2
    assert clock(3000).think_limit_s(ENGINE, clock(3000).limits(ENGINE, NOW), START, NOW) < 1


def test_the_think_limit_covers_a_start_while_no_clock_runs() -> None:
    reading = clock(5000, running=False)
    patience_s = reading.think_limit_s(ENGINE, reading.limits(ENGINE, NOW), START, NOW)
    assert patience_s > TIMEOUTS.engine_handshake.total_seconds()


def test_an_engine_that_hung_gets_less_of_a_clock_that_runs() -> None:
    assert clock(60_000, increment_ms=2000).limit_after_a_hang_s(30.0, NOW) == 60 / 8 + 2
    assert clock(60_000).limit_after_a_hang_s(5.0, NOW) == 5.0
    assert clock(60_000, running=False).limit_after_a_hang_s(25.0, NOW) == 25.0


def test_a_first_move_in_an_arena_is_found_before_lichess_ends_the_game() -> None:
    reading = replace(clock(60_000, running=False), in_arena=True)
    for waited_s, left_s in ((0.0, 8.0), (6.0, 2.0), (9.0, 0.0)):  # the engine has started meanwhile
        now = NOW + waited_s
        assert reading.think_limit_s(EngineConfig(command=("lc0",)), reading.limits(ENGINE, now), START, now) == left_s
        assert reading.start_limit_s(left_s, now, first=True) == left_s
    running = replace(clock(60_000), in_arena=True)
    assert running.think_limit_s(EngineConfig(command=("lc0",)), running.limits(ENGINE, NOW), START, NOW) == 30


def test_a_first_move_is_found_before_opponents_abort() -> None:
    reading = clock(1_800_000, running=False)
    limits = reading.limits(ENGINE, NOW)
    assert limits.white_time_ms == 120_000
    assert reading.think_limit_s(EngineConfig(command=("lc0",)), limits, START, NOW) == 25
    assert clock(1_800_000).limits(ENGINE, NOW).white_time_ms == 1_800_000


def test_a_correspondence_search_takes_a_share_of_the_days() -> None:
    by_days = replace(clock(40_000, timed=False), by_days=True)
    assert by_days.remaining_s(NOW + 10) == 30
    assert by_days.limits(EngineConfig(move_time_ms=60_000), NOW).move_time_ms == 10_000
    assert by_days.limits(EngineConfig(move_time_ms=5000), NOW).move_time_ms == 5000
    assert by_days.limits(EngineConfig(move_time_ms=5000), NOW + 100).move_time_ms == 1


def test_the_think_limit_without_a_clock() -> None:
    reading = clock(timed=False)
    limits = reading.limits(ENGINE, NOW)
    assert reading.think_limit_s(ENGINE, limits, START, NOW) == 27, "10 s, 2 s for a busy machine, 15 s for the start"


def test_the_last_seconds_of_the_days_are_not_all_spent_on_an_engine() -> None:
    by_days = replace(clock(1000, timed=False), by_days=True)
    assert by_days.think_limit_s(ENGINE, by_days.limits(ENGINE, NOW), START, NOW) == 0.5


@pytest.mark.parametrize(
    ("ours_ms", "asked_s", "expected_s"),
    [
        (120_000, 60.0, 60.0),  # the clock survives the pause
        (80_000, 60.0, 60.0),
        (70_000, 60.0, 35.0),  # it does, but hardly anything would be left for the moves to come
        (60_000, 60.0, 30.0),  # it does not: half of what is left
        (61_000, 60.0, 30.5),
        (10_000, 60.0, 5.0),
        (1_000, 60.0, 1.0),  # but a second apart at least
        (10_000, 3.0, 3.0),
    ],
)
def test_a_refused_move_waits_as_long_as_the_clock_allows(ours_ms: int, asked_s: float, expected_s: float) -> None:
    assert clock(ours_ms).refused_move_pause_s(asked_s, NOW) == expected_s


def test_a_refused_first_move_waits_at_most_ten_seconds() -> None:
    assert clock(60_000, running=False).refused_move_pause_s(60.0, NOW) == 10.0
    assert clock(60_000, running=False).refused_move_pause_s(3.0, NOW) == 3.0


@pytest.mark.parametrize(
    ("waited_s", "expected_s"),
    [
        (1.0, 7.0),  # half of what is left before Lichess ends the game
        (14.5, 1.0),
        (20.0, 10.0),  # a slow game goes on longer
    ],
)
def test_a_refused_first_move_in_an_arena_is_sent_again_in_time(waited_s: float, expected_s: float) -> None:
    reading = replace(clock(60_000, running=False), in_arena=True)
    assert reading.refused_move_pause_s(60.0, NOW + waited_s) == expected_s
    assert reading.refused_move_pause_s(0.5, NOW + waited_s) == (0.5 if waited_s != 14.5 else 1.0)


def test_a_refused_move_waits_as_asked_in_a_game_without_a_clock() -> None:
    for running in (True, False):
        assert clock(timed=False, running=running).refused_move_pause_s(60.0, NOW) == 60.0


@pytest.mark.parametrize(
    ("ours_ms", "planned_s", "expected_s"), [(60_000, 3, 3), (8_000, 3, 1), (80, 3, 0.1), (80, 0, 0)]
)
def test_a_retry_takes_no_more_than_a_part_of_the_clock(ours_ms: int, planned_s: float, expected_s: float) -> None:
    assert clock(ours_ms).retry_pause_s(planned_s, NOW) == pytest.approx(expected_s)


@pytest.mark.parametrize(("ours_ms", "expected_s"), [(60_000, 3), (12_000, 3), (8_000, 2), (3_000, 1), (10, 1)])
def test_the_answer_to_a_move_is_awaited_as_long_as_the_clock_allows(ours_ms: int, expected_s: float) -> None:
    assert clock(ours_ms).move_answer_s(NOW) == expected_s


def test_the_answer_to_a_move_is_awaited_as_usual_in_a_game_without_a_clock_and_where_all_waits_are_short() -> None:
    assert clock(timed=False).move_answer_s(NOW) == 3
    scaled = replace(clock(1000), timeouts=replace(TIMEOUTS, game_answer=timedelta(seconds=0.9)))
    assert scaled.move_answer_s(NOW) == 0.9


@pytest.mark.parametrize(("ours_ms", "expected_s"), [(3_600_000, 20), (80_000, 10), (10_000, 3)])
def test_a_silent_opponent_is_checked_sooner_with_less_time(ours_ms: int, expected_s: float) -> None:
    assert clock(ours_ms, running=False).silence_s(NOW) == expected_s


def test_a_silent_opponent_is_checked_without_a_clock() -> None:
    assert clock(timed=False).silence_s(NOW) == TIMEOUTS.heartbeat.total_seconds()


def test_our_clock_counts_as_running_while_the_stream_is_lost() -> None:
    waiting = clock(16_000, running=False)
    assert waiting.reopen_pause_s(12.0, NOW, as_asked=True) == 12.0
    assert waiting.reopen_pause_s(12.0, NOW + 4, as_asked=True) == 6.0


def test_a_lost_stream_is_reopened_sooner_with_less_time() -> None:
    waiting = clock(80_000, running=False)
    moments = (0, 40, 60, 76, 79.9)
    pauses_s = [waiting.reopen_pause_s(4.0, NOW + gone_s, as_asked=False) for gone_s in moments]
    assert pauses_s == pytest.approx([4.0, 4.0, 2.5, 0.5, 0.1])
    asked_s = [waiting.reopen_pause_s(4.0, NOW + gone_s, as_asked=True) for gone_s in moments]
    assert asked_s == pytest.approx([4.0, 4.0, 4.0, 2.0, 1.0])


def test_the_next_line_is_waited_for_less_with_less_time() -> None:
    waiting = clock(80_000, running=False)
    floor_s = TIMEOUTS.stream_floor.total_seconds()
    assert [waiting.opening_s(15.0, NOW + gone_s) for gone_s in (0, 40, 80)] == pytest.approx([10.0, 5.0, floor_s])
    assert waiting.opening_s(7.0, NOW) == 7.0


@pytest.mark.parametrize(
    ("game", "timed"),
    [
        (full({"initial": 60_000, "increment": 0}, 60_000), True),
        (full(None, 60_000), True),  # the clock could not be read, but the times can
        (full(None, 2_147_483_647), False),
        (full(None, 86_400_000, days=1), False),
    ],
)
def test_a_game_has_a_clock_if_its_times_say_so(game: GameFull, timed: bool) -> None:
    assert GameClock.read(game, game.state, Colour.WHITE, "white", NOW, TIMEOUTS).timed is timed


def both(*args: int, **kwargs: int) -> list[GameClock]:
    """The same clock for either colour."""
    return [clock(*args, colour=colour, **kwargs) for colour in Colour]


def test_a_ponder_search_counts_on_our_increment() -> None:
    for reading in both(60_000, increment_ms=2000, their_increment_ms=500):
        limits = reading.limits(EngineConfig(), NOW + 10, after_move=True)
        times = (limits.white_time_ms, limits.black_time_ms)
        assert times == ((52_000, 90_000) if reading.colour is Colour.WHITE else (90_000, 52_000))
    for reading in both(300_000, increment_ms=2000, running=False):
        limits = reading.limits(EngineConfig(), NOW, after_move=True)
        ours_ms = limits.white_time_ms if reading.colour is Colour.WHITE else limits.black_time_ms
        assert ours_ms == 300_000, "the first move earns no increment, and our clock runs at the second one"
    untimed = clock(timed=False)
    assert untimed.limits(EngineConfig(), NOW, after_move=True) == untimed.limits(EngineConfig(), NOW)


def test_the_flag_of_an_opponent_with_less_time_and_no_increment_may_fall() -> None:
    for reading in both(60_000, their_ms=20_000, increment_ms=1000):
        assert reading.opponent_flag_s(NOW) == 20
        assert reading.opponent_flag_s(NOW + 40) == math.inf, "then we have no more time than they"
    for reading in both(60_000, their_ms=20_000, their_increment_ms=1000):
        assert reading.opponent_flag_s(NOW) == math.inf
    assert clock(60_000, their_ms=20_000, timed=False).opponent_flag_s(NOW) == math.inf


def test_a_wished_pause_takes_the_increment_and_a_fortieth_of_the_clock() -> None:
    for reading in both(40_000, increment_ms=2000, their_increment_ms=500):
        assert reading.affordable_pause_s(10, NOW) == 3
        assert reading.affordable_pause_s(1, NOW) == 1
        assert reading.affordable_pause_s(-1, NOW) == 0


@settings(deadline=None)  # a busy machine is no failure
@given(st.integers(0, 10**7), st.integers(0, 180_000), st.floats(0, 60), st.floats(0, 1000))
def test_an_increment_that_comes_only_after_the_move_is_not_spent_before(
    ours_ms: int, increment_ms: int, wished_s: float, elapsed_s: float
) -> None:
    reading, now = clock(ours_ms, increment_ms=increment_ms), NOW + elapsed_s
    assert reading.affordable_pause_s(wished_s, now) <= reading.remaining_s(now) / 4


def test_a_ponder_search_goes_on_if_our_clock_shows_nearly_what_it_was_told() -> None:
    for reading in both(50_000):
        limits = reading.limits(EngineConfig(), NOW)
        assert reading.covers(limits, NOW + 5)
        assert not reading.covers(limits, NOW + 5.01)
    assert clock(timed=False).covers(Limits(move_time_ms=1000), NOW)


def test_the_least_thinking_time_is_a_share_of_the_clock_that_shrinks_by_ply() -> None:
    assert [clock(60_000).fake_think_s(ply) for ply in (0, 9, 10)] == [0, 0, 1.5]
    assert clock(60_000).fake_think_s(20) == pytest.approx(1.5 * 0.99**10)
    assert clock(60_000, timed=False).fake_think_s(20) == 0


def test_a_fixed_move_time_counts_on_our_increment() -> None:
    engine = EngineConfig(move_time_ms=1000)
    for reading in both(21_000, their_increment_ms=1000):
        assert reading.limits(engine, NOW).move_time_ms == 1000
        assert reading.limits(engine, NOW + 0.001).move_time_ms is None
    for reading in both(1_000, increment_ms=1000):
        assert reading.limits(engine, NOW).move_time_ms == 1000


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        (None, 10),
        ({"speed": "blitz"}, 10),
        ({"speed": "blitz", "secondsLeft": 300}, 10),
        ({"speed": "bullet", "secondsLeft": 8}, 4),
        ({"speed": "bullet", "secondsLeft": 1}, 1),
        ({"speed": "correspondence"}, math.inf),
    ],
)
def test_an_announced_game_is_read_sooner_with_less_time(fields: dict[str, object] | None, seconds: float) -> None:
    game = {"gameId": "abcd1234", "variant": {"key": "standard"}}
    info = None if fields is None else GameInfo.model_validate({**game, **fields})
    assert longest_unread_s(info, TIMEOUTS) == seconds


def test_a_game_by_days_is_no_timed_game_but_its_time_ends() -> None:
    game = full(None, 86_400_000, days=1)
    reading = GameClock.read(game, game.state, Colour.WHITE, "white", NOW, TIMEOUTS)
    assert (reading.by_days, reading.remaining_s(NOW)) == (True, 86_400)
    timed = full({"initial": 60_000, "increment": 0}, 60_000)
    assert not GameClock.read(timed, timed.state, Colour.WHITE, "white", NOW, TIMEOUTS).by_days
    arena = timed.model_copy(update={"tournament_id": "abcd1234"})
    for it in (timed, arena):
        assert GameClock.read(it, it.state, Colour.WHITE, "white", NOW, TIMEOUTS).in_arena is (it is arena)


def test_the_steps_of_a_move_are_told_unless_a_line_was_read_meanwhile() -> None:
    times = MoveTimes(line_read_at=10.0, decided_at=10.5, told_at=11.0, search_s=2.0, pause_s=0.5)
    assert times.until(14.0) == {"reaction_ms": 1500.0, "decide_ms": 500.0, "tell_ms": 500.0, "send_ms": 500.0}
    assert replace(times, line_read_at=10.75).until(14.0) == {"reaction_ms": 750.0}


def test_an_engine_is_started_while_the_clock_affords_it() -> None:
    floor_s = TIMEOUTS.engine_restart_floor.total_seconds()
    assert clock(int(floor_s * 1000) + 1).affords_engine_start(NOW)
    assert not clock(int(floor_s * 1000)).affords_engine_start(NOW)
