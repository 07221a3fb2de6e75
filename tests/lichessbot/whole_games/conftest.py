"""A server and a bot of its own for every test; a test file may override what its arena needs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.fakes.arena import PATIENCE_S, Arena, inspected


@pytest.fixture
def timing() -> Timing:
    """Challenges wait for an answer, which takes its time on a busy machine."""
    return Timing(tick_s=2.0, challenge_expiry_s=PATIENCE_S)


@pytest.fixture
def errors_are_expected() -> bool:
    return False


@pytest.fixture
def bugs_are_expected() -> bool:
    return False


@pytest.fixture
def arena(
    tmp_path: Path, timing: Timing, errors_are_expected: bool, bugs_are_expected: bool
) -> Iterator[Arena]:
    """A fresh server and bot."""
    with RehearsalServer(timing=timing) as server:
        arena = Arena(server, tmp_path)
        with inspected(arena, errors_are_expected=errors_are_expected, bugs_are_expected=bugs_are_expected):
            yield arena
