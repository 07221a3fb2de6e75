"""The engine of one game, and the search in this process."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.facade import Board
from lichessbot.config import EngineConfig
from lichessbot.inbox import Inbox
from lichessbot.uci.engine import UciEngine
from lichessbot.uci.restarting_engine import EngineIdentity, IdleEngines, RestartingEngine, fallback_move
from lichessbot.uci.search import NO_GAME, BestMove, EngineDied, EngineReady, Search
from tests.fakes.rude_engine import QUICK_PYTHON
from tests.lichessbot.uci.helpers import (
    SMALL,
    TIMEOUTS,
    best_move,
    death,
    gone,
    pid_of,
    search,
    supposing,
)
from tests.patience import PATIENCE_S, until
from tests.processes import is_alive


@pytest.fixture
def engine(inbox: Inbox) -> Iterator[RestartingEngine]:
    engine = RestartingEngine("abcd1234", inbox.put, TIMEOUTS, IdleEngines(timedelta()))
    yield engine
    engine.close()


def rude(program: Path, manner: str) -> EngineConfig:
    """Return the configuration of another engine than ours."""
    return SMALL.model_copy(update={"command": (*QUICK_PYTHON, str(program), manner)})


def test_an_engine_is_started_once_and_again_after_its_death(
    engine: RestartingEngine, inbox: Inbox, rude_engine: Path
) -> None:
    config = rude(rude_engine, "dies")
    first = engine.start(config)
    assert engine.start(config) is first
    assert engine.process_id == pid_of(first)
    engine.search(config, search(1), 100)
    death(inbox)
    assert engine.process_id is None, "another process may have the number by now"
    assert engine.start(config) is not first


def test_another_configuration_starts_another_engine(engine: RestartingEngine, rude_engine: Path) -> None:
    config = rude(rude_engine, "polite")
    first = engine.start(config)
    assert engine.start(config.model_copy(update={"threads": 2})) is not first
    assert gone(pid_of(first))


def test_an_engine_keeps_its_name_between_two_moves_of_a_correspondence_game(
    engine: RestartingEngine, inbox: Inbox, rude_engine: Path
) -> None:
    config = rude(rude_engine, "polite")
    assert engine.identity.name == ""
    engine.search(config, search(1), 100)
    best_move(inbox)
    name = engine.identity.name
    engine.close()
    assert name
    assert engine.identity.name == name
    engine.start(config)
    assert engine.identity.name == name, "also while it starts again"
    engine.close()
    assert engine.identity.name == name, "also after a start that failed"


def test_another_program_has_no_name_and_no_levels_until_it_reports_them(
    engine: RestartingEngine, inbox: Inbox, rude_engine: Path
) -> None:
    """The greeting waits for the name: it told that of the engine of another profile."""
    levelled, mute = (rude(rude_engine, manner) for manner in ("levelled", "mute"))
    engine.search(levelled, search(1), 100)
    best_move(inbox)
    engine.start(levelled.model_copy(update={"threads": 2}))
    assert engine.identity.name
    assert engine.identity.levels == (1320, 3190), "the same program in another configuration"
    engine.start(mute)
    assert engine.identity == EngineIdentity()


@pytest.mark.parametrize(
    ("manner", "asked", "tell"),
    [
        ("slow", search(), RestartingEngine.stop),
        ("echoing", supposing(1), partial(RestartingEngine.ponder_hit, search_id=1)),
    ],
    ids=["stop", "ponder hit"],
)
def test_the_engine_that_runs_hears_of_a_stop_and_a_ponder_hit(
    engine: RestartingEngine, inbox: Inbox, rude_engine: Path, manner: str, asked: Search,
    tell: Callable[[RestartingEngine], None],
) -> None:  # fmt: skip
    config = SMALL.model_copy(update={"command": (*QUICK_PYTHON, str(rude_engine), manner, "d2d4")})
    tell(engine)
    engine.search(config, asked, 100)
    tell(engine)
    best_move(inbox)


def test_an_engine_that_cannot_start_is_reported_as_dead(engine: RestartingEngine, inbox: Inbox) -> None:
    engine.search(SMALL.model_copy(update={"command": ("no-such-engine",)}), search(3), 100)
    report = inbox.get_nowait()
    assert isinstance(report, EngineDied)
    assert report.search_id == 3


def test_each_engine_in_a_row_that_does_not_start_earns_its_successor_more_time(
    engine: RestartingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[int] = []

    def start(*arguments: Any) -> Any:
        failed.append(arguments[-1])
        is_third = len(failed) == 3
        return SimpleNamespace(config=SMALL, name="", levels=None, ready=is_third, alive=True, close=lambda: None)

    monkeypatch.setattr("lichessbot.uci.restarting_engine.UciEngine", start)
    for _ in range(4):
        engine.start(SMALL)
        engine.close()
    assert failed == [0, 1, 2, 0]


# One engine for several games


class Games:
    """Games one after the other, whose engines are kept in between."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        self.idle = IdleEngines(timedelta(minutes=1))
        self._engines: list[RestartingEngine] = []

    def begin(self, game_id: str, config: EngineConfig = SMALL) -> tuple[RestartingEngine, UciEngine]:
        self._engines.append(RestartingEngine(game_id, self.inbox.put, TIMEOUTS, self.idle))
        return self._engines[-1], self._engines[-1].start(config)

    def answer(self, engine: RestartingEngine, config: EngineConfig = SMALL) -> BestMove:
        engine.search(config, search(1, "e2e4", depth=6), 100)
        return best_move(self.inbox)

    def until_rested(self, process: UciEngine) -> None:
        until(lambda: not process._readyok_due)

    def play_one(self) -> UciEngine:
        """Play a game with our engine to its end; return the engine, which is kept."""
        engine, process = self.begin("first")
        self.answer(engine)
        engine.release()
        self.until_rested(process)
        return process

    def close(self) -> None:
        for engine in self._engines:
            engine.close()
        self.idle.close()


@pytest.fixture
def games(inbox: Inbox) -> Iterator[Games]:
    games = Games(inbox)
    yield games
    games.close()


def test_our_engine_plays_the_next_game_as_if_it_were_new(games: Games) -> None:
    engine, process = games.begin("first")
    first = games.answer(engine)
    engine.release()
    assert games.idle.process_ids == [process.process_id]
    games.until_rested(process)
    engine, again = games.begin("second")
    assert again is process
    assert games.idle.process_ids == []
    second = games.answer(engine)
    assert (first.game_id, second.game_id) == ("first", "second")
    assert (first.move, first.summary.nodes) == (second.move, second.summary.nodes), "what it knew is forgotten"


def test_the_log_tells_of_a_kept_engine_in_the_game_that_it_plays(
    games: Games, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "lichessbot")
    config = SMALL.model_copy(update={"debug": True})
    for game_id in ("first", "second"):
        engine, process = games.begin(game_id, config)
        games.answer(engine, config)
        engine.release()
        games.until_rested(process)
    messages = [record.getMessage() for record in caplog.records]
    searches = [message for message in messages if message.startswith("engine.sent") and '"go ' in message]
    assert [message.split()[1] for message in searches] == ["game=first", "game=second"]


def test_of_the_engines_of_the_check_at_the_start_one_is_kept(games: Games) -> None:
    checked = [UciEngine("startup-check", SMALL, games.inbox.put, TIMEOUTS) for _ in range(2)]
    for engine in checked:
        until(lambda it=engine: it.ready)
        games.idle.keep_one(engine)
    assert [engine.alive for engine in checked] == [True, False]
    without_engine = RestartingEngine("first", games.inbox.put, TIMEOUTS, games.idle)
    without_engine.expect(SMALL)
    assert without_engine.identity.name, "the greeting of the first game need not wait for it"
    games.until_rested(checked[0])
    _, playing = games.begin("first")
    assert playing is checked[0]


def test_a_kept_engine_is_ready_for_the_next_game_at_once(games: Games) -> None:
    games.play_one()
    while not games.inbox.empty():
        games.inbox.get()
    games.begin("second")
    assert games.inbox.get(timeout=PATIENCE_S) == EngineReady("second")


@pytest.mark.parametrize("another_waits", [False, True])
def test_the_end_of_a_game_stops_its_search_and_drops_the_one_that_waits(games: Games, another_waits: bool) -> None:
    engine, process = games.begin("first")
    engine.search(SMALL, search(7, depth=60), 100)
    assert isinstance(games.inbox.get(timeout=PATIENCE_S), EngineReady)
    with process._lock:  # the first cannot answer in between
        if another_waits:
            engine.search(SMALL, search(8, depth=60), 100)
        engine.release()
    late = best_move(games.inbox)
    assert (late.game_id, late.search_id) == (NO_GAME, 7)
    games.until_rested(process)
    engine, again = games.begin("second")
    assert again is process
    answer = games.answer(engine)
    assert (answer.game_id, answer.search_id) == ("second", 1)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_kept_engine_that_died_or_hangs_is_not_taken(games: Games, number: signal.Signals) -> None:
    engine, process = games.begin("first")
    games.answer(engine)
    os.kill(process.process_id, number)
    if number is signal.SIGKILL:
        death(games.inbox)
    engine.release()
    engine, other = games.begin("second")
    assert other is not process
    assert gone(process.process_id)
    assert games.answer(engine).game_id == "second"


def test_an_engine_that_died_while_it_was_kept_is_not_taken(games: Games) -> None:
    process = games.play_one()
    process.kill("out of memory")
    assert games.idle.process_ids == [], "another process may have the number by now"
    assert games.begin("second")[1] is not process


def test_the_end_of_the_daemon_waits_for_engines_that_it_kept(games: Games) -> None:
    engine, process = games.begin("first")
    games.answer(engine)
    engine.release()
    games.idle.close()
    assert not Path(f"/proc/{process.process_id}").exists(), "not even as a zombie"


def test_an_engine_with_another_configuration_makes_room_for_that_of_the_next_game(games: Games) -> None:
    process = games.play_one()
    _, other = games.begin("second", SMALL.model_copy(update={"hash_mb": 2}))
    assert other is not process
    assert gone(process.process_id)


def test_an_engine_that_has_not_started_is_not_kept(games: Games) -> None:
    engine, process = games.begin("first")
    games.answer(engine)
    process.ready = False       # as if it had not: how long it takes depends on the machine
    engine.release()
    assert gone(process.process_id)


def test_an_engine_of_others_that_has_not_started_is_killed_at_once(games: Games, rude_engine: Path) -> None:
    config = SMALL.model_copy(update={"command": (*QUICK_PYTHON, str(rude_engine), "mute")})
    engine, process = games.begin("first", config)
    engine.release()
    assert not process.alive


def test_engines_of_others_are_not_kept(games: Games, rude_engine: Path) -> None:
    config = rude(rude_engine, "polite")
    engine, process = games.begin("first", config)
    games.answer(engine, config)
    engine.release()
    assert gone(process.process_id)


@pytest.mark.parametrize("ends", [RestartingEngine.release, RestartingEngine.end])
def test_engines_of_others_may_save_what_they_learnt(
    games: Games, rude_engine: Path, tmp_path: Path, ends: Callable[[RestartingEngine], None]
) -> None:
    command = (*QUICK_PYTHON, str(rude_engine), "learning")
    config = SMALL.model_copy(update={"command": command, "working_dir": tmp_path})
    engine, process = games.begin("first", config)
    games.answer(engine, config)
    ends(engine)
    games.idle.close()
    assert (tmp_path / "learnt").exists()
    assert not is_alive(process.process_id), "the end of the daemon waits for it"


def test_an_engine_that_searches_may_end_by_itself_too(games: Games) -> None:
    engine, process = games.begin("first")
    engine.search(SMALL, search(1, nodes=10**9), 100)
    assert isinstance(games.inbox.get(timeout=PATIENCE_S), EngineReady)
    process.quit()
    process.join()
    assert process._process.returncode == 0


def test_an_engine_that_does_not_quit_is_killed(inbox: Inbox, rude_engine: Path) -> None:
    config = rude(rude_engine, "deaf")
    idle, timeouts = IdleEngines(timedelta(minutes=1)), replace(TIMEOUTS, engine_stop=timedelta(seconds=0.2))
    engine = RestartingEngine("first", inbox.put, timeouts, idle)
    engine.search(config, search(1), 100)
    assert isinstance(inbox.get(timeout=PATIENCE_S), EngineReady)
    pid = engine.process_id
    engine.release()
    assert gone(pid)
    idle.close()
    assert all(isinstance(inbox.get(), EngineReady) for _ in range(inbox.qsize()))


def test_an_engine_is_closed_if_no_game_comes(games: Games) -> None:
    engine, process = games.begin("first")
    games.answer(engine)
    assert games.idle.wake_at is None
    began = time.monotonic()
    engine.release()
    ends_at = games.idle.wake_at
    assert began + 60.0 <= ends_at <= time.monotonic() + 60.0
    games.idle.tick(ends_at - 0.1)
    assert is_alive(process.process_id)
    games.idle.tick(ends_at)
    assert games.idle.wake_at is None
    assert gone(process.process_id)


def test_the_fallback_finds_a_legal_move_within_its_limit() -> None:
    board, took_s = Board(), []
    for _ in range(5):
        began = time.process_time()     # not what a busy machine does in between
        assert fallback_move(board, 0.05) in board.legal_moves()
        took_s.append(time.process_time() - began)
    assert min(took_s) < 0.25


def test_the_fallback_mates_when_it_can() -> None:
    assert fallback_move(Board("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"), 0.05) == "a1a8"


def test_the_fallback_has_no_move_where_there_is_none() -> None:
    assert fallback_move(Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), 0.05) is None


@pytest.mark.parametrize("fen", ["6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"])
def test_without_memory_for_a_search_the_fallback_plays_any_legal_move(
    fen: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(**options: int) -> None:
        raise MemoryError

    monkeypatch.setattr("lichessbot.uci.restarting_engine.Engine", refuse)
    board = Board(fen)
    for _ in range(3):
        assert fallback_move(board, 0.05) in (board.legal_moves() or [None])
    assert caplog.text.count("fallback.crashed") == 2, "the first and the second time"


def test_an_engine_whose_threads_cannot_be_started_counts_as_one_that_died(
    engine: RestartingEngine, inbox: Inbox, no_thread_once: None
) -> None:
    engine.search(SMALL, search(1), 100)
    died = inbox.get(timeout=PATIENCE_S)
    assert isinstance(died, EngineDied)
    assert died.search_id == 1
    engine.search(SMALL, search(2), 100)
    best_move(inbox)
