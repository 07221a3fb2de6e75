"""Helpers for the tests of engines."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from engine.facade import STARTING_FEN, Limits
from lichessbot.config import Config, EngineConfig
from lichessbot.inbox import Inbox, Report
from lichessbot.timeouts import Timeouts
from lichessbot.uci.engine import UciEngine
from lichessbot.uci.search import BestMove, EngineDied, EngineReady, Search
from tests.patience import PATIENCE_S
from tests.processes import is_alive

TIMEOUTS = Timeouts(engine_handshake=timedelta(seconds=60), engine_stop=timedelta(seconds=60))
SMALL = EngineConfig(hash_mb=1)
Start = Callable[..., UciEngine]


def config(*profiles: tuple[dict[str, Any], dict[str, Any]], **sections: Any) -> Config:
    """Return a configuration with these profiles: the conditions and keys of each."""
    written = [{"when": when, "engine": engine} for when, engine in profiles]
    return Config.model_validate({"profiles": written, **sections})


def search(search_id: int = 1, *moves: str, fen: str = STARTING_FEN, chess960: bool = False, **limits: int) -> Search:
    return Search(search_id, fen, chess960, moves, Limits(**(limits or {"depth": 3})))


def heard(inbox: Inbox, patience_s: float = PATIENCE_S) -> Report:
    """Return the next report that is not EngineReady. Raises Empty."""
    until_s = time.monotonic() + patience_s
    while isinstance(report := inbox.get(timeout=max(0.0, until_s - time.monotonic())), EngineReady):
        pass
    return report


def best_move(inbox: Inbox) -> BestMove:
    """Return the next report, which is the answer to a search."""
    report = heard(inbox)
    assert isinstance(report, BestMove)
    return report


def death(inbox: Inbox) -> EngineDied:
    """Return the next report, which is the end of an engine."""
    report = heard(inbox)
    assert isinstance(report, EngineDied)
    return report


def pid_of(engine: UciEngine) -> int:
    return engine._process.pid


def gone(pid: int) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_alive(pid)


def heard_by(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the lines that an echoing engine received."""
    marks = (record.getMessage().partition("engine.stderr game=abcd1234 line=")[2] for record in caplog.records)
    return [mark.strip('"') for mark in marks if mark]


def supposing(search_id: int, *moves: str, **limits: int) -> Search:
    """Return a ponder search."""
    asked = search(search_id, *moves, **limits)
    return replace(asked, limits=asked.limits._replace(ponder=True))
