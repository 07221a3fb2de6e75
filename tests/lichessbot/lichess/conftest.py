"""An outbox, the inbox of its reports, and its clock."""

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
from tests.fakes.scripted_lichess import ScriptedLichess
from tests.lichessbot.lichess.outbox_bench import TIMEOUTS


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
