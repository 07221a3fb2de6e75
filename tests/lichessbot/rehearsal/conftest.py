"""An embedded Lichess with its waits at a twentieth of real time, and fresh accounts for every test.

But what a test must do in time, it may do late: a busy machine sometimes takes seconds for the next line of a test.

One server for each module of tests: names get a number, so that no test meets another's accounts.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import pytest

from lichessbot.rehearsal.rules.accounts import BOT_SCOPES, Account
from lichessbot.rehearsal.rules.enums import Scope
from lichessbot.rehearsal.rules.timing import Timing, wall_ms
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.patience import PATIENCE_S

from .client import Client

SCALE = 1 / 20

Join = Callable[..., Client]
_numbers = count(1)


@pytest.fixture(scope="module")
def timing() -> Timing:
    return replace(
        Timing().scaled(SCALE),
        challenge_expiry_s=PATIENCE_S,
        first_moves_s=PATIENCE_S,
        arena_waits_s=PATIENCE_S,
        rate_limit_s=PATIENCE_S,
        minute_s=PATIENCE_S,
        event_streams_window_s=PATIENCE_S,
        account_window_s=PATIENCE_S,
    )


@pytest.fixture(scope="module")
def lichess(timing: Timing) -> Iterator[RehearsalServer]:
    with RehearsalServer(timing=timing) as server:
        yield server


@pytest.fixture
def join(lichess: RehearsalServer) -> Join:
    return joining(lichess)


@pytest.fixture
def own_lichess(timing: Timing) -> Iterator[RehearsalServer]:
    """A server for one test alone: faults stay where they were put."""
    with RehearsalServer(timing=timing) as server:
        yield server


def joining(lichess: RehearsalServer) -> Join:
    """What opens an account and returns its client."""

    def join(
        name: str, title: str | None = None, scopes: frozenset[Scope] = BOT_SCOPES, bio: str = ""
    ) -> Client:
        full_name = f"{name}{next(_numbers)}"
        account = Account(full_name, wall_ms(), title, bio=bio, allows_takebacks=title is None)
        accounts = lichess.site.accounts
        token = lichess.call(lambda: accounts.issue_token(accounts.add(account), scopes))
        return Client(lichess.site.url, token, full_name)

    return join


@pytest.fixture
def ada(join: Join) -> Client:
    return join("Ada", "BOT", bio="Computes.")


@pytest.fixture
def bob(join: Join) -> Client:
    return join("Bob", "BOT", bio="Replies.")


@pytest.fixture
def hal(join: Join) -> Client:
    return join("Hal")
