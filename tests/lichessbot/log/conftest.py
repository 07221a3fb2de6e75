"""How long the tests of the log wait for what it writes."""

import pytest

from lichessbot.log import background


@pytest.fixture(autouse=True)
def _all_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flushing the log waits until all is written, however slow its thread is."""
    monkeypatch.setattr(background, "_PATIENCE_S", 60.0)
