"""Copies of a daemon hear every signal, and end with the tests that started them, however those end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes import forked
from tests.patience import until
from tests.processes import is_alive

ROOT = Path(__file__).parents[2]
TESTS = """\
import os, sys, time
from tests.fakes import forked
with open(os.devnull, "wb") as nowhere:
    print(forked.start(["run", "--config", sys.argv[1]], os.environ, nowhere, nowhere).pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="copies need pidfd_open")
def test_tests_that_are_killed_leave_no_daemon(tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text(f"url: http://127.0.0.1:9\nstate_dir: {tmp_path}/state\n")
    environment = {**os.environ, "LICHESS_BOT_TOKEN": "lip_secret0123456789"}
    words = [sys.executable, "-c", TESTS, str(config)]
    with subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as tests:
        daemon = int(tests.stdout.readline())
        assert is_alive(daemon)
        tests.kill()
    until(lambda: not is_alive(daemon))


def test_a_copy_hears_a_ctrl_c_that_comes_before_it_runs(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        for _ in range(3):      # some would have begun to run
            copy = forked.start(["--version"], os.environ, log, log, "import time; time.sleep(60)")
            copy.send_signal(signal.SIGINT)
            assert copy.wait(30.0) == -signal.SIGINT
