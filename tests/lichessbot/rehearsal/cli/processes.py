"""The `rehearse` command: its arguments, and it and its daemon as processes."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from lichessbot.cli.rehearse import rehearse_command
from lichessbot.rehearsal.cli.options import Options
from tests.patience import PATIENCE_S
from tests.processes import marked


def arguments(*words: str) -> Options:
    return Options(**rehearse_command.make_context("rehearse", list(words)).params)


def rehearsed(*words: str) -> int:
    """Run a rehearsal in this process; return its exit code."""
    code: int = rehearse_command.main(list(words), standalone_mode=False)
    return code


def kill_daemon(mark: str) -> None:
    """Kill the daemon among the processes that carry the mark; the others may end meanwhile."""
    for pid in marked(mark):
        with suppress(FileNotFoundError, ProcessLookupError):
            if b"\0run\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)


def start(processes: list[subprocess.Popen[str]], *words: str) -> subprocess.Popen[str]:
    """Start a rehearsal that heeds SIGHUP: a process inherits that it is ignored, as below nohup, but no handler."""
    before = signal.signal(signal.SIGHUP, lambda *_: None)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-u", "-m", "lichessbot", "rehearse", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    finally:
        signal.signal(signal.SIGHUP, before)
    processes.append(process)
    return process


def interrupt(process: subprocess.Popen[str]) -> str:
    """End the process as Ctrl-C does; what it wrote that was not read yet."""
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=PATIENCE_S)[0]


def read_until(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    seen = []
    for line in process.stdout:
        seen.append(line)
        if match := re.search(pattern, line):
            return match
    raise AssertionError(f"{pattern!r} not in {''.join(seen)!r}")
