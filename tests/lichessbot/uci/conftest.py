"""Engines that are closed at the end of a test."""

import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from lichessbot.inbox import Inbox
from lichessbot.timeouts import Timeouts
from lichessbot.uci.engine import UciEngine
from tests.fakes.rude_engine import QUICK_PYTHON
from tests.lichessbot.uci.helpers import SMALL, TIMEOUTS, Start

READERS_END_S = 30.0


@pytest.fixture
def inbox() -> Inbox:
    return SimpleQueue()


@pytest.fixture
def start(inbox: Inbox, rude_engine: Path) -> Iterator[Start]:
    """Start engines, and close them at the end."""
    engines: list[UciEngine] = []

    def begin(*manner: str, timeouts: Timeouts = TIMEOUTS, failed_starts: int = 0, **changes: Any) -> UciEngine:
        if manner:
            changes["command"] = (*QUICK_PYTHON, str(rude_engine), *manner)
        engines.append(UciEngine("abcd1234", SMALL.model_copy(update=changes), inbox.put, timeouts, failed_starts))
        return engines[-1]

    yield begin
    for engine in engines:
        engine.close()
    # What a reader still logs is not to land in the next test.
    for thread in threading.enumerate():
        if thread.name.startswith("engine-"):
            thread.join(READERS_END_S)
