"""What an operator and a service manager do to a running daemon: reload, stop, watch, start twice."""

import os
import signal
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from engine.facade import Board, Limits
from lichessbot.rehearsal.players.opponents import GreedyOpponent
from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import Correspondence
from lichessbot.rehearsal.rules.enums import Color, Variant
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.storage.database import FILE_NAME, Database
from lichessbot.storage.migrations import MIGRATIONS
from tests.fakes.arena import IDLE_ENGINE, PATIENCE_S, Arena
from tests.fakes.service_manager import ListeningManager


@pytest.fixture
def errors_are_expected() -> bool:
    return True


def append(arena: Arena, text: str) -> None:
    config = arena.folder / "config.yml"
    config.write_text(config.read_text() + text)


# Reload


def test_a_reload_reports_changes_and_the_game_continues(arena: Arena) -> None:
    free = arena.begin_a_game()
    append(arena, "stop_grace: 60\n")
    arena.signal(signal.SIGHUP)
    arena.until(lambda: 'reload.key key=stop_grace old=7200 new=60 effect="at once"' in arena.log())
    assert not arena.started[0].game.is_over
    free.set()
    arena.until_ended(1)
    assert arena.logged(" start ", times=1)


def test_a_reload_of_an_invalid_file_keeps_the_old_one(arena: Arena) -> None:
    arena.configure(concurrency=1)
    arena.start()
    append(arena, "abort_tme: 5\n")
    arena.signal(signal.SIGHUP)
    arena.until(lambda: "reload.refused" in arena.log())
    arena.challenge(arena.player("Greedy"))
    arena.until_ended(1)


def test_reloaded_limits_count_for_the_next_challenge(arena: Arena) -> None:
    arena.configure(engine=IDLE_ENGINE)
    arena.start()
    config = arena.folder / "config.yml"
    config.write_text(config.read_text().replace("max_base: 10800", "max_base: 60"))
    arena.signal(signal.SIGHUP)
    arena.until(lambda: "key=challenge.max_base" in arena.log())
    challenge = arena.challenge(arena.player("Patient"), base_s=300)
    arena.until(lambda: arena.decline_reason(challenge) is not None)


# Stop


def test_games_are_left_when_the_grace_is_over(arena: Arena) -> None:
    append(arena, "stop_grace: 1\n")
    arena.start()
    arena.challenge(arena.player("Mindless", None), base_s=60)
    arena.until(lambda: arena.log().count("game.state") >= 1)
    started_at = time.monotonic()
    arena.signal(signal.SIGTERM)
    assert arena.wait_for_exit() == 4
    assert 1.0 <= time.monotonic() - started_at < PATIENCE_S, "of two hours"
    assert arena.logged('stop.now why="grace over" games_left=1')
    assert not arena.started[0].game.is_over
    arena.start()
    arena.until(lambda: arena.log().count("game.state") >= 2)


# Records


def test_a_second_daemon_names_the_first_and_exits(arena: Arena) -> None:
    arena.configure(engine=IDLE_ENGINE)
    arena.start()
    second = arena.tell("run")
    assert second.returncode == 1
    assert f"is in use by process {arena.process.pid}" in second.stderr
    assert "state_dir" in second.stderr


@pytest.mark.parametrize("is_copied", [True, False])
def test_a_daemon_older_than_its_records_does_not_start(arena: Arena, is_copied: bool) -> None:
    for migrations in (MIGRATIONS, (*MIGRATIONS, "CREATE TABLE future (x)"))[0 if is_copied else 1 :]:
        file = Database(arena.folder / "state", migrations)
        file.read("SELECT 1")
        file.close()
    arena.configure(engine=IDLE_ENGINE)
    run = arena.tell("run")
    assert run.returncode == 2
    assert "newer version" in run.stderr
    assert ("mv " in run.stderr) is is_copied, "the way back is the copy that the newer version made"
    check = arena.tell("check")
    assert check.returncode == 1
    assert "newer version" in check.stdout


def test_games_answers_and_round_trips_are_recorded(arena: Arena) -> None:
    class Reader(GreedyOpponent):
        """Moves once the bot has read the answer to its move."""

        def choose(self, board: Board, clocks: Limits) -> str:
            arena.until(lambda: arena.log().count(" move.done ") == (len(board.moves) + 1) // 2)
            return super().choose(board, clocks)

    arena.time_scale = 20.0     # no answer to a move is given up
    arena.start()
    challenge = arena.challenge(arena.player("Greedy", Reader), base_s=1800)
    arena.until_ended(1)
    arena.until(lambda: "game.over" in arena.log())
    assert arena.stop() == 0
    with closing(sqlite3.connect(arena.folder / "state" / FILE_NAME)) as records:
        assert records.execute("SELECT id, opponent FROM games").fetchall() == [(arena.ended[0].game.id, "Greedy")]
        assert records.execute("SELECT challenge_id FROM answers").fetchall() == [(challenge,)]
        trips = [ms for (ms,) in records.execute("SELECT ms FROM round_trips")]
    game = arena.ended[0].game
    color = game.setup.color_of(arena.bot)
    ours = game.moves[0 if color is Color.WHITE else 1 :: 2]
    assert len(trips) in (len(ours) - 1, len(ours)), "the game may be over before the last answer is read"
    assert all(0 < ms < 1000 * PATIENCE_S for ms in trips)


def test_records_that_cannot_be_kept_cost_no_game(arena: Arena) -> None:
    (arena.folder / "state").write_text("a file where the folder should be")
    arena.start()
    arena.challenge(arena.player("Greedy"))
    arena.until_ended(1)
    arena.until(lambda: "game.over" in arena.log())
    assert arena.stop() == 0
    assert arena.logged("store.failed", times=1)
    assert arena.logged("control.unavailable", times=1)


# The service manager, and root


def test_the_service_manager_is_told_of_start_games_and_end(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(arena.folder / "notify"))
    monkeypatch.setenv("WATCHDOG_USEC", "600000")
    with ListeningManager(arena.folder / "notify") as manager:
        free = arena.begin_a_game()
        arena.until(lambda: "STATUS=listening; 1 game" in manager.heard)
        assert manager.heard.index("READY=1") < manager.heard.index("STATUS=listening; 1 game")
        arena.signal(signal.SIGTERM)
        arena.until(lambda: "STATUS=listening; 1 game; finishing, takes no new games" in manager.heard)
        arena.until(lambda: {"STOPPING=1", "WATCHDOG=1"} <= set(manager.heard))
        free.set()
        arena.until_ended(1)
        assert arena.wait_for_exit() == 0


def test_the_service_manager_is_told_of_correspondence_games_and_the_queue(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(arena.folder / "notify"))
    monkeypatch.setenv("WATCHDOG_USEC", "600000")
    speeds = "[blitz, rapid, classical, bullet, correspondence]"
    arena.configure(concurrency=1, rules=f"time_controls: {speeds}, max_correspondence_games: 1")
    with ListeningManager(arena.folder / "notify") as manager:
        arena.start()
        arena.propose(arena.player("Patient", None), Terms(Variant.STANDARD, Correspondence(2)))
        arena.until(lambda: len(arena.started) == 1)
        arena.challenge(arena.player("First", None), base_s=60)
        arena.until(lambda: len(arena.started) == 2)
        arena.challenge(arena.player("Second", None), base_s=60)
        status = "STATUS=listening; 1 game; 1 correspondence; 1 waiting"
        arena.until(lambda: status in manager.heard and "WATCHDOG=1" in manager.heard)


def test_an_outage_of_lichess_does_not_stop_the_watchdog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    monkeypatch.setenv("WATCHDOG_USEC", "300000")
    monkeypatch.setenv("LICHESSBOT_TIME_SCALE", "0.02")
    with RehearsalServer() as server:
        arena = Arena(server, tmp_path)
        arena.configure()
    (tmp_path / "config.yml").write_text("url: http://127.0.0.1:9\n")  # nobody listens there
    with ListeningManager(tmp_path / "notify") as manager:
        arena.spawn()
        arena.until(lambda: "READY=1" in manager.heard and manager.heard.count("WATCHDOG=1") >= 15)
        arena.until(lambda: "STATUS=not connected, trying again; 0 games" in manager.heard)
        arena.process.kill()
        arena.process.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is told")
def test_running_as_root_gives_a_warning(arena: Arena) -> None:
    arena.configure(engine=IDLE_ENGINE)
    arena.start()
    assert arena.logged("WARNING root note=")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_a_game_that_is_over_keeps_no_book_open(arena: Arena) -> None:
    def books() -> list[str]:
        files = []
        for link in Path(f"/proc/{arena.process.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                files.append(os.readlink(link))
        return [file for file in files if file.endswith(".bin")]

    free = arena.begin_a_game()
    arena.until(books)
    free.set()
    arena.until_ended(1)
    arena.until(lambda: not books())
