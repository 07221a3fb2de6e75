"""An error that nobody can catch still fails the test in which it happens, whoever swallows it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

LOST = {
    "a compiled function that cannot raise": """
from engine.search.time_manager import TimeManager
from engine.facade import Board
from engine.search.history import History
from engine.search.search import Search
from engine.search.transposition import TranspositionTable

def test_the_listener_fails():
    def fail(move, number):
        raise ValueError("lost")
    search = Search(Board().position, TranspositionTable(1), History(), TimeManager())
    search.report_root_moves(fail, 0)
    search.run(1)
""",
    "a destructor": """
def test_the_destructor_fails():
    class Careless:
        def __del__(self):
            raise ValueError("lost")
    Careless()
""",
    "a thread": """
from threading import Thread

def test_the_thread_fails():
    def fail():
        raise ValueError("lost")
    thread = Thread(target=fail)
    thread.start()
    thread.join()
""",
}


@pytest.mark.parametrize("who", LOST)
def test_a_swallowed_error_fails_the_test(who: str, tmp_path: Path) -> None:
    program = tmp_path / "test_lost.py"
    program.write_text(LOST[who])
    options = ["-q", "-n", "0", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(program)],
        capture_output=True, text=True, timeout=100, check=False,
    )
    assert answer.returncode == pytest.ExitCode.TESTS_FAILED, answer.stdout
    assert "1 failed" in answer.stdout
    assert "ValueError: lost" in answer.stdout
