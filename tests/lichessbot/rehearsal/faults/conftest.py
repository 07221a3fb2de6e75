"""A server for each test: faults stay where they were put."""

import pytest

from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.conftest import Join, joining


@pytest.fixture
def lichess(own_lichess: RehearsalServer) -> RehearsalServer:
    return own_lichess


@pytest.fixture
def join(lichess: RehearsalServer) -> Join:
    return joining(lichess)
