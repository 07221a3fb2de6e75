"""An outbox and the inbox of its reports."""

from collections.abc import Iterator
from queue import SimpleQueue

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
def outbox(lichess: ScriptedLichess, inbox: Inbox) -> Iterator[Outbox]:
    access = Access(lichess.url, SecretStr("lip_x"), TIMEOUTS)
    outbox = Outbox(
        lambda read_timeout: LichessClient(access, read_timeout), inbox.put, TIMEOUTS, RateLimiter(TIMEOUTS)
    )
    yield outbox
    outbox.close()
