"""When the main loop does what is due, what reports lead to, and when it ends by itself, without Lichess."""

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from lichessbot.config import Config
from lichessbot.daemon import Daemon
from lichessbot.errors import ApiError, ExitCode, Refused, Unreachable
from lichessbot.games.recovery import Reconciler
from lichessbot.inbox import ReloadRequested
from lichessbot.lichess.client import Access
from lichessbot.lichess.commands import CommandFailed, ReadPlaying
from lichessbot.storage.store import Store
from lichessbot.systemd import ServiceManager
from lichessbot.timeouts import Timeouts

FAR_S = 600.0
NO_SCOPE = Refused(403, "Missing scope: preference:read")


class Part:
    """A part of the daemon that notes what it is told, and does nothing."""

    def __init__(self, name: str, told: list[str]) -> None:
        self._name = name
        self._told = told

    def __getattr__(self, method: str) -> Callable[..., None]:
        return lambda *_, **__: self._told.append(f"{self._name}.{method}")


@pytest.fixture
def daemon(store: Store, tmp_path: Path) -> Any:
    """It has an account and no games, and nothing is due for long."""
    settings: Any = SimpleNamespace(config=Config(), loaded=SimpleNamespace(state_dir=tmp_path), location=None)
    timeouts = Timeouts()
    access = Access("http://127.0.0.1:1", SecretStr(""), timeouts)
    daemon: Any = Daemon(settings, access, timeouts, store, ServiceManager({}))
    daemon._context = SimpleNamespace()
    for name in ("_connection", "_games", "_lobby", "_outbox", "_reconciler"):
        setattr(daemon, name, SimpleNamespace(tick=lambda *_, **__: None, wake_at=None))
    daemon._games.overdue = daemon._connection.is_open = daemon._outbox.is_talking = False
    return daemon


@pytest.fixture
def done(daemon: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a turn of the loop did."""
    done: list[str] = []
    monkeypatch.setattr(daemon, "_dispatch", lambda report: done.append("report"))
    monkeypatch.setattr(daemon, "_tick", lambda now: done.append("tick"))
    monkeypatch.setattr(daemon._games, "tick", lambda: done.append("games"))
    return done


@pytest.mark.parametrize(
    ("ticked_s_ago", "games_wait_s", "does"),
    [(1.0, None, ["report", "tick"]), (-FAR_S, FAR_S, ["report"]), (-FAR_S, 0.0, ["report", "games"])],
)
def test_after_a_report_the_loop_ticks_unless_it_just_did_but_a_game_never_waits(
    daemon: Any, done: list[str], ticked_s_ago: float, games_wait_s: float | None, does: list[str]
) -> None:
    now = time.monotonic()
    daemon._ticked_at, daemon._tick_at = now - ticked_s_ago, now + FAR_S
    daemon._games.wake_at = None if games_wait_s is None else now + games_wait_s
    daemon._inbox.put(ReloadRequested())
    daemon._turn()
    assert done == does


def test_the_loop_ticks_again_when_a_part_of_it_has_something_to_do_and_at_least_every_second(daemon: Any) -> None:
    daemon._shutdown = SimpleNamespace(tick=lambda **_: None, leave_at=None)
    daemon._tick(100.0)
    assert daemon._tick_at == 101.0
    for part in (daemon._lobby, daemon._reconciler, daemon._outbox):
        part.wake_at = 100.5
        daemon._tick(100.0)
        assert daemon._tick_at == 100.5
        part.wake_at = None
    daemon._shutdown.leave_at = 100.5
    daemon._tick(100.0)
    assert daemon._tick_at == 100.5


@pytest.mark.parametrize("doubt", [None, "games", "left_over", "left_over_by_days", "was_open"])
@pytest.mark.parametrize("is_dead", [False, True])
def test_a_denied_token_is_doubted_if_it_was_good_or_games_may_be_lost(
    daemon: Any, doubt: str | None, *, is_dead: bool
) -> None:
    class Games(list[str]):
        clocks_run_until = 0.0

    daemon._games = Games(["abcd1234"] if doubt == "games" else [])
    daemon._store = SimpleNamespace(left_over=doubt == "left_over", left_over_by_days=doubt == "left_over_by_days")
    daemon._connection.was_open = doubt == "was_open"
    daemon._connection.token_denied = lambda reason, clocks_run_until: is_dead
    daemon._denied("401: No such token")
    assert daemon._shutdown.exit_code is (ExitCode.REFUSED if is_dead or doubt is None else None)


# What reports lead to


@pytest.fixture
def told(daemon: Any) -> list[str]:
    """What the daemon tells its parts to do."""
    told: list[str] = []
    deciding = ("connection", "reconciler", "lobby", "games", "engine_checks")
    for name in (*deciding, "control", "web", "outbox", "archive", "notifier"):
        setattr(daemon, f"_{name}", Part(name, told))
    return told


@pytest.mark.parametrize(("error", "ends"), [(NO_SCOPE, True), (Unreachable("502"), False)])
def test_a_daemon_whose_engine_failed_at_the_start_ends_although_lichess_refuses_the_list_of_games(
    daemon: Any, told: list[str], store: Store, error: ApiError, ends: bool
) -> None:
    """It stayed for ever, and took no games."""
    daemon._reconciler = Reconciler(daemon._games, daemon._lobby, daemon._outbox, store, "", Timeouts())
    daemon._shutdown.engine_failed(ExitCode.USAGE, left_over=1)
    daemon._dispatch(CommandFailed(ReadPlaying(), error))
    assert "connection.listen" in told
    assert (daemon._shutdown.leave_at is not None) == ends
