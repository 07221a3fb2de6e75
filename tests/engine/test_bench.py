"""The node signature: whoever changes it has changed the search or the evaluation."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.facade import build_mode

EXPECTED = Path(__file__).parent.parent / "data" / "bench.txt"


@pytest.mark.skipif(build_mode() == "plain", reason="minutes as plain Python")
def test_bench_visits_the_expected_nodes() -> None:
    command = [sys.executable, "-P", "-m", "engine", "bench"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert answer.stdout.splitlines()[-1] == f"Nodes searched: {EXPECTED.read_text().strip()}"


def test_arguments_that_make_no_sense_are_refused() -> None:
    command = [sys.executable, "-P", "-m", "engine", "sing"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert answer.returncode == 2
    assert answer.stderr.startswith("usage: lichessbot-engine")
