"""When games are joined from memory, and when the memory is not to be trusted."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lichessbot.games.recovery import Resumption
from lichessbot.lichess.models import Account
from lichessbot.storage.database import StateFile
from lichessbot.storage.store import Store
from lichessbot.timeouts import Waits

URL = "https://lichess.org"
US = Account(id="testbot", username="TestBot", title="BOT")
WAITS = Waits()
PATIENCE_S = WAITS.games_told.total_seconds()
NOW = 1000.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a process left that was killed in the middle of two games."""
    with closing(Store(StateFile(tmp_path))) as store:
        Resumption(store, URL, WAITS).introduce(US)
        store.note_game("first", "Ferdinand")
        store.note_game("second", "Ada")
    return tmp_path


@pytest.fixture
def resumption(folder: Path) -> Iterator[Resumption]:
    with closing(Store(StateFile(folder))) as store:
        yield Resumption(store, URL, WAITS)


def ids(resumption: Resumption, now: float) -> list[str]:
    return [info.game_id for info in resumption.begin(now)]


def test_nothing_is_joined_before_there_is_an_engine(resumption: Resumption) -> None:
    resumption.list_failed(NOW)
    assert resumption.wake_at is None
    assert ids(resumption, NOW + 100) == []
    resumption.engine_is_good(NOW + 101)
    assert resumption.wake_at == NOW + 101
    assert ids(resumption, NOW + 101) == ["second", "first"]


def test_lichess_has_a_moment_to_tell(resumption: Resumption) -> None:
    resumption.engine_is_good(NOW)
    assert ids(resumption, NOW) == []
    assert resumption.wake_at == NOW + PATIENCE_S
    assert ids(resumption, NOW + PATIENCE_S) == ["second", "first"]
    assert ids(resumption, NOW + PATIENCE_S) == []
    assert resumption.wake_at is None


def test_a_failure_ends_the_patience(resumption: Resumption) -> None:
    resumption.engine_is_good(NOW)
    resumption.list_failed(NOW + 0.1)
    assert ids(resumption, NOW + 0.1) == ["second", "first"]


def test_a_list_that_came_makes_the_memory_useless(folder: Path) -> None:
    with closing(Store(StateFile(folder))) as store:
        resumption = Resumption(store, URL, WAITS)
        resumption.engine_is_good(NOW)
        resumption.list_came({"first"})
        assert ids(resumption, NOW + PATIENCE_S) == []
    with closing(Store(StateFile(folder))) as later:
        assert later.left_over == [("first", "Ferdinand")]


def test_another_account_has_no_part_in_the_games(resumption: Resumption) -> None:
    other = Account(id="other", username="Other", title="BOT")
    assert resumption.is_another(other)
    assert not resumption.is_another(US)
    resumption.engine_is_good(NOW)
    resumption.introduce(other)
    assert ids(resumption, NOW + PATIENCE_S) == []


def test_games_of_another_server_are_not_looked_for_here(folder: Path) -> None:
    with closing(Store(StateFile(folder))) as store:
        resumption = Resumption(store, "http://localhost:9663", WAITS)
        resumption.engine_is_good(NOW)
        assert ids(resumption, NOW + PATIENCE_S) == []
        assert not resumption.is_another(Account(id="anybody", username="Anybody"))
