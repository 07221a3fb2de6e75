"""Bugs of our own: each is planted into a running daemon, ends what it strikes only, and costs no game."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pkgutil import resolve_name

import pytest

from tests.fakes import forked
from tests.fakes.arena import PATIENCE_S, Arena, judge
from tests.fakes.service_manager import ListeningManager


@pytest.fixture
def bugs_are_expected() -> bool:
    return True


@contextmanager
def run_with_bug(
    arena: Arena, bug: str, environment: dict[str, str] | None = None
) -> "Iterator[forked.Forked | subprocess.Popen[bytes]]":
    """Run the daemon after these lines of code; it writes to the arena's log."""
    with arena.log_path.open("ab") as log:
        process = forked.start(arena.words("run"), environment or arena.environment(), log, log, bug)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


# The function raises this many times, after it has been called `good` times.
FAILING = """
def fail(owner, name, times, good=0):
    function = getattr(owner, name)
    def failing(*arguments, **keywords):
        nonlocal times, good
        good -= 1
        times -= good < 0
        if good < 0 <= times:
            exec(compile("1 / 0", f"<planted in {owner.__name__}.{name}>", "exec"))
        return function(*arguments, **keywords)
    setattr(owner, name, failing)

"""
# By the threads that they strike: each function, how often it fails, after how many calls, and what is logged.
BUGS = {
    "streams and commands": [
        ("lichessbot.lichess.streams", "parse_account_event", 2, 0, "stream.crashed"),
        ("lichessbot.lichess.streams", "parse_game_event", 2, 0, "stream.crashed"),
        ("lichessbot.lichess.commands.AcceptChallenge", "request", 2, 0, "command.crashed"),
        ("lichessbot.lichess.commands.SendMove", "request", 2, 0, "command.crashed"),
    ],
    "engine, sources and records": [
        ("lichessbot.uci.search.Findings", "answer", 1, 1, "engine.crashed"),
        ("lichessbot.move_sources.local.PolyglotBooks", "find", 2, 0, "source.crashed"),
        ("lichessbot.storage.database.Database", "write", 2, 0, "store.crashed"),
        ("lichessbot.games.recording.archive", "_append", 1, 0, "pgn.crashed"),
        ("lichessbot.challenges.player_lists.Fetcher", "fetch", 1, 0, "list.crashed"),
    ],
    "main loop": [
        ("lichessbot.lobby.Lobby", "tick", 2, 0, "daemon.crashed"),
        ("lichessbot.lobby.Lobby", "game_started", 1, 0, "daemon.crashed"),
        ("lichessbot.lichess.outbox.Outbox", "tick", 2, 0, "daemon.crashed"),
        ("lichessbot.daemon.Daemon", "_report_status", 2, 0, "daemon.crashed"),
    ],
}


@pytest.mark.parametrize("place", BUGS)
def test_a_bug_ends_only_the_step_it_occurs_in(arena: Arena, place: str) -> None:
    calls = (f"fail(resolve_name({owner!r}), {name!r}, {times}, {good})" for owner, name, times, good, _ in BUGS[place])
    plant = "\n".join(["from pkgutil import resolve_name", FAILING, *calls])
    books = "polyglot: {enabled: true, book: {standard: [nowhere.bin]}}"
    arena.configure("pgn_directory: games\n", engine=books, rules="online_block_list: ['http://127.0.0.1:9/list']")
    arena.challenge(arena.player("Human"))
    notify = arena.folder / "notify"
    environment = {**arena.environment(), "LICHESSBOT_TIME_SCALE": "0.1", "NOTIFY_SOCKET": str(notify)}
    with ListeningManager(notify) as manager, run_with_bug(arena, plant, environment) as process:
        arena.until_ended(1)
        arena.until(lambda: any("internal errors: " in message for message in manager.heard))
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
    log = arena.log()
    assert process.returncode == 0, log
    for owner, name, _, _, event in BUGS[place]:
        assert event in log
        assert f"<planted in {resolve_name(owner).__name__}.{name}>" in log
    judge(arena.ended[0])


def test_a_thread_that_is_lost_even_so_ends_the_daemon(arena: Arena) -> None:
    bug = "import lichessbot.lichess.streams as it; fail(it.StreamReader, 'run', 1)"
    with run_with_bug(arena, FAILING + bug) as process:
        process.wait(PATIENCE_S)
    log = arena.log()
    assert process.returncode == 1
    assert "thread.died thread=stream-events" in log


BROKEN_GAME = """
import lichessbot.games.game
handle = lichessbot.games.game.Game.handle
crashes = []
def broken(self, report, now):
    if len(crashes) < {crashes} and self.game_id == {first!r}:
        crashes.append(self.game_id)
        1 / 0
    return handle(self, report, now)
lichessbot.games.game.Game.handle = broken
"""


def test_a_game_that_met_a_bug_is_joined_again_and_the_others_go_on(arena: Arena) -> None:
    first, _ = (arena.challenge(arena.player(f"Greedy{number}")) for number in range(2))
    with run_with_bug(arena, BROKEN_GAME.format(crashes=2, first=first)) as process:
        arena.until_ended(2)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
    log = arena.log()
    assert process.returncode == 0
    assert log.count("game.crashed") == 2
    assert "ZeroDivisionError" in log
    for session in arena.ended:
        judge(session)


def test_a_game_that_always_meets_the_bug_is_given_up_after_some_returns(arena: Arena) -> None:
    first, _ = (arena.challenge(arena.player(f"Greedy{number}")) for number in range(2))
    environment = {**arena.environment(), "LICHESSBOT_TIME_SCALE": "0.1"}
    with run_with_bug(arena, BROKEN_GAME.format(crashes=99, first=first), environment) as process:
        arena.until_ended(1)
        assert arena.logged("game.given_up")
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
    log = arena.log()
    assert log.count("game.crashed") == 3, "the 1st, 2nd and 4th"
    assert "times=4" in log
    assert log.count("game.given_up") == 1
    judge(arena.ended[0])


