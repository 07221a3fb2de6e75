"""A server and a bot of its own for every test; a test file may define an arena that differs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lichessbot.rehearsal.rules.enums import CastlingSpelling
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.fakes.arena import Arena


@pytest.fixture
def spelling() -> CastlingSpelling:
    return CastlingSpelling.KING_TO_TARGET


@pytest.fixture
def arena(tmp_path: Path, spelling: CastlingSpelling) -> Iterator[Arena]:
    """A fresh server and bot. Afterwards: nothing crashed, nobody is left over, no token was shown."""
    with RehearsalServer(timing=Timing(tick_s=2.0), spelling=spelling) as server:
        arena = Arena(server, tmp_path)
        try:
            yield arena
        finally:
            arena.close()
        assert arena.leftovers() == []
        log = arena.log()
        assert arena.token not in log
        assert "Traceback" not in log
        assert " ERROR " not in log or "refused" in log
