"""The node signature, which changes only with the search or the evaluation."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.bench import DEFAULT_DEPTH
from engine.evaluation.eval_file import HAND_WRITTEN, SHIPPED
from engine.facade import build_mode

EXPECTED = Path(__file__).parent.parent / "data" / "bench.txt"


def expected() -> dict[str, int]:
    """Return the expected totals by value of EvalFile."""
    lines = [line.split() for line in EXPECTED.read_text().splitlines() if not line.startswith("#")]
    return {evaluation: int(total) for evaluation, total in lines}


@pytest.mark.skipif(build_mode() == "plain", reason="minutes as plain Python")
@pytest.mark.parametrize("words", [[], [str(DEFAULT_DEPTH), HAND_WRITTEN]])
def test_bench_visits_the_expected_nodes(words: list[str]) -> None:
    command = [sys.executable, "-P", "-m", "engine", "bench", *words]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    total = expected()[words[-1] if words else SHIPPED]
    assert answer.stdout.splitlines()[-1] == f"Nodes searched: {total}"


@pytest.mark.parametrize(
    ("depth", "problem"),
    [
        ("deep", "expected a whole number from 1 to 30, found 'deep' (see `"),
        ("31", "expected a whole number from 1 to 30, found 31 (see `"),
        ("0", "expected a whole number from 1 to 30, found 0 (see `"),
    ],
)
def test_an_invalid_depth_is_refused_in_one_line(
    depth: str, problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here(monkeypatch, "bench", depth) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"lichessbot-engine bench: Invalid value for '[DEPTH]': {problem}")


def test_an_unknown_command_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here(monkeypatch, "sing") == 2
    assert capsys.readouterr().err.startswith("usage: lichessbot-engine")


def run_here(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run the command in this process, which keeps its own way with exceptions in threads."""
    monkeypatch.setattr("sys.argv", ["lichessbot-engine", *words])
    monkeypatch.setattr("threading.excepthook", threading.excepthook)
    return main()
