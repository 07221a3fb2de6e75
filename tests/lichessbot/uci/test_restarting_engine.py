"""The engine of one game, and the search in this process."""

import sys
import time
from pathlib import Path

from engine.facade import Board
from lichessbot.inbox import Inbox
from lichessbot.uci.restarting_engine import RestartingEngine, fallback_move
from lichessbot.uci.search import EngineDied
from tests.lichessbot.uci.helpers import SMALL, TIMEOUTS, gone, heard, pid_of, search


def test_an_engine_is_started_once_and_again_after_its_death(inbox: Inbox, rude_engine: Path) -> None:
    config = SMALL.model_copy(update={"command": (sys.executable, str(rude_engine), "dies")})
    engine = RestartingEngine("abcd1234", inbox.put, TIMEOUTS)
    try:
        first = engine.start(config)
        assert engine.start(config) is first
        engine.search(config, search(1), 100)
        assert isinstance(heard(inbox), EngineDied)
        assert engine.start(config) is not first
    finally:
        engine.close()


def test_another_configuration_starts_another_engine(inbox: Inbox, rude_engine: Path) -> None:
    config = SMALL.model_copy(update={"command": (sys.executable, str(rude_engine), "polite")})
    engine = RestartingEngine("abcd1234", inbox.put, TIMEOUTS)
    try:
        first = engine.start(config)
        assert engine.start(config.model_copy(update={"threads": 2})) is not first
        assert gone(pid_of(first))
    finally:
        engine.close()


def test_an_engine_that_cannot_start_is_reported_as_dead(inbox: Inbox) -> None:
    engine = RestartingEngine("abcd1234", inbox.put, TIMEOUTS)
    engine.search(SMALL.model_copy(update={"command": ("no-such-engine",)}), search(3), 100)
    report = inbox.get_nowait()
    assert isinstance(report, EngineDied)
    assert report.search_id == 3


def test_the_fallback_finds_a_legal_move_within_its_limit() -> None:
    board, took_s = Board(), []
    for _ in range(5):
        began = time.monotonic()
        assert fallback_move(board, 0.05) in board.legal_moves()
        took_s.append(time.monotonic() - began)
    assert min(took_s) < 0.25


def test_the_fallback_mates_when_it_can() -> None:
    assert fallback_move(Board("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"), 0.05) == "a1a8"


def test_the_fallback_has_no_move_where_there_is_none() -> None:
    assert fallback_move(Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), 0.05) is None
