"""Waiting for what other threads and processes do."""

import time
from collections.abc import Callable

PATIENCE_S = 60.0
"""A busy machine may be slow; only a failure waits so long."""


def until(fact: Callable[[], object], why: Callable[[], object] | str = "", patience_s: float = PATIENCE_S) -> None:
    """Wait until this holds; `why`: what to tell if it never does."""
    deadline = time.monotonic() + patience_s
    while not fact():
        assert time.monotonic() < deadline, why if isinstance(why, str) else why()
        time.sleep(0.01)


def is_logged(
    log: Callable[[], str], text: str, times: int | None = None, patience_s: float = PATIENCE_S
) -> bool:
    """Return whether the log says this, this many times if given. It is written a moment after what it tells of."""
    deadline = time.monotonic() + patience_s
    while (count := log().count(text)) < (times or 1) and time.monotonic() < deadline:
        time.sleep(0.02)
    return count == times if times is not None else count > 0
