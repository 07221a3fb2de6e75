"""Options of the whole suite."""

import faulthandler
import gc
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Generator
from contextlib import suppress
from importlib import import_module
from logging.handlers import BufferingHandler
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.tables import NoTables, find_tables

# How long an example takes, or to make it, says more about the machine than about us.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# No test may fail by chance: each run has the same examples. `--hypothesis-profile patient` looks for others.
settings.register_profile("same", settings.get_profile("patient"), derandomize=True)
settings.load_profile("same")

# What these say of the terminal or the log of the tests is no business of the programs they start.
OF_THE_TERMINAL = ("COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
# The servers of the tests, to which no proxy leads. pip, which some tests run, may need the proxy of the environment.
WITHOUT_PROXY = "127.0.0.1,localhost"
# In characters; in place of a longer one, as macOS has, tests use /tmp: their sockets lie 80 characters deeper, and an
# address of a socket has at most 103.
LONGEST_TEMPORARY_FOLDER = 20
# What the event loops of embedded Lichesses could not handle during a test.
_server_errors = BufferingHandler(sys.maxsize)
_server_errors.setLevel(logging.ERROR)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--suite",
        action="append",
        default=[],
        metavar="PATH",
        help="an EPD file of positions with leaf counts, for `pytest -m long tests/engine -k named_suites`; repeatable",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare what the processes that the tests start inherit.

    A shell that runs the tests in the background makes them ignore Ctrl-C, and so would all that they start. Hundreds
    of processes share bytecode. It stands beside the sources, as a folder of its own would lack that of the libraries.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if len(tempfile.gettempdir()) > LONGEST_TEMPORARY_FOLDER:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/tmp")
    if getattr(config, "cache", None) is not None:      # none with `-p no:cacheprovider`
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let the workers of pytest-xdist share the compilation of all files, which takes each of them 1 s on a new clone.

    Each imports all test files, but begins at another one; what it has not come to yet, it finds beside the sources.
    """
    gc.disable()
    for name in ("asyncio", "uvicorn.error"):
        logging.getLogger(name).addHandler(_server_errors)
    for name in OF_THE_TERMINAL:
        os.environ.pop(name, None)
    os.environ["TERM"] = "xterm-256color"
    others = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = f"{others},{WITHOUT_PROXY}" if others else WITHOUT_PROXY
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.option.file_or_dir:
        return
    folder = Path(__file__).parent
    files = sorted(folder.rglob("test_*.py"))
    first = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in files[first:] + files[:first]:
        with suppress(Exception, pytest.skip.Exception):  # the collection tells of them
            import_module(".".join(file.relative_to(folder.parent).with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without looking for garbage, and never look for it among them: all that is loaded stays."""
    result = yield
    gc.freeze()
    gc.enable()
    return result


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that wait for real clocks come before those of the engine, which fill what is left of the processors.

    First come those that boot systemd: one of them takes a minute, which nobody is to wait for at the end.
    """
    folder = Path(__file__).parent
    engine, systemd = folder / "engine", folder / "systemd"
    files = {item.path for item in items}
    order = {file: (engine in file.parents, systemd not in file.parents) for file in files}
    items.sort(key=lambda item: order[item.path])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A long test is not stuck because it takes minutes, and writing down what threads do may crash Python."""
    _server_errors.buffer.clear()
    if item.get_closest_marker("long"):
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """Fail a test whose embedded Lichess could not handle a request: its event loop only logs that."""
    errors = "\n".join(map(_server_errors.format, _server_errors.buffer))
    result = yield
    assert not errors, errors
    return result


@pytest.fixture
def server_errors() -> BufferingHandler:
    """The errors of embedded Lichesses so far, for tests to forget which mean them."""
    return _server_errors


@pytest.fixture(scope="session")
def tables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Syzygy files of all endings of three and four pieces."""
    cache = getattr(request.config, "cache", None)  # none with `-p no:cacheprovider`
    try:
        return find_tables(tmp_path_factory.mktemp("syzygy") if cache is None else cache.mkdir("syzygy"))
    except NoTables as reason:
        pytest.skip(str(reason))
