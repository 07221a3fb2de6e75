"""An outbox with its clock, a stream reader, and the inbox of their reports."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from queue import SimpleQueue
from types import SimpleNamespace

import pytest
from pydantic import SecretStr

from lichessbot.inbox import Inbox
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.outbox import Outbox
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.lichess.streams import StreamReader
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import ScriptedLichess
from tests.lichessbot.lichess import stream_bench
from tests.lichessbot.lichess.outbox_bench import TIMEOUTS
from tests.lichessbot.lichess.stream_bench import GAME, Read
from tests.patience import PATIENCE_S


@pytest.fixture
def inbox() -> Inbox:
    return SimpleQueue()


@pytest.fixture
def open_outbox(lichess: ScriptedLichess, inbox: Inbox) -> Iterator[Callable[..., Outbox]]:
    """Return a function that opens an outbox, some of whose timeouts last these seconds."""
    with ExitStack() as stack:

        def with_timeouts(**seconds: float) -> Outbox:
            timeouts = replace(TIMEOUTS, **{name: timedelta(seconds=it) for name, it in seconds.items()})
            access = Access(lichess.url, SecretStr("lip_x"), timeouts)
            outbox = Outbox(
                lambda read_timeout: LichessClient(access, read_timeout), inbox.put, timeouts, RateLimiter(timeouts)
            )
            stack.callback(outbox.close)
            return outbox

        yield with_timeouts


@pytest.fixture
def outbox(open_outbox: Callable[..., Outbox]) -> Outbox:
    """An outbox that gives up nothing while a test lasts, unless its clock is put forward."""
    return open_outbox()


@pytest.fixture
def put_forward(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that puts the clock of the outbox forward; its threads see that when they look next."""
    ahead_s = 0.0

    def by(seconds: float) -> None:
        nonlocal ahead_s
        ahead_s += seconds

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead_s)
    for module in ("outbox", "rate_limiter"):
        monkeypatch.setattr(f"lichessbot.lichess.{module}.time", clock)
    return by


@pytest.fixture
def read(lichess: ScriptedLichess, inbox: Inbox) -> Iterator[Read]:
    """Return a function that begins to read a stream."""
    readers: list[StreamReader] = []

    def begin(game_id: str | None = GAME, timeouts: Timeouts = stream_bench.TIMEOUTS) -> StreamReader:
        api = LichessClient(Access(lichess.url, SecretStr("lip_x"), timeouts), timeouts.liveness)
        readers.append(StreamReader(api, game_id, inbox.put, timeouts, RateLimiter(timeouts)))
        readers[-1].start()
        return readers[-1]

    yield begin
    for reader in readers:
        reader.stop()
        reader.join(PATIENCE_S)
        assert not reader.is_alive()
