"""A Chromium for the tests of a file, and a bot with its page.

Not one for all files: while it runs, this thread has a running event loop, which other tests start themselves.
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lichessbot.rehearsal.players.opponents import GreedyOpponent
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.browser import axe, chromium
from tests.browser.playing import HOSTILE, Patient
from tests.fakes.arena import Arena
from tests.fakes.ports import free_port
from tests.lichessbot.rehearsal.browser.scene import Scene

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    reason = chromium.missing()
    if reason is not None:
        pytest.skip(reason)
    with chromium.start() as browser:
        yield browser


@pytest.fixture
def axe_script(request: pytest.FixtureRequest) -> str:
    """Return axe-core; where it cannot be fetched, the test is skipped."""
    cache = getattr(request.config, "cache", None)  # none with `-p no:cacheprovider`
    try:
        return axe.script(request.getfixturevalue("tmp_path") if cache is None else cache.mkdir("axe"))
    except axe.Unreachable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def address() -> str:
    """Return where the page is; a daemon that starts again listens at the same port."""
    return f"127.0.0.1:{free_port()}"


@pytest.fixture(scope="module")
def arena(browser: "Browser", address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A bot that shows its page; without a browser, none is started."""
    folder: Path = tmp_path_factory.mktemp("arena")
    with RehearsalServer(timing=Timing(tick_s=2.0)) as server:
        arena = Arena(server, folder)
        arena.configure(f"status: {{listen: {address}}}\n", depth=6)
        arena.start()
        try:
            yield arena
        finally:
            arena.close()
        assert "Traceback" not in arena.log()


@pytest.fixture
def scene(request: pytest.FixtureRequest, browser: "Browser") -> Iterator[Scene]:
    Patient.may_move = threading.Semaphore(0)
    with RehearsalServer(timing=Timing()) as server:
        scene = Scene(server, HOSTILE, getattr(request, "param", GreedyOpponent))
        yield scene
        try:
            scene.close()
        finally:
            Patient.may_move.release(100)       # no thread waits for ever
