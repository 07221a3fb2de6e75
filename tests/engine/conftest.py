"""Fixtures for several packages."""

from collections.abc import Iterator

import chess
import chess.engine
import pytest

from tests.engine.positions import Start
from tests.engine.uci_session import COMMAND, Session


@pytest.fixture(params=[False, True], ids=["standard", "chess960"])
def chess960(request: pytest.FixtureRequest) -> bool:
    return request.param


@pytest.fixture(params=Start, ids=lambda start: start.value)
def start(request: pytest.FixtureRequest) -> Start:
    return request.param


@pytest.fixture(scope="module")
def client() -> Iterator[chess.engine.SimpleEngine]:
    """An engine as python-chess runs it, which sets its options as it needs them."""
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=100) as engine:
        yield engine


@pytest.fixture(scope="module")
def shared_session() -> Iterator[Session]:
    session = Session()
    yield session
    session.close()


@pytest.fixture
def session(shared_session: Session) -> Session:
    """An engine as after its start. The tests of a file share its process."""
    shared_session.reset()
    return shared_session
