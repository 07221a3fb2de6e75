"""Fixtures for several packages."""

from collections.abc import Iterator

import chess
import chess.engine
import pytest

from tests.engine.positions import Start
from tests.engine.uci_session import COMMAND, Session


@pytest.fixture(params=[False, True], ids=["standard", "chess960"])
def chess960(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(params=Start, ids=lambda start: start.value)
def start(request: pytest.FixtureRequest) -> Start:
    assert isinstance(request.param, Start)
    return request.param


@pytest.fixture
def client() -> Iterator[chess.engine.SimpleEngine]:
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=100) as engine:
        yield engine


@pytest.fixture
def session() -> Iterator[Session]:
    session = Session()
    yield session
    session.close()
