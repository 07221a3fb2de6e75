"""Fixtures for the tests of the move sources."""

from datetime import timedelta

import pytest
from pydantic import SecretStr

from lichessbot.lichess.client import Access
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.move_sources.http import Hosts
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import ScriptedLichess

TOKEN = "lip_0123456789abcdef"
TIMEOUTS = Timeouts(
    connect=timedelta(seconds=60),
    source_answer=timedelta(seconds=60),
    source_rest=timedelta(seconds=20),
    source_rest_ceiling=timedelta(seconds=2000),
)


@pytest.fixture
def hosts(lichess: ScriptedLichess) -> Hosts:
    """`lichess` is the server the token belongs to."""
    access = Access(lichess.url, SecretStr(TOKEN), TIMEOUTS, user_name="TestBot")
    return Hosts(access, RateLimiter(TIMEOUTS))
