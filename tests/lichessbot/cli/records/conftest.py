"""The time zone of what the commands print."""

from collections.abc import Iterator

import pytest

from tests.time_zone import UTC, in_time_zone


@pytest.fixture(autouse=True)
def _in_utc() -> Iterator[None]:
    """Have days begin at the same moment wherever the tests run."""
    with in_time_zone(UTC):
        yield
