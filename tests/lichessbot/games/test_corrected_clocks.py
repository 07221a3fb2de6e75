"""A new connection whose clock shows less than was believed: the line before it came late."""

from typing import Any

import pytest

from lichessbot.games.actions import Action, ReopenStream, StartSearch, StopSearch
from lichessbot.lichess.commands import CommandFailed, SendMove
from lichessbot.lichess.streams import StreamLost, StreamOpened
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import EngineReady
from tests.lichessbot.games.bench import GAME, Bench, limited, only

MOVES = "e2e4 e7e5"


def reconnect(bench: Bench, moves: str = MOVES, *, time_ms: int) -> list[Action]:
    bench.hear(StreamLost(GAME, "reset", Timeouts().backoff_first))
    bench.hear(StreamOpened(GAME))
    return bench.full(moves, time_ms=time_ms)


def test_a_search_ends_in_time_by_the_clock_of_a_new_connection() -> None:
    bench = Bench()
    only(bench.full(MOVES, time_ms=60_000), StartSearch)
    bench.wait(1)
    assert reconnect(bench, time_ms=2_000) == [], "the search goes on"
    actions = bench.wait(1)
    only([it for it in actions if not isinstance(it, ReopenStream)], StopSearch)


def test_one_odd_line_ends_no_search() -> None:
    bench = Bench()
    only(bench.full(MOVES, time_ms=60_000), StartSearch)
    due_at = bench.game.wake_at
    assert bench.state(MOVES, "bdraw", time_ms=1) == []
    assert bench.game.wake_at == due_at


@pytest.mark.parametrize("engine", [{}, {"command": ["another"]}], ids=["ours", "another, which may think longer"])
def test_a_clock_that_was_believed_changes_nothing(engine: dict[str, Any]) -> None:
    bench, other = Bench(engine=engine), Bench(engine=engine)
    only(bench.full(MOVES, time_ms=60_000), StartSearch)
    only(other.full(MOVES, time_ms=60_000), StartSearch)
    for _ in range(5):
        bench.wait(1)
        reconnect(bench, time_ms=round(60_000 - (bench.now - 1000) * 1000))
    assert bench.game.wake_at == other.game.wake_at


def test_time_that_the_opponent_gives_prolongs_no_search() -> None:
    bench = Bench()
    only(bench.full(MOVES, time_ms=60_000), StartSearch)
    due_at = bench.game.wake_at
    reconnect(bench, time_ms=75_000)
    assert bench.game.wake_at == due_at


@pytest.mark.parametrize("is_ready", [False, True])
def test_an_engine_that_starts_is_awaited_by_the_new_clock(*, is_ready: bool) -> None:
    bench = Bench(ready=False)
    bench.full(MOVES, time_ms=60_000)
    if is_ready:
        bench.hear(EngineReady(GAME))
    believed = bench.game.search.due_at
    reconnect(bench, time_ms=2_000)
    assert bench.game.search.due_at <= bench.now + (1.5 if is_ready else 2 / 8) < believed


def test_sources_are_awaited_by_the_new_clock() -> None:
    bench = Bench(sources=True)
    bench.full(MOVES, time_ms=60_000)
    reconnect(bench, time_ms=2_000)
    assert bench.game.search.due_at == pytest.approx(bench.now + 2 / 40)


def test_a_move_waits_for_its_pace_only_as_long_as_the_new_clock_allows() -> None:
    bench = Bench(fake_think_time=True)
    moves = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7"
    assert bench.find(bench.full(moves, time_ms=600_000), "f1e1") == [], "it is to take 15 s"
    reconnect(bench, moves, time_ms=4_000)
    assert only(bench.wait(1), SendMove).move == "f1e1"


def test_time_that_the_opponent_gives_prolongs_no_pause() -> None:
    bench = Bench(fake_think_time=True)
    moves = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7"
    bench.find(bench.full(moves, time_ms=60_000), "f1e1")
    due_at = bench.game.wake_at
    reconnect(bench, moves, time_ms=75_000)
    assert bench.game.wake_at == due_at


def test_a_pause_that_lichess_asks_for_loses_no_game_by_the_new_clock() -> None:
    bench = Bench()
    sent = only(bench.find(bench.full(MOVES, time_ms=60_000), "g1f3"), SendMove)
    assert bench.hear(CommandFailed(sent, limited(40))) == []
    reconnect(bench, time_ms=20_000)
    assert bench.wait(9.9) == []
    assert only(bench.wait(0.1), SendMove) == sent
