"""When a token that was denied counts as dead, what the operator reads, and an event stream that does not open."""

import math
from dataclasses import replace
from datetime import timedelta
from queue import SimpleQueue
from types import SimpleNamespace

import pytest
from pydantic import SecretStr

from lichessbot import connection
from lichessbot.connection import Connection
from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.lichess.answers import Account
from lichessbot.lichess.client import Access
from lichessbot.lichess.commands import CommandDone, CommandFailed, ReadPlaying
from lichessbot.lichess.streams import PlayingWanted, StreamLost, StreamOpened, StreamReader, StreamReport
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess

MINUTE = Timeouts(denied_token=timedelta(seconds=60))
NO_CLOCKS = -math.inf
US = Account(id="testbot", username="TestBot", title="BOT")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(connection, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.fixture
def link(clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Connection:
    it = Connection(Access("http://127.0.0.1:1", SecretStr("token"), MINUTE), lambda report: None, MINUTE)
    monkeypatch.setattr(it.outbox, "send", lambda command, after: None)
    return it


def test_a_token_denied_for_a_minute_is_dead(
    link: Connection, clock: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    assert not link.token_denied("401", NO_CLOCKS)
    assert "patience_s=60" in caplog.text
    clock.now = 59.0
    link.account_failed(Refused(401, "No such token"))
    assert not link.token_denied("401", NO_CLOCKS)
    clock.now = 60.0
    assert link.token_denied("401", NO_CLOCKS)


def test_a_denied_token_is_not_dead_before_all_clocks_have_run_out(
    link: Connection, clock: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    clock.now = 20.0
    assert not link.token_denied("401", 180.0)
    assert "patience_s=160" in caplog.text
    clock.now = 179.0
    assert not link.token_denied("401", 180.0)
    clock.now = 180.0
    assert link.token_denied("401", 180.0)


@pytest.mark.parametrize("outage", [Unreachable("502"), RateLimited(timedelta(minutes=1), "Too many requests")])
def test_a_denial_before_an_outage_and_one_after_it_are_two_doubts(
    link: Connection, clock: SimpleNamespace, outage: Unreachable | RateLimited
) -> None:
    assert not link.token_denied("401", NO_CLOCKS)
    clock.now = 30.0
    link.account_failed(outage)
    clock.now = 90.0
    assert not link.token_denied("401", NO_CLOCKS)
    clock.now = 149.0
    assert not link.token_denied("401", NO_CLOCKS)
    clock.now = 150.0
    assert link.token_denied("401", NO_CLOCKS)


def test_a_good_answer_ends_the_doubt(link: Connection, clock: SimpleNamespace) -> None:
    assert not link.token_denied("401", NO_CLOCKS)
    link.succeeded()
    clock.now = 60.0
    assert not link.token_denied("401", NO_CLOCKS)


def test_the_account_is_asked_for_once_at_a_time_and_ever_more_rarely_until_events_come(
    link: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each denial asks, as does each failure: the questions would double each time."""
    pauses_s: list[float] = []
    monkeypatch.setattr(link.outbox, "send", lambda command, after: pauses_s.append(after.total_seconds()))
    link.token_denied("401", NO_CLOCKS)
    for asked in range(1, 5):
        link.token_denied("401", NO_CLOCKS)
        assert len(pauses_s) == asked
        link.account_failed(Refused(401, "No such token"))
    link.account_answered(US)
    link.token_denied("401", NO_CLOCKS)
    assert pauses_s[0] == 0.0
    assert min(pauses_s[-2:]) >= 1.0, "half of the bound, which has doubled"
    link.account_answered(US)
    link.stream_opened()
    link.token_denied("401", NO_CLOCKS)
    assert pauses_s[-1] == 0.0
    assert len(pauses_s) == 7


def test_a_scope_that_the_token_lacks_is_named_once(link: Connection, caplog: pytest.LogCaptureFixture) -> None:
    for scope in ("bot:play", "bot:play || board:play", "team:write"):
        link.warn_of_missing_scope(Refused(403, f"Missing scope: {scope}"))
    link.warn_of_missing_scope(Unreachable("502"))
    scopes = [record.getMessage().split()[1] for record in caplog.records]
    assert scopes == ["scope=bot:play", "scope=team:write"]


def test_requests_say_whose_bot_this_is_once_it_is_known(lichess: ScriptedLichess) -> None:
    lichess.answer("/api/account", Reply(body={"id": "testbot", "username": "TestBot"}))
    lichess.answer("/api/account/playing", Reply(body={"nowPlaying": []}))
    reports: SimpleQueue[StreamReport | CommandDone | CommandFailed] = SimpleQueue()
    link = Connection(Access(lichess.url, SecretStr("token"), MINUTE), reports.put, MINUTE)
    link.read_account()
    reports.get(timeout=60.0)
    for renew_sessions in (False, True):
        link.introduce(US, renew_sessions=renew_sessions)
        link.outbox.send(ReadPlaying())
        reports.get(timeout=60.0)
    link.outbox.close()
    names = [request.headers["User-Agent"].partition(" user:")[2] for request in lichess.requests]
    assert names == ["", "", "TestBot"]


def test_the_status_of_an_open_event_stream_survives_a_doubt_about_the_token(link: Connection) -> None:
    link.stream_opened()
    assert link.summary == "listening"
    link.token_denied("401", NO_CLOCKS)
    assert link.summary == "token denied, trying again"
    link.account_failed(Refused(401, "No such token"))
    assert link.summary == "not connected, trying again"
    link.account_answered(US)
    assert link.summary == "listening"


def test_an_account_reopens_only_an_event_stream_that_was_refused(
    link: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is open would miss events, and one that waits may do so because Lichess asked for it."""
    reopenings: list[bool] = []
    monkeypatch.setattr(link, "_stream", SimpleNamespace(reopen=lambda: reopenings.append(link.is_open)))
    link.stream_refused()
    link.stream_opened()
    link.account_answered(US)
    link.stream_refused()
    link.stream_lost(StreamLost(None, "429", timedelta(minutes=1)))
    link.account_answered(US)
    assert reopenings == []
    assert link.summary != "listening"
    link.stream_refused()
    link.account_answered(US)
    assert reopenings == [False]


def test_an_event_stream_whose_thread_cannot_be_started_is_opened_with_the_next_list_which_is_read_soon(
    caplog: pytest.LogCaptureFixture, no_thread_once: None
) -> None:
    reports: list[StreamReport | CommandDone | CommandFailed] = []
    link = Connection(Access("http://127.0.0.1:1", SecretStr("token"), MINUTE), reports.append, MINUTE)
    link.listen()
    assert reports == [PlayingWanted("the event stream has no thread")]
    assert "thread.not_started" in caplog.text
    link.listen()
    assert link._stream.is_alive()
    link.stop_listening()


def test_an_event_stream_whose_error_page_does_not_end_is_opened_again(lichess: ScriptedLichess) -> None:
    page: list[bytes | float] = [b"x", 0.2] * 600
    lichess.answer("/api/stream/event", Reply(502, lines=page), Reply(lines=[b"\n"], end=End.STALL))
    timeouts = replace(MINUTE, liveness=timedelta(seconds=1))
    reports: SimpleQueue[StreamReport | CommandDone | CommandFailed] = SimpleQueue()
    link = Connection(Access(lichess.url, SecretStr("token"), timeouts), reports.put, timeouts)
    link.listen()
    lost = reports.get(timeout=60.0)
    assert isinstance(lost, StreamLost)
    assert lost.reason == "502: Bad Gateway"
    assert reports.get(timeout=60.0) == StreamOpened(None)
    link.stop_listening()


def test_an_event_stream_whose_reader_hangs_is_reported_as_lost_and_gets_another(
    link: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[StreamReport | CommandDone | CommandFailed] = []
    monkeypatch.setattr(link, "_emit", reports.append)
    link.listen()
    first = link._stream
    assert first is not None
    link.tick()
    assert link._stream is first
    monkeypatch.setattr(StreamReader, "overdue", property(lambda reader: reader is first))
    link.tick()
    assert link._stream not in (None, first)
    assert first._stopping
    assert reports.count(StreamLost(None, "its thread hangs", timedelta())) == 1
    link.tick()
    link.stop_listening()
    assert link._stream._stopping


def test_a_tick_has_the_outbox_look_for_requests_that_hang(link: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[bool] = []
    monkeypatch.setattr(link.outbox, "tick", lambda: looks.append(True))
    link.tick()
    assert looks == [True]


@pytest.mark.parametrize(("is_open", "reopened"), [(True, 1), (False, 0)])
def test_a_standstill_reopens_an_event_stream_but_ends_no_wait_for_one(
    link: Connection, monkeypatch: pytest.MonkeyPatch, is_open: bool, reopened: int
) -> None:
    """The wait may be one that Lichess asked for."""
    reopenings: list[bool] = []
    stream = SimpleNamespace(reopen=lambda: reopenings.append(True), overdue=False)
    monkeypatch.setattr(link, "_stream", stream)
    monkeypatch.setattr(link, "is_open", is_open)
    link.tick()
    assert reopenings == []
    monkeypatch.setattr(link._standstill, "look", lambda: 60.0)
    link.tick()
    assert len(reopenings) == reopened
