"""The `rehearse` command as a process, and what it starts."""

import os
import re
import subprocess
import sys
from pathlib import Path


def marked_processes(mark: str) -> list[int]:
    """Processes that carry the mark, this one excepted."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if mark.encode() in environment and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def start(processes: list[subprocess.Popen[str]], *words: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-u", "-m", "lichessbot", "rehearse", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    processes.append(process)
    return process


def read_until(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if match := re.search(pattern, line):
            return match
    raise AssertionError(f"{pattern!r} not in {''.join(seen)!r}")
