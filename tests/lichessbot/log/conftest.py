"""Logging is as before after each test, and a flush waits until the log is written."""

import logging
from collections.abc import Iterator

import pytest

from lichessbot.log import background


@pytest.fixture(autouse=True)
def _all_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flushing the log waits until all is written, however slow its thread is."""
    monkeypatch.setattr(background, "_PATIENCE_S", 60.0)


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers = root.handlers[:]
    levels = [(log, log.level) for log in map(logging.getLogger, (None, "lichessbot", "berserk", "urllib3"))]
    yield
    root.handlers[:] = handlers
    for log, level in levels:
        log.setLevel(level)


def flush() -> None:
    for handler in logging.getLogger().handlers:
        handler.flush()
