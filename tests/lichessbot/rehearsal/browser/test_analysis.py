"""The analysis after a game, by the real engine."""

import asyncio

import pytest

from engine.accuracy import Judgement, Score
from engine.facade import Board, Ending
from lichessbot.rehearsal.browser.analysis import Analysis, Position, mistakes
from tests.patience import PATIENCE_S

FOOLS_MATE = ["f2f3", "e7e5", "g2g4", "d8h4"]


async def finished(moves: list[str], start: Board | None = None) -> Analysis:
    changed = asyncio.Event()
    analysis = Analysis(start or Board(), moves, changed.set)
    async with asyncio.timeout(PATIENCE_S):
        while not analysis.is_over:
            assert analysis.fault is None
            await changed.wait()
            changed.clear()
    analysis.cancel()
    return analysis


def test_the_fools_mate_is_judged_and_the_same_each_time() -> None:
    first, second = (asyncio.run(finished(FOOLS_MATE)) for _ in range(2))
    assert first.positions == second.positions
    assert first.positions[3].score == Score(mate=-1)
    assert first.positions[3].best == "d8h4"
    assert first.positions[4] == Position(Score(mate=-1), None, Ending.CHECKMATE)
    blunder = first.mistakes()[-1]
    assert (blunder.ply, blunder.judgement) == (3, Judgement.BLUNDER)


def test_a_game_from_a_position_begins_there() -> None:
    start = Board("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", chess960=True)
    analysis = asyncio.run(finished(["a1a8"], start))
    assert [it.score for it in analysis.positions] == [Score(mate=1), Score(mate=1)]
    assert analysis.mistakes() == []


def test_the_engines_own_move_is_no_mistake() -> None:
    played = ["e2e4", "e7e5"]
    positions = [Position(Score(0), "e2e4"), Position(Score(-300), "c7c5"), Position(Score(500), "g1f3")]
    found = mistakes(Board(), played, positions)
    assert [(it.ply, it.better_san) for it in found] == [(2, "c5")]


def test_a_cancelled_analysis_reports_nothing_and_leaves_no_engine() -> None:
    async def cancel_soon() -> tuple[Analysis, int]:
        reports: list[int] = []
        analysis = Analysis(Board(), ["e2e4", "e7e5"], lambda: reports.append(1))
        analysis.cancel()
        before = len(reports)
        await asyncio.sleep(0.3)
        return analysis, len(reports) - before

    analysis, reports = asyncio.run(cancel_soon())
    assert reports == 0
    assert analysis._engine.poll() is not None
    assert not analysis._thread.is_alive()


def test_an_engine_that_dies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lichessbot.rehearsal.browser.analysis._COMMAND", ("true",))

    async def fault() -> str | None:
        changed = asyncio.Event()
        analysis = Analysis(Board(), FOOLS_MATE, changed.set)
        async with asyncio.timeout(PATIENCE_S):
            await changed.wait()
        analysis.cancel()
        return analysis.fault

    assert asyncio.run(fault())
