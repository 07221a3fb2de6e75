"""Which games are ours: from the records, and from lists of games in progress."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import cast

import pytest

from lichessbot.config import Config
from lichessbot.errors import ApiError, Refused, Unreachable
from lichessbot.games.manager import GameManager
from lichessbot.games.recovery import GameRecovery, ListSchedule, Reconciler
from lichessbot.games.session import GameContext
from lichessbot.lichess.answers import Account
from lichessbot.lichess.commands import AcceptChallenge, CommandDone, CommandFailed, ReadPlaying
from lichessbot.storage.database import Database
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts
from tests.lichessbot.lobby_bench import AT_ONCE, Outbox, challenged, lobby_of

# Records


URL = "https://lichess.org"
US = Account(id="testbot", username="TestBot", title="BOT")
TIMEOUTS = Timeouts()
PATIENCE_S = TIMEOUTS.games_told.total_seconds()
NOW = 1000.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the records of a process that was killed during two games."""
    with closing(Store(Database(tmp_path))) as store:
        GameRecovery(store, URL, TIMEOUTS).introduce(US)
        store.note_game("first", "Ferdinand")
        store.note_game("second", "Ada")
    return tmp_path


@pytest.fixture
def recovery(folder: Path) -> Iterator[GameRecovery]:
    with closing(Store(Database(folder))) as store:
        yield GameRecovery(store, URL, TIMEOUTS)


def ids(recovery: GameRecovery, now: float) -> list[str]:
    return [info.game_id for info in recovery.begin(now)]


def test_nothing_is_joined_before_there_is_an_engine(recovery: GameRecovery) -> None:
    recovery.list_failed()
    assert recovery.wake_at is None
    assert ids(recovery, NOW + 100) == []
    recovery.engine_is_good(NOW + 101)
    assert recovery.wake_at == NOW + 101
    assert ids(recovery, NOW + 101) == ["second", "first"]


def test_lichess_gets_time_to_send_the_list(recovery: GameRecovery) -> None:
    recovery.introduce(US)
    recovery.engine_is_good(NOW)
    assert ids(recovery, NOW) == []
    recovery.engine_is_good(NOW + 0.5)  # that of another profile
    assert recovery.wake_at == NOW + PATIENCE_S
    assert ids(recovery, NOW + PATIENCE_S) == ["second", "first"]
    assert ids(recovery, NOW + PATIENCE_S) == []
    assert recovery.wake_at is None


def test_a_failure_ends_the_wait(recovery: GameRecovery) -> None:
    recovery.engine_is_good(NOW)
    recovery.list_failed()
    assert ids(recovery, NOW + 0.1) == ["second", "first"]


@pytest.mark.parametrize(
    "fail", [Reconciler.account_failed, lambda it: it.list_failed(Unreachable("502"))], ids=["account", "list"]
)
def test_games_left_over_are_joined_as_soon_as_lichess_fails_to_tell_of_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch, fail: Callable[[Reconciler], object]
) -> None:
    timeouts, joined = replace(TIMEOUTS, games_told=timedelta(hours=1)), list[str]()
    context = cast(GameContext, SimpleNamespace(our_id=US.id))
    with closing(Store(Database(folder))) as store:
        outbox, games = Outbox(), GameManager(SimpleQueue(), timeouts)
        monkeypatch.setattr(games, "join", lambda info, context: joined.append(info.game_id))
        reconciler = Reconciler(games, lobby_of(store, outbox, []), outbox, store, URL, timeouts)  # type: ignore[arg-type]
        reconciler.engine_is_good()
        reconciler.resume_remembered(lambda our_id: context)
        assert joined == []
        assert len(reconciler) == 2, "the daemon does not end before they are joined"
        fail(reconciler)
        for _ in range(2):
            reconciler.resume_remembered(lambda our_id: context)
            assert joined == ["second", "first"]
            assert len(reconciler) == 0


def test_a_list_from_lichess_replaces_the_records(folder: Path) -> None:
    with closing(Store(Database(folder))) as store:
        recovery = GameRecovery(store, URL, TIMEOUTS)
        recovery.engine_is_good(NOW)
        assert [info.game_id for info in recovery.list_came({"first"})] == ["second"]
        assert recovery.list_came({"first"}) == []
        assert recovery.awaited == []
        assert ids(recovery, NOW + PATIENCE_S) == []


def test_a_game_that_a_list_lacks_is_left_over_until_its_end_is_known(folder: Path) -> None:
    """Its result was lost if the process was killed before the game's stream had told it."""
    with closing(Store(Database(folder))) as store:
        store.note_game("third", "Karl", has_clock=False)
    for _ in range(2):
        with closing(Store(Database(folder))) as store:
            missing = GameRecovery(store, URL, TIMEOUTS).list_came({"first"})
            assert [info.game_id for info in missing] == ["second", "third"]


def test_a_game_that_was_joined_before_the_list_came_is_not_joined_twice(recovery: GameRecovery) -> None:
    recovery.engine_is_good(NOW)
    assert ids(recovery, NOW + PATIENCE_S) == ["second", "first"]
    assert recovery.unjoined == []
    assert recovery.list_came({"first"}) == [], "the other one has ended meanwhile, and its end was seen"


def test_a_correspondence_game_that_a_list_lacks_is_visited(folder: Path) -> None:
    with closing(Store(Database(folder))) as store:
        store.note_game("ended", "Karl", has_clock=False)
        store.note_game("lasting", "Karl", has_clock=False)
    with closing(Store(Database(folder))) as store:
        recovery = GameRecovery(store, URL, TIMEOUTS)
        ended = recovery.list_came({"first", "lasting"})
        assert [info.game_id for info in ended] == ["second", "ended"]
        assert [info.is_correspondence for info in ended] == [False, True]
        assert recovery.list_came(()) == []


def test_the_games_of_another_account_are_not_joined(folder: Path) -> None:
    other = Account(id="other", username="Other", title="BOT")
    with closing(Store(Database(folder))) as store:
        recovery = GameRecovery(store, URL, TIMEOUTS)
        assert recovery.is_another(other)
        assert not recovery.is_another(US)
        recovery.engine_is_good(NOW)
        recovery.introduce(other)
        assert ids(recovery, NOW + PATIENCE_S) == []
        assert recovery.list_came(()) == []
    with closing(Store(Database(folder))) as later:
        assert later.left_over == []


def test_the_games_of_another_account_are_closed_and_counted_in_the_log(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counted only the games that were joined, mostly none, as Lichess names the account first."""
    with closing(Store(Database(folder))) as store:
        store.note_game("third", "Karl", has_clock=False)
    with closing(Store(Database(folder))) as store:
        outbox, games, closed = Outbox(), GameManager(SimpleQueue(), TIMEOUTS), list[bool]()
        monkeypatch.setattr(games, "close", lambda: closed.append(True))
        reconciler = Reconciler(games, lobby_of(store, outbox, []), outbox, store, URL, TIMEOUTS)  # type: ignore[arg-type]
        reconciler.introduce(Account(id="other", username="Other", title="BOT"))
    assert closed == [True]
    assert "account.changed was=testbot games_left=3" in caplog.text


def test_the_games_of_another_server_are_not_joined(folder: Path) -> None:
    with closing(Store(Database(folder))) as store:
        recovery = GameRecovery(store, "http://localhost:9663", TIMEOUTS)
        assert recovery.awaited == []
        anybody = Account(id="anybody", username="Anybody")
        assert not recovery.is_another(anybody)
        recovery.introduce(anybody)
        recovery.engine_is_good(NOW)
        assert ids(recovery, NOW + PATIENCE_S) == []
        assert recovery.list_came(()) == []
    with closing(Store(Database(folder))) as later:
        assert later.left_over == []


# Lists of games in progress


SPACING_S = TIMEOUTS.playing_spacing.total_seconds()
HEARTBEAT_S = TIMEOUTS.heartbeat.total_seconds()
WITHOUT_EVENTS_S = TIMEOUTS.playing_without_events.total_seconds()


@pytest.fixture
def schedule() -> ListSchedule:
    """The schedule while its first request is under way."""
    schedule = ListSchedule(TIMEOUTS)
    schedule.want(NOW)
    schedule.begin(NOW)
    return schedule


def test_no_list_is_requested_without_a_reason() -> None:
    schedule = ListSchedule(TIMEOUTS)
    assert schedule.wake_at is None
    assert not schedule.begin(NOW)


def test_many_reasons_make_one_request() -> None:
    schedule = ListSchedule(TIMEOUTS)
    for _ in range(20):
        schedule.want(NOW)
    assert schedule.begin(NOW)
    assert not schedule.begin(NOW)
    schedule.done(NOW + 1)
    assert not schedule.begin(NOW + SPACING_S)


def test_a_reason_during_a_request_needs_another_one(schedule: ListSchedule) -> None:
    schedule.want(NOW + 0.1)
    assert not schedule.begin(NOW + 60), "one at a time"
    schedule.done(NOW + 0.2)
    assert not schedule.begin(NOW + 1), "and some seconds apart"
    assert schedule.wake_at == NOW + SPACING_S
    assert schedule.begin(NOW + SPACING_S)


def test_a_doubt_that_one_list_may_not_end_has_more_lists_read() -> None:
    schedule, now, pauses_s = ListSchedule(TIMEOUTS), NOW, []
    schedule.want(now, again=True)
    for _ in range(9):
        assert schedule.begin(now)
        schedule.done(now)
        pauses_s.append(schedule.wake_at - now)
        now = schedule.wake_at
    assert pauses_s == [3, 6, 12, 24, 48, 96, HEARTBEAT_S, HEARTBEAT_S, HEARTBEAT_S]


def test_a_failed_request_is_repeated(schedule: ListSchedule) -> None:
    schedule.done(NOW + 15, Unreachable("gone"))
    assert schedule.begin(NOW + 15 + SPACING_S)


def test_a_failed_request_is_not_repeated_at_once_for_want_of_events(schedule: ListSchedule) -> None:
    schedule.done(NOW + 1)
    assert schedule.begin(NOW + 1 + HEARTBEAT_S)
    schedule.no_events()
    schedule.done(NOW + 15 + HEARTBEAT_S, Unreachable("gone"))
    assert schedule.wake_at >= NOW + 15 + HEARTBEAT_S + SPACING_S


def pauses(*errors: ApiError | None) -> list[float]:
    """Return the pauses after requests that end so."""
    schedule, now, found = ListSchedule(TIMEOUTS), NOW, []
    schedule.want(now)
    for error in errors:
        assert schedule.begin(now)
        schedule.done(now, error)
        found.append(round(schedule.wake_at - now, 6))
        now = schedule.wake_at
    return found


def test_the_longer_the_list_does_not_come_the_rarer_it_is_requested() -> None:
    failures = [Unreachable("gone")] * 12
    found = pauses(*failures)
    assert found[0] == SPACING_S
    assert HEARTBEAT_S / 2 <= found[-1] <= HEARTBEAT_S
    assert pauses(*failures, None, failures[0])[-1] == SPACING_S, "one came in between"
    assert pauses(Refused(403, "<html>", certain=False))[0] == SPACING_S


def test_a_refused_list_is_requested_as_rarely_as_when_nothing_is_wrong() -> None:
    assert set(pauses(*[Refused(403, "Missing scope")] * 12)) == {HEARTBEAT_S}


def test_the_list_is_requested_regularly(schedule: ListSchedule) -> None:
    schedule.done(NOW)
    assert not schedule.begin(NOW + HEARTBEAT_S - 1)
    assert schedule.begin(NOW + HEARTBEAT_S)


def test_without_events_the_list_is_requested_more_often(schedule: ListSchedule) -> None:
    schedule.no_events()
    assert schedule.wake_at is None, "one is under way"
    schedule.done(NOW + 1)
    schedule.no_events()
    assert schedule.wake_at == NOW + 1 + WITHOUT_EVENTS_S


def test_without_events_a_list_that_does_not_come_is_not_requested_more_often(schedule: ListSchedule) -> None:
    schedule.done(NOW, Refused(403, "Missing scope"))
    schedule.no_events()
    assert schedule.wake_at == NOW + HEARTBEAT_S


@pytest.mark.parametrize(
    ("heartbeat_s", "error", "starting"),
    [
        (1e-6, Unreachable("502"), 0),
        (180.0, Unreachable("502"), 1),
        (180.0, Refused(403, "<html>", certain=False), 1),
        (180.0, Refused(403, "Missing scope"), 0),
    ],
    ids=["for long", "once", "refused by a proxy", "refused"],
)
def test_a_slot_whose_game_is_gone_is_free_at_last_though_no_list_comes(
    folder: Path, heartbeat_s: float, error: ApiError, starting: int
) -> None:
    """While only the list had no answers, the bot took no more games."""
    tiny, heartbeat = timedelta(microseconds=1), timedelta(seconds=heartbeat_s)
    timeouts = replace(Timeouts(), game_start=timedelta(0), playing_spacing=tiny, heartbeat=heartbeat)
    outbox, games = Outbox(), GameManager(SimpleQueue(), timeouts)
    with closing(Store(Database(folder))) as store:
        lobby = lobby_of(store, outbox, [], timeouts=timeouts)
        reconciler = Reconciler(games, lobby, outbox, store, URL, timeouts)  # type: ignore[arg-type]
        lobby.challenge_event(challenged("wxyz9876", id="ann"), time.monotonic())
        lobby.command_answered(CommandFailed(AcceptChallenge("wxyz9876"), Refused(404, "Not found")))
        assert lobby.should_read_playing()
        assert len(lobby) == 1
        reconciler.list_failed(error)
        assert len(lobby) == starting
        assert reconciler.wake_at is not None, "another list is requested"


def test_a_slot_whose_game_did_not_begin_in_time_is_free_after_a_list_without_it(tmp_path: Path) -> None:
    outbox, context = Outbox(), cast(GameContext, SimpleNamespace(config=Config()))
    with closing(Store(Database(tmp_path))) as store:
        games, lobby = GameManager(SimpleQueue(), AT_ONCE), lobby_of(store, outbox, [], timeouts=AT_ONCE)
        reconciler = Reconciler(games, lobby, outbox, store, URL, AT_ONCE)  # type: ignore[arg-type]
        lobby.challenge_event(challenged("wxyz9876", id="ann"), time.monotonic())
        lobby.command_answered(CommandFailed(AcceptChallenge("wxyz9876"), Refused(404, "Not found")))
        reconciler.tick(context, has_events=True)
        assert outbox.sent[-1] == ReadPlaying()
        assert len(lobby) == 1
        reconciler.compare([], time.monotonic(), context)
        assert len(lobby) == 0


def test_a_game_that_began_for_certain_is_joined_once_though_no_list_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox, context, joined = Outbox(), cast(GameContext, SimpleNamespace(config=Config())), list[str]()
    with closing(Store(Database(tmp_path))) as store:
        games, lobby = GameManager(SimpleQueue(), AT_ONCE), lobby_of(store, outbox, [], timeouts=AT_ONCE)
        monkeypatch.setattr(games, "join", lambda info, context: joined.append(info.game_id))
        reconciler = Reconciler(games, lobby, outbox, store, URL, AT_ONCE)  # type: ignore[arg-type]
        lobby.challenge_event(challenged("wxyz9876", id="ann"), time.monotonic())
        lobby.command_answered(CommandDone(AcceptChallenge("wxyz9876")))
        for _ in range(2):
            reconciler.tick(context, has_events=True)
            assert joined == ["wxyz9876"]
            assert len(lobby) == 0, "its slot is that of the game now"


@pytest.mark.parametrize(("has_events", "pause_s"), [(True, HEARTBEAT_S), (False, WITHOUT_EVENTS_S)])
def test_the_list_is_read_more_often_while_the_event_stream_is_closed(
    tmp_path: Path, pause_s: float, *, has_events: bool
) -> None:
    outbox, context = Outbox(), cast(GameContext, SimpleNamespace(config=Config()))
    with closing(Store(Database(tmp_path))) as store:
        games, lobby = GameManager(SimpleQueue(), TIMEOUTS), lobby_of(store, outbox, [])
        reconciler = Reconciler(games, lobby, outbox, store, URL, TIMEOUTS)  # type: ignore[arg-type]
        reconciler.want("the daemon has started")
        reconciler.tick(context, has_events=has_events)
        assert outbox.sent == [ReadPlaying()]
        came_at = time.monotonic()
        reconciler.compare([], came_at, context)
        reconciler.tick(context, has_events=has_events)
        assert pause_s <= reconciler.wake_at - came_at <= time.monotonic() - came_at + pause_s
