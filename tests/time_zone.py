"""The time zone that a test runs in."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

UTC: Final = "UTC"
FAR_EAST: Final = "FAR-14"
"""14 hours ahead of UTC, so that most moments have another date."""


@contextmanager
def in_time_zone(name: str) -> Iterator[None]:
    """Have this process and those that it starts live in a time zone. `name`: as POSIX writes it in `TZ`."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TZ", name)
            time.tzset()
            yield
    finally:
        time.tzset()
