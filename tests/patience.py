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
