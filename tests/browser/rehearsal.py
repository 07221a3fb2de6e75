"""`rehearse --browser` as a process: the page of the real bot."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lichessbot

PATIENCE_S = 60


@contextmanager
def rehearse(*words: str) -> Iterator[str]:
    """Return the address of the page. Afterwards Ctrl-C has ended it without a complaint."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-u", "-m", "lichessbot", "rehearse", "--browser", "--no-open", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(lichessbot.__file__).parents[1])},
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        found = re.search(r"play at (\S+) ", first)
        assert found is not None, first + process.stdout.read()
        yield found[1]
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, output
    finally:
        process.kill()
        process.communicate()
