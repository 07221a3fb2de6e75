"""What a stream reader tells of its stream's age and silence, and what it concludes from the age at the end."""

import time
from collections.abc import Iterator
from datetime import timedelta
from queue import SimpleQueue
from typing import Any

import pytest
from pydantic import SecretStr

from lichessbot.errors import Unreachable
from lichessbot.lichess import rate_limiter, streams
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.rate_limiter import Purpose, RateLimiter
from lichessbot.lichess.streams import StreamLost, StreamReader
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess
from tests.patience import PATIENCE_S, until

GAME = "abcd1234"


def test_a_stream_knows_its_age_and_its_silence(lichess: ScriptedLichess) -> None:
    lichess.answer(f"/api/bot/game/stream/{GAME}", Reply(lines=[b"\n"], end=End.STALL))
    timeouts = Timeouts()
    api = LichessClient(Access(lichess.url, SecretStr("lip_x"), timeouts), timeouts.liveness)
    reader = StreamReader(api, GAME, SimpleQueue().put, timeouts, RateLimiter(timeouts))
    assert (reader.open_since, reader.heard_at) == (None, None)
    began = time.monotonic()
    reader.start()
    until(lambda: reader.heard_at is not None, "a keep-alive line counts")
    assert began <= reader.open_since <= reader.heard_at <= time.monotonic()
    reader.stop()
    reader.join(PATIENCE_S)
    assert reader.open_since is None
    assert reader.heard_at is not None, "the silence goes on"


class Hand:
    """A clock that stands still until a stream moves it."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


class Streams:
    """Streams that last so long, and then end cleanly or break off; also stands for their connection."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.lasts_s = 0.0
        self.is_cut = False

    def __iter__(self) -> Iterator[bytes]:
        yield b""
        self.hand.now += self.lasts_s
        if self.is_cut:
            raise Unreachable("timed out")

    def event_stream(self) -> "Streams":
        return self

    def game_stream(self, game_id: str) -> "Streams":
        return self

    def close(self) -> None:
        pass


def test_a_long_stream_that_breaks_off_parts_two_early_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two restarts of Lichess, days apart, are no other client."""
    hand = Hand()
    monkeypatch.setattr(streams, "time", hand)
    scripted: Any = Streams(hand)
    timeouts = Timeouts()
    inbox: SimpleQueue[Any] = SimpleQueue()
    reader = StreamReader(scripted, None, inbox.put, timeouts, RateLimiter(timeouts))

    def pause_after(lasts_s: float, *, is_cut: bool = False) -> float:
        hand.now += 60.0
        scripted.lasts_s, scripted.is_cut = lasts_s, is_cut
        return reader._read_until_lost().total_seconds()

    assert pause_after(2.0) == 0.0
    assert pause_after(86_400.0, is_cut=True) == 0.0
    assert pause_after(2.0) < 1.0
    assert pause_after(2.0) == timeouts.eviction_pause.total_seconds()


def test_ends_that_the_owner_asks_for_are_no_other_client(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A machine that stood still asks for two in a row."""

    class Reopened(Streams):
        def __iter__(self) -> Iterator[bytes]:
            self.hand.now += 1.0
            reader.reopen()
            yield b""

        def interrupt(self) -> None:
            pass

    hand = Hand()
    monkeypatch.setattr(streams, "time", hand)
    scripted: Any = Reopened(hand)
    inbox: SimpleQueue[Any] = SimpleQueue()
    timeouts = Timeouts()
    reader = StreamReader(scripted, None, inbox.put, timeouts, RateLimiter(timeouts))
    for _ in range(3):
        reader._read_until_lost()
        inbox.get_nowait()
        assert inbox.get_nowait() == StreamLost(None, "reopened on request", timedelta(), on_request=True)
    assert "stream.evicted" not in caplog.text


def test_an_event_stream_that_our_own_limit_holds_back_tells_when_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log said that it is opened at once."""
    hand = Hand()
    monkeypatch.setattr(streams, "time", hand)
    monkeypatch.setattr(rate_limiter, "time", hand)
    scripted: Any = Streams(hand)
    timeouts = Timeouts()
    limiter = RateLimiter(timeouts)
    for _ in range(24):
        limiter.ask(Purpose.EVENT_STREAM)
    inbox: SimpleQueue[Any] = SimpleQueue()
    scripted.lasts_s = 2.0
    reader = StreamReader(scripted, None, inbox.put, timeouts, limiter)
    reader._read_until_lost()
    inbox.get_nowait()
    lost = inbox.get_nowait()
    assert isinstance(lost, StreamLost)
    assert lost.retry_in == timeouts.event_stream_window - timedelta(seconds=2)


def test_a_reader_says_when_its_stream_is_due_and_withdraws_if_it_is_stopped() -> None:
    timeouts = Timeouts(stream_window=timedelta(hours=1))
    scripted: Any = Streams(Hand())
    limiter = RateLimiter(timeouts)
    reader = StreamReader(scripted, GAME, SimpleQueue().put, timeouts, limiter)
    reader._read_until_lost()  # a game's stream is opened at once, the first time
    for _ in range(4):
        limiter.ask_to_reopen("other", time.monotonic())
    asked: list[float] = []
    really_ask = limiter.ask_to_reopen

    def ask(stream: object, due_at: float) -> float:
        asked.append(due_at)
        if len(asked) == 1:
            reader.due_at = 7.0
        else:
            reader.stop()
        assert really_ask(stream, due_at) > 0.0
        return 0.01

    limiter.ask_to_reopen = ask  # type: ignore[method-assign]
    began = time.monotonic()
    reader._read_until_lost()
    usual, due_at = asked
    assert began < usual - timeouts.stream_answer.total_seconds() < time.monotonic(), "not known yet"
    assert due_at == 7.0
    assert not limiter._waiting_streams


def test_a_reader_stopped_while_its_stream_is_opened_does_not_wait_for_a_line() -> None:
    """It could not interrupt the stream yet."""

    class StoppedMeanwhile(Streams):
        def game_stream(self, game_id: str) -> Streams:
            reader.stop()
            return self

        def __iter__(self) -> Iterator[bytes]:
            raise AssertionError("the stream is read")

    timeouts = Timeouts()
    scripted: Any = StoppedMeanwhile(Hand())
    reader = StreamReader(scripted, GAME, SimpleQueue().put, timeouts, RateLimiter(timeouts))
    reader._read_lines()
    assert reader.open_since is None


def test_a_reader_that_replaces_another_waits_for_its_turn_and_says_so() -> None:
    """Many games that lose their streams together would else open them all at once."""
    timeouts = Timeouts(stream_window=timedelta(hours=1))
    scripted: Any = Streams(Hand())
    limiter = RateLimiter(timeouts)
    reader = StreamReader(scripted, GAME, SimpleQueue().put, timeouts, limiter, time.monotonic())
    was_queued: list[bool] = []

    def ask(stream: object, due_at: float) -> float:
        was_queued.append(reader.is_queued)
        return 0.01 if len(was_queued) == 1 else 0.0

    limiter.ask_to_reopen = ask  # type: ignore[method-assign]
    reader._read_until_lost()
    assert was_queued == [True, True]
    assert not reader.is_queued
