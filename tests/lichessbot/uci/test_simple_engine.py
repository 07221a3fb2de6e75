"""An engine for a thread that waits for its answers."""

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from engine.facade import Board, Limits
from lichessbot.config import EngineConfig
from lichessbot.errors import EngineError
from lichessbot.timeouts import Timeouts
from lichessbot.uci.simple_engine import SimpleEngine
from tests.fakes.rude_engine import QUICK_PYTHON
from tests.patience import until

SMALL = EngineConfig(hash_mb=1)


@pytest.fixture
def engine() -> Iterator[SimpleEngine]:
    with closing(SimpleEngine("abcd1234", SMALL, Timeouts(), niceness=19)) as engine:
        yield engine


def test_a_search_is_answered_at_the_wanted_priority_also_after_a_close(engine: SimpleEngine) -> None:
    board = Board().after("e2e4")
    for _ in range(2):
        assert engine.search(board, Limits(nodes=2000), 60.0).move in board.legal_moves()
        assert engine.name.startswith("lichessbot-engine")
        assert os.getpriority(os.PRIO_PROCESS, engine._engine.process_id) == 19
        engine.close()


def test_the_same_search_of_a_new_engine_finds_the_same(engine: SimpleEngine) -> None:
    first = engine.search(Board(), Limits(nodes=5000), 60.0)
    engine.close()
    second = engine.search(Board(), Limits(nodes=5000), 60.0)
    assert (first.score, first.pv, first.nodes) == (second.score, second.pv, second.nodes)


def rude(path: Path, manner: str, timeouts: Timeouts) -> SimpleEngine:
    return SimpleEngine("abcd1234", EngineConfig(command=(*QUICK_PYTHON, str(path), manner)), timeouts)


def test_an_engine_that_ends_is_an_error(rude_engine: Path) -> None:
    with (
        closing(rude(rude_engine, "dies", Timeouts())) as engine,
        pytest.raises(EngineError, match="ended by itself"),
    ):
        engine.search(Board(), Limits(nodes=1), 60.0)


def test_an_engine_that_ended_since_the_last_search_is_started_again(rude_engine: Path) -> None:
    with closing(rude(rude_engine, "leaves", Timeouts())) as engine:
        for _ in range(2):
            assert engine.search(Board(), Limits(nodes=1), 60.0).move == "e2e4"
            until(lambda: not engine._reports.empty())  # its end is reported


def test_an_engine_that_never_gets_ready_is_an_error(rude_engine: Path) -> None:
    timeouts = Timeouts(engine_handshake=timedelta(seconds=0.2))
    with closing(rude(rude_engine, "mute", timeouts)) as engine, pytest.raises(EngineError, match="no answer to uci"):
        engine.search(Board(), Limits(nodes=1), 60.0)


def test_an_engine_that_does_not_answer_is_an_error(rude_engine: Path) -> None:
    with closing(rude(rude_engine, "deaf", Timeouts())) as engine:
        none = timedelta()
        engine._timeouts = Timeouts(
            engine_handshake=none, engine_first_move=none, engine_overrun=timedelta(seconds=0.2)
        )
        with pytest.raises(EngineError, match="no answer in 0 s"):
            engine.search(Board(), Limits(nodes=1), 0.0)
