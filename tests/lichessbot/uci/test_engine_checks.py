"""When games that go on without an engine have the engines checked again."""

from types import SimpleNamespace
from typing import Any

import pytest

from lichessbot.config import Config
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.timeouts import Timeouts
from lichessbot.uci.engine_checks import MOST_MOVES_WITHOUT, EngineChecks
from lichessbot.uci.search import ENGINE, FALLBACK, BestMove
from lichessbot.uci.startup_check import Fault

CONFIG = Config()
SPACING_S = Timeouts().check_spacing.total_seconds()
BEGAN = 1000.0
LATER = BEGAN + SPACING_S


class Check:
    """A check that never ends by itself."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def checks() -> EngineChecks:
    """After a check at the start, which has passed."""
    new: Any = Check
    checks = EngineChecks(new, Timeouts())
    checks.begin(CONFIG, BEGAN)
    checks.passed()
    checks.end()
    return checks


def note(checks: EngineChecks, source: str, game_id: str = "abcd1234", times: int = 1) -> None:
    for _ in range(times):
        checks.note(BestMove(game_id, 1, "e2e4", source=source))


def test_several_moves_in_a_row_without_an_engine_call_for_a_check(checks: EngineChecks) -> None:
    note(checks, FALLBACK, times=MOST_MOVES_WITHOUT)
    assert not checks.is_due(LATER)
    note(checks, FALLBACK)
    assert checks.is_due(LATER)
    checks.begin(CONFIG, LATER)
    checks.end()
    checks.passed()
    assert not checks.is_due(LATER + SPACING_S)
    note(checks, FALLBACK, times=MOST_MOVES_WITHOUT)
    assert not checks.is_due(LATER + SPACING_S), "those before the check no longer count"


def test_an_engine_that_answers_and_a_game_that_ends_are_no_reason(checks: EngineChecks) -> None:
    note(checks, FALLBACK, times=MOST_MOVES_WITHOUT)
    note(checks, ENGINE)
    note(checks, FALLBACK, times=MOST_MOVES_WITHOUT)
    full: Any = SimpleNamespace(id="abcd1234")
    checks.note(FinishedGame(full, Colour.WHITE, GameStatus.MATE, Colour.WHITE, 40, was_watched=True))
    note(checks, FALLBACK, times=MOST_MOVES_WITHOUT)
    note(checks, FALLBACK, "wxyz5678", times=MOST_MOVES_WITHOUT)
    assert not checks.is_due(LATER)


def test_checks_are_repeated_until_one_passes_but_not_all_the_time(checks: EngineChecks) -> None:
    note(checks, FALLBACK, times=MOST_MOVES_WITHOUT + 1)
    assert not checks.is_due(BEGAN + 0.9 * SPACING_S)
    checks.begin(CONFIG, LATER)
    assert not checks.is_due(LATER + SPACING_S), "it still runs"
    checks.end()
    assert not checks.is_due(LATER + 0.9 * SPACING_S)
    assert checks.is_due(LATER + SPACING_S)


def test_a_new_check_ends_the_one_that_runs(checks: EngineChecks) -> None:
    checks.begin(CONFIG, LATER)
    running: Any = checks.running
    checks.begin(CONFIG, LATER)
    assert running.is_closed
    assert checks.running is not running


def test_an_answer_to_a_check_that_was_given_up_is_ignored(checks: EngineChecks) -> None:
    late = BestMove("", 1, "e2e4")
    assert checks.answered(late) is None
    checks.begin(CONFIG, LATER)
    running: Any = checks.running
    running.is_meant = lambda report: report is not late
    assert checks.answered(late) is None
    assert checks.running is running


@pytest.mark.parametrize("faults", [(), (Fault("engine: finds no move"),)])
@pytest.mark.parametrize("over", [False, True])
def test_a_check_ends_with_its_first_fault_or_its_last_engine(
    checks: EngineChecks, faults: tuple[Fault, ...], over: bool
) -> None:
    checks.begin(CONFIG, LATER)
    running: Any = checks.running
    running.is_meant, running.judge, running.over = lambda report: True, lambda report: faults, over
    assert checks.answered(BestMove("", 1, "e2e4")) == (running, faults)
    assert running.is_closed is (checks.running is None) is bool(faults or over)
