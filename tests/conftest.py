"""Options of the whole suite."""

import os
from pathlib import Path

import pytest

from tests.tables import NoTables, find_tables


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--suite",
        action="append",
        default=[],
        metavar="PATH",
        help="an EPD file of positions with leaf counts, for `pytest -m long tests/engine/test_perft.py`; repeatable",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Hundreds of processes are started: they share bytecode also where none may be written beside the sources."""
    assert config.cache is not None
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.cache.mkdir("bytecode"))


@pytest.fixture(scope="session")
def tables(request: pytest.FixtureRequest) -> Path:
    """A folder with Syzygy files of all endings of three and four men."""
    assert request.config.cache is not None
    try:
        return find_tables(request.config.cache.mkdir("syzygy"))
    except NoTables as reason:
        pytest.skip(str(reason))
