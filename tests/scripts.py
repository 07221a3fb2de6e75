"""Programs that tests write and start."""

import os
import subprocess
import sys
from pathlib import Path


def script(path: Path, text: str) -> str:
    """Write an executable script and return its path."""
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def silly(folder: Path, answer: str, pause_s: float = 0) -> str:
    """Return the command of a UCI engine that has one answer to every `go`."""
    return script(
        folder / "silly",
        "#!/bin/sh\nwhile read line; do case $line in\nuci) echo uciok;; isready) echo readyok;; quit) exit;;\n"
        f"go*) sleep {pause_s}; echo {answer!r};;\nesac; done\n",
    )


def run_python(program: str, *arguments: str, typed: str = "", **environment: str) -> str:
    """Run a Python program in a process with these variables besides ours, and return what it prints."""
    answer = subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments], input=typed, env={**os.environ, **environment},
        capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip
    assert (answer.returncode, answer.stderr) == (0, "")
    return answer.stdout
