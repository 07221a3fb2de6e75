"""Clocks that cannot be true."""

import pytest

from lichessbot.games.actions import StartSearch
from lichessbot.games.time_budget import GameClock
from lichessbot.games.told_clocks import with_known_clocks, with_possible_clock
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import GameState
from tests.lichessbot.games.bench import Bench, only
from tests.lichessbot.games.clocks import NOW, clock, full


def zeros(moves: str) -> GameState:
    return GameState(moves=moves, wtime=0, btime=0, status=GameStatus.STARTED)


@pytest.mark.parametrize(
    ("last", "moves", "believed"),
    [
        (clock(50_000), "e2e4 e7e5", (40_000, 90_000)),
        (clock(50_000, colour=Colour.BLACK), "e2e4 e7e5", (90_000, 40_000)),
        (clock(50_000, running=False), "e2e4 e7e5", (50_000, 90_000)),
        (clock(5_000), "e2e4 e7e5", (3_000, 90_000)),
        (None, "e2e4", (60_000, 60_000)),
        (None, "e2e4 e7e5", (3_000, 3_000)),
    ],
)
def test_zero_clocks_of_a_new_connection_are_not_believed(
    last: GameClock | None, moves: str, believed: tuple[int, int]
) -> None:
    game = full({"initial": 60_000, "increment": 0}, 60_000)
    state = with_known_clocks(game, zeros(moves), last, NOW + 10)
    assert (state.wtime, state.btime) == believed


def test_an_unknown_clock_of_a_very_short_game_is_taken_for_a_second() -> None:
    state = with_known_clocks(full({"initial": 0, "increment": 3_000}, 3_000), zeros("e2e4 e7e5"), None, NOW)
    assert (state.wtime, state.btime) == (1_000, 1_000)


@pytest.mark.parametrize(("told", "clocks"), [("btime", (50_000, 33_000)), ("wtime", (33_000, 90_000))])
def test_one_zero_clock_of_a_new_connection_is_not_believed_and_the_other_is(
    told: str, clocks: tuple[int, int]
) -> None:
    game = full({"initial": 60_000, "increment": 0}, 60_000)
    state = zeros("e2e4 e7e5").model_copy(update={told: 33_000})
    believed = with_known_clocks(game, state, clock(50_000, running=False), NOW)
    assert (believed.wtime, believed.btime) == clocks


def test_clocks_of_a_new_connection_that_are_not_zero_are_believed() -> None:
    game = full({"initial": 60_000, "increment": 0}, 60_000)
    assert with_known_clocks(game, game.state, clock(50_000), NOW) is game.state


def test_no_time_is_taken_over_from_a_state_without_clocks() -> None:
    """A damaged first state may have hidden the time control."""
    game = full({"initial": 60_000, "increment": 0}, 0)
    assert with_known_clocks(game, game.state, clock(timed=False), NOW).wtime > 0


def told(moves: str, wtime: int, winc: int = 0) -> GameState:
    return GameState(moves=moves, wtime=wtime, btime=wtime, winc=winc, binc=winc, status=GameStatus.STARTED)


@pytest.mark.parametrize("colour", Colour)
@pytest.mark.parametrize("ours_ms", [2**31 - 1, 600_000])
def test_our_clock_cannot_gain_more_than_increments_and_a_minute(colour: Colour, ours_ms: int) -> None:
    game = full({"initial": 60_000, "increment": 2_000}, 60_000)
    last = clock(50_000, colour=colour)
    state = with_possible_clock(game, told("e2e4 e7e5 g1f3 b8c6", ours_ms, 99_000), colour, last)
    assert (state.time_ms(colour), state.time_ms(colour.other)) == (50_000 + 3 * 2_000 + 60_000, ours_ms)
    assert {state.winc, state.binc} == {2_000, 99_000}, "that of the opponent costs us nothing"


@pytest.mark.parametrize("initial_ms", [60_000, 600_000])
def test_the_first_clock_cannot_show_much_more_than_the_start(initial_ms: int) -> None:
    game = full({"initial": initial_ms, "increment": 0}, initial_ms)
    assert with_possible_clock(game, told("", 10**9), Colour.WHITE, None).wtime == initial_ms + 60_000


@pytest.mark.parametrize("moves", ["e2e4 e7e5", ""], ids=["15 s were given", "a takeback returned 25 s"])
def test_a_clock_may_gain_what_opponents_give(moves: str) -> None:
    game, state = full({"initial": 60_000, "increment": 0}, 60_000), told(moves, 75_000)
    assert with_possible_clock(game, state, Colour.WHITE, clock(50_000)) is state


def test_without_a_known_time_control_every_clock_is_believed() -> None:
    state = told("e2e4 e7e5", 2**31 - 1)
    assert with_possible_clock(full(None, 60_000), state, Colour.WHITE, clock(50_000)) is state


def test_a_search_does_not_believe_in_hours_that_a_game_of_a_minute_cannot_have() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5")
    limits = only(bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=10**9), StartSearch).search.limits
    assert limits.white_time_ms == 120_000
