"""When the main loop does what is due, what reports lead to, and when it ends by itself, without Lichess."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from lichessbot.config import Config
from lichessbot.daemon import Daemon
from lichessbot.errors import ApiError, ExitCode, Refused, Unreachable
from lichessbot.games.recovery import Reconciler
from lichessbot.inbox import ReloadRequested, Report, ReviewDone
from lichessbot.lichess.answers import Account
from lichessbot.lichess.client import Access
from lichessbot.lichess.commands import (
    AcceptChallenge,
    Command,
    CommandDone,
    CommandFailed,
    ReadAccount,
    ReadPlaying,
    SendMove,
)
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.models import ChatLine, UnknownEvent
from lichessbot.lichess.parsing import parse_account_event, parse_game_event
from lichessbot.lichess.streams import PlayingWanted, StreamEvent, StreamLost, StreamOpened, StreamRefused
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import Store
from lichessbot.systemd import ServiceManager
from lichessbot.timeouts import Timeouts
from lichessbot.uci import startup_check
from lichessbot.uci.search import EngineDied
from tests.lichessbot.scripted_daemon import challenge, full, game, line

FAR_S = 600.0
NO_SCOPE = Refused(403, "Missing scope: preference:read")
NO_TOKEN = Refused(401, "No such token")


class Part:
    """A part of the daemon that notes what it is told, and does nothing; nothing is due in it."""

    wake_at = leave_at = feed_due_at = None
    is_open = overdue = is_talking = False

    def __init__(self, name: str, told: list[str]) -> None:
        self._name = name
        self._told = told

    def __getattr__(self, method: str) -> Callable[..., None]:
        return lambda *_, **__: self._told.append(f"{self._name}.{method}")

    def __len__(self) -> int:
        return 0


@dataclass(frozen=True)
class Context:
    """What games share, as far as a reload changes it."""

    config: Config


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
    daemon._denied(NO_TOKEN)
    assert daemon._shutdown.exit_code is (ExitCode.REFUSED if is_dead or doubt is None else None)


@pytest.mark.parametrize("was_open", [False, True])
def test_a_token_without_the_scope_saves_no_game_unless_events_came_before(daemon: Any, *, was_open: bool) -> None:
    """The account answers all the same, which spoke for the token again and again."""
    daemon._store = SimpleNamespace(left_over=["abcd1234"], left_over_by_days=[])
    daemon._games.clocks_run_until, daemon._connection.was_open = 0.0, was_open
    daemon._connection.stream_refused = lambda: None
    daemon._connection.token_denied = lambda reason, clocks_run_until: False
    daemon._dispatch(StreamRefused(None, 403, "Missing scope: bot:play || board:play || challenge:read"))
    assert daemon._shutdown.exit_code is (None if was_open else ExitCode.REFUSED)


# What reports lead to


def on_events(kind: str, **fields: Any) -> StreamEvent:
    return StreamEvent(None, parse_account_event(line(kind, **fields)), 0.0)


@pytest.fixture
def told(daemon: Any) -> list[str]:
    """What the daemon tells its parts to do."""
    told: list[str] = []
    deciding = ("connection", "reconciler", "lobby", "games", "engine_checks")
    for name in (*deciding, "control", "web", "outbox", "archive", "notifier"):
        setattr(daemon, f"_{name}", Part(name, told))
    return told


@pytest.mark.parametrize(
    ("report", "follows"),
    [
        (on_events("gameStart", game=game("abcd1234")), ["lobby.game_started", "games.join"]),
        (on_events("gameFinish", game=game("abcd1234")), ["games.finished"]),
        (StreamEvent(None, parse_account_event(challenge("one")), 0.0), ["lobby.challenge_event"]),
        (on_events("confetti"), []),
        (StreamEvent("abcd1234", parse_game_event(full("abcd1234")), 0.0), ["lobby.game_opened", "games.tell"]),
        (StreamEvent("abcd1234", ChatLine(), 0.0), ["games.tell"]),
        (StreamLost(None, "502", timedelta()), ["connection.stream_lost"]),
        (StreamLost("abcd1234", "502", timedelta()), ["games.tell"]),
        (PlayingWanted("a doubt"), ["reconciler.want"]),
        (CommandDone(SendMove("abcd1234", 0, "e2e4")), ["games.tell"]),
        (CommandDone(ReadPlaying(), ()), ["lobby.command_answered", "reconciler.compare", "connection.listen"]),
        (CommandDone(AcceptChallenge("one")), ["lobby.command_answered"]),
        (EngineDied("abcd1234", 1, "killed"), ["games.tell"]),
        (ReviewDone("abcd1234", ()), ["games.tell"]),
        (PlayerList("https://localhost/list", frozenset()), ["lobby.block_list_fetched"]),
    ],
)
def test_each_report_reaches_those_whom_it_concerns(
    daemon: Any, told: list[str], report: Report, follows: list[str]
) -> None:
    daemon._dispatch(report)
    always = {"engine_checks.note", "connection.succeeded", "connection.retry_now", "games.retry_now"}
    assert [it for it in told if it not in always] == follows


def test_a_lost_event_stream_is_counted(daemon: Any, told: list[str]) -> None:
    daemon._dispatch(StreamLost(None, "502", timedelta()))
    assert daemon._counters.counted.event_streams_lost == 1


@pytest.mark.parametrize(("was_open", "is_wanted"), [(False, False), (True, True)])
def test_after_an_event_stream_that_was_away_the_list_of_games_is_read(
    daemon: Any, told: list[str], was_open: bool, is_wanted: bool
) -> None:
    daemon._connection.stream_opened = lambda: was_open
    daemon._dispatch(StreamOpened(None))
    assert ("reconciler.want" in told) == is_wanted


@pytest.mark.parametrize(("is_ready", "is_in_doubt"), [(False, True), (True, False), (True, True)])
def test_a_tick_does_what_is_due_in_every_part(
    daemon: Any, told: list[str], is_ready: bool, is_in_doubt: bool
) -> None:
    daemon._context = daemon._context if is_ready else None
    daemon._engine_is_good, daemon._engine_checks.is_due = is_ready, lambda now: is_in_doubt
    daemon._control_handler = SimpleNamespace(summary="listening")
    daemon._manager, daemon._shutdown = Part("manager", told), Part("shutdown", told)
    daemon._tick(100.0)
    first, last = ["reconciler.resume_remembered", "games.tick", "connection.tick"], ["manager.status", "manager.feed"]
    ready = ["lobby.tick", "reconciler.tick"] if is_ready else []
    check = ["engine_checks.begin"] if is_ready and is_in_doubt else []
    assert told == [*first, *ready, *check, "shutdown.tick", *last]


@pytest.mark.parametrize(
    ("report", "is_read_again"),
    [
        (StreamEvent(None, UnknownEvent(), 0.0), True),
        (StreamEvent("abcd1234", parse_game_event(full("abcd1234")), 0.0), True),
        (StreamEvent("abcd1234", ChatLine(), 0.0), False),
        (StreamOpened(None), False),
    ],
    ids=["event", "state of a game", "chat", "opened"],
)
def test_once_a_stream_is_read_again_no_other_waits_for_its_next_attempt(
    daemon: Any, told: list[str], report: Report, is_read_again: bool
) -> None:
    daemon._dispatch(report)
    assert ("games.retry_now" in told, "connection.retry_now" in told) == (is_read_again, is_read_again)


@pytest.mark.parametrize(
    ("report", "is_good"),
    [
        (CommandDone(SendMove("abcd1234", 0, "e2e4")), True),
        (StreamOpened("abcd1234"), True),
        (CommandFailed(ReadPlaying(), Unreachable("502")), False),
        (StreamLost(None, "502", timedelta()), False),
    ],
)
def test_a_good_answer_speaks_for_the_token(daemon: Any, told: list[str], report: Report, is_good: bool) -> None:
    daemon._dispatch(report)
    assert ("connection.succeeded" in told) == is_good


@pytest.mark.parametrize(
    ("command", "error", "is_denied"),
    [
        (ReadAccount(), NO_TOKEN, True),
        (ReadAccount(), Unreachable("502"), False),
        (ReadPlaying(), NO_TOKEN, True),
        (ReadPlaying(), NO_SCOPE, False),
        (ReadPlaying(), Unreachable("502"), False),
    ],
)
def test_only_a_refusal_that_means_the_token_speaks_against_it(
    daemon: Any, told: list[str], monkeypatch: pytest.MonkeyPatch, command: Command, error: ApiError, is_denied: bool
) -> None:
    denials: list[ApiError] = []
    monkeypatch.setattr(daemon, "_denied", denials.append)
    daemon._dispatch(CommandFailed(command, error))
    assert denials == ([error] if is_denied else [])


@pytest.mark.parametrize(
    ("command", "follows"),
    [
        (ReadAccount(), ["reconciler.account_failed", "connection.account_failed"]),
        (ReadPlaying(), ["reconciler.list_failed", "connection.listen"]),
    ],
)
def test_a_failure_to_tell_the_account_or_the_games_reaches_those_who_wait_for_it(
    daemon: Any, told: list[str], command: Command, follows: list[str]
) -> None:
    daemon._dispatch(CommandFailed(command, Unreachable("502")))
    assert told == ["engine_checks.note", "connection.warn_of_missing_scope", *follows, "lobby.command_answered"]


def test_after_an_answer_to_a_challenge_that_failed_the_list_of_games_is_read(daemon: Any, told: list[str]) -> None:
    daemon._dispatch(CommandFailed(AcceptChallenge("one"), Refused(400, "The challenge has already been accepted")))
    assert "reconciler.want" in told


@pytest.mark.parametrize(
    ("report", "ends"),
    [
        (CommandDone(ReadPlaying(), ()), True),
        (CommandFailed(ReadPlaying(), NO_SCOPE), True),
        (CommandFailed(ReadPlaying(), Unreachable("502")), False),
    ],
)
def test_a_daemon_whose_engine_failed_at_the_start_ends_once_the_list_of_games_came_or_is_refused(
    daemon: Any, told: list[str], store: Store, report: Report, ends: bool
) -> None:
    """Where Lichess refused the list, it stayed for ever and took no games."""
    daemon._reconciler = Reconciler(daemon._games, daemon._lobby, daemon._outbox, store, "", Timeouts())
    daemon._shutdown._left_over = ["abcd1234"]
    daemon._shutdown.engine_failed(ExitCode.USAGE)
    daemon._dispatch(report)
    assert "connection.listen" in told
    assert (daemon._shutdown.leave_at is not None) == ends


@pytest.mark.parametrize(("missing", "games"), [(None, 0), (None, 1), ("account", 0), ("engines", 0)])
def test_the_daemon_begins_once_when_its_account_is_known_and_its_engines_are_good(
    daemon: Any, told: list[str], monkeypatch: pytest.MonkeyPatch, missing: str | None, games: int
) -> None:
    def introduce(account: Account, *, renew_sessions: bool) -> None:
        told.append("renew sessions" if renew_sessions else "keep sessions")

    account = Account(id="testbot", username="TestBot", title="BOT")
    monkeypatch.setattr(daemon, "_context", None)
    monkeypatch.setattr(daemon, "_game_context", lambda our_id: Context(Config()))
    daemon._games = ["abcd1234"] * games
    daemon._connection.access, daemon._connection.introduce = SimpleNamespace(url=""), introduce
    daemon._connection.account = None if missing == "account" else account
    daemon._engine_checks.running = SimpleNamespace() if missing == "engines" else None
    for _ in range(2):
        daemon._begin_if_ready()
    sessions = "keep sessions" if games else "renew sessions"       # else moves that wait would be dropped
    begun = ["reconciler.introduce", sessions, "reconciler.want", "lobby.open"]
    assert told == (begun if missing is None else [])


@pytest.mark.parametrize("is_over", [False, True])
def test_after_one_good_engine_games_are_resumed_and_after_the_last_all_begins(
    daemon: Any, told: list[str], is_over: bool
) -> None:
    check = SimpleNamespace(over=is_over, playable=(Variant.ATOMIC,), config=Config())
    daemon._engine_checks.answered = lambda report: (check, ())
    daemon._begin_if_ready = lambda: told.append("begin")
    daemon._manager, daemon._context = Part("manager", told), Context(Config())
    daemon._dispatch(EngineDied(startup_check.GAME_ID, 1, "as told"))
    used = ["engine_checks.passed", "lobby.engines_work", "lobby.reload", "manager.reached", "begin"] if is_over else []
    assert told == ["engine_checks.note", "reconciler.engine_is_good", *used]
    assert daemon._engine_is_good == is_over


@pytest.mark.parametrize(
    ("is_good", "is_in_use", "left_over", "code", "follows"),
    [
        (True, True, [], None, ["lobby.engines_fail", "notifier.engines_fail", "begin"]),
        (True, False, [], None, ["settings.keep_engines", "begin"]),
        (False, True, [], ExitCode.USAGE, []),
        (False, True, ["abcd1234"], None, ["reconciler.engine_is_good", "manager.reached", "begin"]),
    ],
    ids=["in use", "reloaded", "at the start", "at the start with games left over"],
)
def test_what_an_engine_that_fails_its_check_costs(
    daemon: Any,
    told: list[str],
    is_good: bool,
    is_in_use: bool,
    left_over: list[str],
    code: ExitCode | None,
    follows: list[str],
) -> None:
    check = SimpleNamespace(over=False, config=daemon._given if is_in_use else Config())
    daemon._engine_checks.answered = lambda report: (check, (startup_check.Fault("engine: no such program"),))
    daemon._lobby.engines_fail = lambda reason: not told.append("lobby.engines_fail")
    daemon._begin_if_ready = lambda: told.append("begin")
    daemon._manager, daemon._settings = Part("manager", told), Part("settings", told)
    daemon._shutdown._left_over, daemon._engine_is_good = left_over, is_good
    daemon._dispatch(EngineDied(startup_check.GAME_ID, 1, "as told"))
    assert told == ["engine_checks.note", *follows]
    assert daemon._shutdown.exit_code is code


@pytest.mark.parametrize(
    ("is_good", "engine", "is_checked"), [(True, {}, False), (True, {"hash_mb": 2}, True), (False, {}, True)]
)
def test_a_reload_checks_engines_that_are_new_or_not_good_yet(
    daemon: Any, told: list[str], is_good: bool, engine: dict[str, int], is_checked: bool
) -> None:
    given = Config.model_validate({"engine": engine, "challenge": {"concurrency": 3}})
    daemon._settings = SimpleNamespace(reload_and_log=lambda log: given, log_use=lambda *_, **__: told.append("log"))
    daemon._manager, daemon._engine_is_good = Part("manager", told), is_good
    daemon._begin_if_ready = lambda: told.append("begin")
    daemon._context, daemon._lobby.playable = Context(Config()), tuple(Variant)
    daemon._dispatch(ReloadRequested())
    check = ["engine_checks.begin"] if is_checked else []
    used = ["lobby.reload", "log", "manager.reloaded", "begin"]
    assert told == ["engine_checks.note", "manager.reloading", "engine_checks.end", *check, *used]
    assert daemon._context.config.challenge.concurrency == 3
    assert (daemon._context.config.engine.hash_mb == given.engine.hash_mb) == (not engine), "not before the check"


def test_at_its_end_the_daemon_closes_all_its_parts(daemon: Any, told: list[str]) -> None:
    daemon._close()
    parts = ("control", "web", "lobby", "games", "outbox", "archive", "notifier")
    assert set(told) == {"connection.stop_listening", "engine_checks.end", *(f"{part}.close" for part in parts)}
