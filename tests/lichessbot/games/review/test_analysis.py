"""The positions of a game, by the real engine."""

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from engine.facade import InvalidMove
from lichessbot.errors import EngineError
from lichessbot.games.review.analysis import analyse, review_engine
from lichessbot.games.review.review import review_of
from lichessbot.storage.evaluations import mate_in
from lichessbot.storage.game_records import MoveRecord
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import SearchInfo
from lichessbot.uci.simple_engine import SimpleEngine
from tests.lichessbot.games.review.games import GAME, MOVES

NODES = 4000


@pytest.fixture
def engine() -> Iterator[SimpleEngine]:
    with closing(review_engine(GAME.id, Timeouts())) as engine:
        yield engine


def test_the_trap_is_found_and_the_same_each_time(engine: SimpleEngine) -> None:
    first = analyse(GAME, MOVES, engine, NODES)
    assert os.getpriority(os.PRIO_PROCESS, engine._engine.process_id) >= 10, "engines that play have 5"
    engine.close()
    again = analyse(GAME, MOVES, engine, NODES)
    assert first.positions == again.positions
    assert (first.nodes, first.engine.split()[0]) == (NODES, "lichessbot-engine")
    assert review_of(GAME, MOVES, first).turning_points[0].written == "5. Nxf7??"
    assert [mate_in(it.score_cp) for it in first.positions[-2:]] == [-1, -1]
    assert [len(it.line.split()) > 1 for it in (first.positions[0], first.positions[-1])] == [True, False]


def test_a_drawn_board_is_even_without_a_search(engine: SimpleEngine) -> None:
    game = replace(GAME, initial_fen="7k/8/6K1/8/8/8/8/5Q2 w - - 0 1")
    start, stalemate = analyse(game, [MoveRecord(1, "f1f7")], engine, NODES).positions
    assert (stalemate.score_cp, stalemate.line) == (0, "")
    assert mate_in(start.score_cp) == 1


def test_an_engine_that_reports_no_evaluation_reviews_no_game() -> None:
    silent = cast(SimpleEngine, SimpleNamespace(search=lambda *_: SearchInfo()))
    with pytest.raises(EngineError, match="it reports no evaluation"):
        analyse(GAME, MOVES[:1], silent, NODES)


def test_the_caller_can_end_it_before_any_position(engine: SimpleEngine) -> None:
    seen: list[int] = []

    def stop() -> None:
        seen.append(1)
        if len(seen) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        analyse(GAME, MOVES, engine, NODES, stop)
    with pytest.raises(InvalidMove):
        analyse(GAME, [MoveRecord(1, "e2e5")], engine, NODES)
