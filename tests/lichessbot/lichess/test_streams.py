"""A stream reader against a scripted server on a real socket, with short timeouts."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from queue import Empty, SimpleQueue
from threading import Event
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

import pytest

from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.inbox import Inbox, Report
from lichessbot.lichess.client import LineStream
from lichessbot.lichess.models import ChatLine, GameFull
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.lichess.streams import (
    StreamEvent,
    StreamLost,
    StreamOpened,
    StreamReader,
    StreamRefused,
)
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess
from tests.lichessbot.lichess.stream_bench import (
    EVENT_PATH,
    GAME,
    GAME_PATH,
    IMPATIENT,
    STAY,
    TIMEOUTS,
    Logged,
    Read,
    chat,
    game_state,
    heard,
    lost,
    texts,
)
from tests.lichessbot.scripted_daemon import line
from tests.patience import PATIENCE_S, until


def test_lines_become_events_of_their_stream(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(lines=[chat("one"), b"\n", chat("two")], end=End.STALL))
    read()
    assert heard(inbox) == StreamOpened(GAME)
    assert heard(inbox) == StreamEvent(GAME, ChatLine(text="one"), 0.0)
    assert texts(inbox, 1) == ["two"]


def test_a_line_arrives_when_it_is_written_not_when_a_block_is_full(
    lichess: ScriptedLichess, inbox: Inbox, read: Read
) -> None:
    for chunked in (True, False):
        lichess.answer(GAME_PATH, Reply(lines=[0.2, chat("now")], end=End.STALL, chunked=chunked))
        reader = read()
        assert heard(inbox) == StreamOpened(GAME)
        assert texts(inbox, 1) == ["now"]
        reader.stop()
        reader.join(PATIENCE_S)


def test_lines_may_arrive_in_pieces(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    whole = chat("one") + chat("two") + chat("three")
    pieces: list[bytes | float] = [whole[start : start + 7] for start in range(0, len(whole), 7)]
    lichess.answer(GAME_PATH, Reply(lines=pieces, end=End.STALL))
    read()
    assert texts(inbox, 3) == ["one", "two", "three"]


@pytest.mark.parametrize("end", [End.CLEAN, End.CUT, End.RESET, End.STALL])
def test_a_stream_is_reopened_however_it_ends(lichess: ScriptedLichess, inbox: Inbox, read: Read, end: End) -> None:
    lichess.answer(GAME_PATH, Reply(lines=[chat("before")], end=end))
    read(timeouts=IMPATIENT)
    assert texts(inbox, 1) == ["before"]
    lichess.answer(GAME_PATH, Reply(lines=[chat("after")], end=End.STALL))
    while texts(inbox, 1) != ["after"]:
        pass


def test_the_first_retry_is_immediate(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(lines=[chat("x")], end=End.CUT), STAY)
    read()
    assert lost(inbox).retry_in == timedelta()


def test_failures_in_a_row_are_retried_with_growing_delays(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(502, "<html>Bad Gateway</html>"))
    read()
    first, second, third, fourth = (lost(inbox).retry_in.total_seconds() for _ in range(4))
    assert first == 0
    assert 0.05 <= second <= 0.1
    assert all(0.1 <= it <= 0.2 for it in (third, fourth))


def test_after_an_outage_the_first_end_is_retried_at_once(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    ended = Reply(lines=[chat("x")], end=End.CUT)
    lichess.answer(GAME_PATH, *[Reply(502)] * 4, ended, ended, STAY)
    read()
    *_, last_opening, first_end, second_end = (lost(inbox).retry_in for _ in range(6))
    assert last_opening > timedelta()
    assert first_end == timedelta()
    assert second_end > timedelta()


def test_an_unreachable_server_is_retried(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.close()
    read()
    assert "refused" in lost(inbox).reason
    lost(inbox)


def test_keep_alives_keep_a_quiet_stream_alive(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    for liveness_s in (2.5, 10.0, 40.0):  # a pause of the server may be longer than the first is patient
        lines: list[bytes | float] = [*(liveness_s / 5, b"\n") * 6, chat("still here")]
        lichess.answer(GAME_PATH, Reply(lines=lines, end=End.STALL))
        reader = read(timeouts=replace(TIMEOUTS, liveness=timedelta(seconds=liveness_s)))
        while isinstance(report := heard(inbox), StreamOpened):
            pass
        reader.stop()
        reader.join(PATIENCE_S)
        if isinstance(report, StreamEvent):
            break
        while not inbox.empty():
            inbox.get()
    assert report == StreamEvent(GAME, ChatLine(text="still here"), 0.0)


def test_a_silent_stream_is_lost(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, STAY)
    began = time.monotonic()
    read(timeouts=IMPATIENT)
    assert "timed out" in lost(inbox).reason
    assert time.monotonic() - began >= IMPATIENT.liveness.total_seconds()


def test_a_stream_without_headers_is_lost(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(delay_s=30), Reply(lines=[chat("after")], end=End.STALL))
    read(timeouts=IMPATIENT)
    assert texts(inbox, 1) == ["after"]


def test_a_html_refusal_of_a_game_stream_is_not_certain(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(403, "<html>Forbidden</html>"))
    read()
    refused = heard(inbox)
    assert isinstance(refused, StreamRefused)
    assert not refused.certain


def test_after_the_final_state_the_stream_is_not_reopened(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(lines=[game_state(), game_state("mate"), chat("good game")]))
    reader = read()
    reader.join(PATIENCE_S)
    assert not reader.is_alive()
    assert len(lichess.requests) == 1


def test_the_full_state_of_a_finished_game_is_final_too(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    state = {"moves": "", "wtime": 1, "btime": 1, "status": "aborted"}
    lichess.answer(GAME_PATH, Reply(lines=[line("gameFull", id=GAME, variant={"key": "standard"}, state=state)]))
    read().join(PATIENCE_S)
    assert heard(inbox) == StreamOpened(GAME)
    report = heard(inbox)
    assert isinstance(report, StreamEvent)
    assert isinstance(report.event, GameFull)
    assert inbox.empty()


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refused_game_stream_is_reopened_only_on_request(
    lichess: ScriptedLichess, inbox: Inbox, read: Read, status: int
) -> None:
    lichess.answer(GAME_PATH, Reply(status, {"error": "No such game"}), Reply(lines=[chat("after all")], end=End.STALL))
    reader = read()
    assert heard(inbox) == StreamRefused(GAME, status, "No such game")
    time.sleep(0.3)
    assert len(lichess.requests) == 1
    reader.reopen()
    assert texts(inbox, 1) == ["after all"]


def test_the_event_stream_is_given_up_only_if_the_token_is_refused(
    lichess: ScriptedLichess, inbox: Inbox, read: Read
) -> None:
    lichess.answer(EVENT_PATH, Reply(400, {"error": "odd"}), Reply(401, {"error": "No such token"}))
    read(None)
    assert isinstance(heard(inbox), StreamLost)
    assert heard(inbox) == StreamRefused(None, 401, "No such token")


def test_a_rate_limited_stream_waits_as_long_as_asked(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    body = {"error": "slow down", "ratelimit": {"key": "x", "seconds": 0.3}}
    lichess.answer(EVENT_PATH, Reply(429, body), Reply(429, "<html>"), STAY)
    read(None)
    assert lost(inbox) == StreamLost(None, ANY, timedelta(seconds=0.3), as_asked=True)
    assert lost(inbox) == StreamLost(None, ANY, TIMEOUTS.rate_limit, as_asked=True)


PATIENT = replace(TIMEOUTS, backoff_first=timedelta(seconds=60), game_backoff_ceiling=timedelta(seconds=60))


def test_a_wait_chosen_by_the_reader_ends_when_another_request_succeeds(
    lichess: ScriptedLichess, inbox: Inbox, read: Read
) -> None:
    ended, at_last = Reply(lines=[chat("x")], end=End.CUT), Reply(lines=[chat("at last")], end=End.STALL)
    lichess.answer(GAME_PATH, ended, Reply(502), Reply(502), at_last)
    reader = read(timeouts=PATIENT)
    lost(inbox), lost(inbox)
    assert lost(inbox).retry_in > timedelta(seconds=20)
    began = time.monotonic()
    reader.retry_now()
    assert texts(inbox, 1) == ["at last"]
    assert time.monotonic() - began < 20.0


@pytest.mark.parametrize("reply", [STAY, Reply(429, {"error": "wait"}, [("Retry-After", "60")]), Reply(404)])
def test_other_waits_are_not_shortened_by_other_requests(
    lichess: ScriptedLichess, inbox: Inbox, read: Read, reply: Reply
) -> None:
    lichess.answer(GAME_PATH, Reply(502), Reply(502), reply)
    reader = read(timeouts=PATIENT)
    lost(inbox), lost(inbox)
    reader.retry_now()
    heard(inbox)
    reader.retry_now()
    time.sleep(0.3)
    assert len(lichess.requests) == 3


def test_a_stream_that_opened_and_ended_is_not_woken(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(lines=[chat("x")], end=End.CUT))
    reader = read(timeouts=PATIENT)
    lost(inbox), lost(inbox)
    reader.retry_now()
    time.sleep(0.3)
    assert len(lichess.requests) == 2


def test_an_eviction_is_logged_and_followed_by_a_pause(
    lichess: ScriptedLichess, inbox: Inbox, read: Read, caplog: Logged
) -> None:
    lichess.answer(EVENT_PATH, Reply(lines=[b"\n"]))
    read(None)
    assert lost(inbox).retry_in == timedelta()
    assert lost(inbox) == StreamLost(None, ANY, TIMEOUTS.eviction_pause, as_asked=True)
    assert "another client seems to use this token" in caplog.text


def test_a_clean_end_of_a_long_lived_stream_is_no_eviction(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    ends = [Event() for _ in range(3)]
    lichess.answer(EVENT_PATH, *[Reply(lines=[b"\n", end]) for end in ends], STAY)
    read(None, timeouts=replace(TIMEOUTS, stream_proven=timedelta(seconds=0.1)))
    for end in ends:
        assert heard(inbox) == StreamOpened(None)
        time.sleep(0.15)
        end.set()
        assert lost(inbox).retry_in == timedelta()


@pytest.mark.parametrize("reply", [STAY, Reply(delay_s=30), Reply(429, {"error": "wait"}, [("Retry-After", "60")])])
def test_a_reader_stops_in_every_state(lichess: ScriptedLichess, inbox: Inbox, read: Read, reply: Reply) -> None:
    lichess.answer(GAME_PATH, reply)
    reader = read(timeouts=IMPATIENT)
    time.sleep(0.2)
    began = time.monotonic()
    reader.stop()
    reader.join(PATIENCE_S)
    assert time.monotonic() - began < 20.0
    while not inbox.empty():
        inbox.get()
    with pytest.raises(Empty):
        inbox.get(timeout=0.2)


def test_a_reader_reports_nothing_once_stop_has_returned(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(lines=[go_on := Event(), chat("late")], end=End.STALL))
    reader = read()
    heard(inbox)
    reporting = Event()

    def report_slowly(report: Report) -> None:
        reporting.set()
        time.sleep(0.2)
        inbox.put(report)

    reader._emit = report_slowly
    go_on.set()
    assert reporting.wait(PATIENCE_S)
    reader.stop()
    reported = inbox.qsize()
    reader.join(PATIENCE_S)
    assert inbox.qsize() == reported


def test_a_reader_stopped_at_the_rate_limiter_uses_no_budget(
    lichess: ScriptedLichess, inbox: Inbox, read: Read
) -> None:
    lichess.answer(EVENT_PATH, Reply(429, {"error": "wait"}, [("Retry-After", "600")]))
    reader = read(None)
    lost(inbox)
    reader.reopen()                     # no effect: Lichess asked for the pause
    time.sleep(0.2)
    reader.stop()
    reader.join(PATIENCE_S)
    assert lichess.paths() == [EVENT_PATH]


@pytest.mark.parametrize("reply", [STAY, Reply(429, {"error": "wait"}, [("Retry-After", "60")])])
def test_a_stream_is_reopened_on_request_without_waiting(
    lichess: ScriptedLichess, inbox: Inbox, read: Read, reply: Reply
) -> None:
    lichess.answer(GAME_PATH, reply, Reply(lines=[chat("again")], end=End.STALL))
    reader = read()
    heard(inbox)
    began = time.monotonic()
    reader.reopen()
    assert reply is not STAY or lost(inbox).on_request
    assert texts(inbox, 1) == ["again"]
    assert time.monotonic() - began < 20.0


def test_a_stream_is_opened_at_most_twice_a_second(lichess: ScriptedLichess, inbox: Inbox, read: Read) -> None:
    lichess.answer(GAME_PATH, Reply(lines=[chat("again")], end=End.STALL))
    reader = read(timeouts=replace(TIMEOUTS, stream_spacing=Timeouts().stream_spacing))
    heard(inbox)
    began = time.monotonic()
    while time.monotonic() - began < 1.2:
        reader.reopen()
        time.sleep(0.01)
    opened = lichess.paths().count(GAME_PATH)
    assert opened <= 2 + (time.monotonic() - began) / Timeouts().stream_spacing.total_seconds()


def test_a_stream_that_hangs_is_overdue_and_one_that_waits_is_not() -> None:
    hour = timedelta(hours=1)
    timeouts = replace(Timeouts().scaled(0.0005), longest_pause=hour, stream_spacing=hour)  # 60 ms beyond its schedule
    freed = Event()

    def reader(open_stream: Callable[[], LineStream], tried_at: float | None = None) -> StreamReader:
        client: Any = SimpleNamespace(game_stream=lambda game_id: open_stream(), close=lambda: None)
        return StreamReader(client, "game1", SimpleQueue().put, timeouts, RateLimiter(timeouts), tried_at)

    def hang() -> LineStream:
        freed.wait()
        raise Unreachable("freed at last")

    def refuse() -> LineStream:
        raise Refused(404, "no such game")

    def put_off() -> LineStream:
        raise RateLimited(hour, "slow down")

    # They wait to be asked, as long as Lichess wants, and for their turn.
    waiting = [reader(refuse), reader(put_off), reader(hang, time.monotonic())]
    hanging = reader(hang)
    assert not hanging.overdue, "it has not begun"
    for thread in (*waiting, hanging):
        thread.start()
    until(lambda: hanging.overdue and not any(it.overdue for it in waiting))
    for thread in (*waiting, hanging):
        thread.stop()
    freed.set()
    for thread in (*waiting, hanging):
        thread.join(PATIENCE_S)
        assert not thread.overdue
