"""A server and a bot of its own for every test; a test file may override what its arena needs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.fakes.arena import PATIENCE_S, Arena


@pytest.fixture
def timing() -> Timing:
    """Challenges wait for an answer, which takes its time on a busy machine."""
    return Timing(tick_s=2.0, challenge_expiry_s=PATIENCE_S)


@pytest.fixture
def errors_are_expected() -> bool:
    return False


@pytest.fixture
def arena(tmp_path: Path, timing: Timing, errors_are_expected: bool) -> Iterator[Arena]:
    """A fresh server and bot. Afterwards no process is left over, no token was shown, and nothing crashed."""
    with RehearsalServer(timing=timing) as server:
        arena = Arena(server, tmp_path)
        try:
            yield arena
        finally:
            arena.close()
        assert arena.leftovers() == []
        log = arena.log()
        assert arena.token not in log
        for path in filter(Path.is_file, (tmp_path / "state").glob("*")):
            assert arena.token.encode() not in path.read_bytes()
        if not errors_are_expected:
            assert "Traceback" not in log
            assert [line for line in log.splitlines() if " ERROR " in line and " ERROR refused " not in line] == []
