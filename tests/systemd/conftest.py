"""An installation for each test."""

from pathlib import Path

import pytest

from tests.systemd.installation import Installation, program


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """In a folder whose name has spaces."""
    return Installation(program(tmp_path / "of the bot" / "x", "").parent / "root")
