"""The matchmaker in a lobby whose outbox sends nothing: what it asks, whom it challenges, what the log says."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lichessbot.errors import RateLimited
from lichessbot.lichess.commands import CommandFailed, ReadBots, ReadRatings
from lichessbot.storage.database import Database
from lichessbot.storage.store import Store
from tests.lichessbot.test_lobby import US, Hall


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(Database(tmp_path))
    yield store
    store.close()


def test_an_attempt_that_fails_names_the_error(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    hall = Hall(store)
    hall.hear(ReadRatings(), US)
    error = RateLimited(timedelta(minutes=1), "Too many requests")
    hall.lobby.command_answered(CommandFailed(ReadBots(), error))
    assert f'match.none reason="{error}"' in caplog.text
