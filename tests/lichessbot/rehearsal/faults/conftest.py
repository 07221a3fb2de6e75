"""A server for each test: faults stay where they were put."""

import pytest

from lichessbot.rehearsal.server.server import RehearsalServer


@pytest.fixture
def lichess(own_lichess: RehearsalServer) -> RehearsalServer:
    return own_lichess
