"""A foreign engine as a child process that speaks UCI, as an opponent for matches.

Knows only what a match needs: options, positions, `go` and the move. Must not know who plays.
An engine has a process group of its own, so that it is killed together with what it has started, as a script does.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise

from engine.nearest import did_you_mean

START_S, ANSWER_S = 60.0, 120.0    # how long an engine may take to start, and to answer beyond its own clock
TIMES = ("movetime", "wtime", "btime")
# Of an option's value: an engine ignores one beyond them, and plays at another strength.
BOUND = re.compile(r"\b(?:min|max) (-?[0-9]+)\b")


class EngineFailed(ValueError):
    """The foreign engine cannot be used; the message says why."""


class UciClient:
    """One running engine."""

    def __init__(self, command: str, options: Mapping[str, str]) -> None:
        """Start the engine and set its options. Raises EngineFailed."""
        path = shutil.which(command)
        if path is None:
            raise EngineFailed(f"{command}: there is no such program")
        self._command = command
        self._unread = b""
        self._child = subprocess.Popen(
            [*_dies_with_us(), path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
        )
        self._end = weakref.finalize(self, _end, self._child)
        try:
            self._begin(options)
        except EngineFailed:
            self.close()
            raise

    def _begin(self, options: Mapping[str, str]) -> None:
        self._say("uci")
        lines = [line.removeprefix("option name ").partition(" type ") for line in self._until("uciok", START_S)]
        known = {name: kind for name, _, kind in lines}
        kinds = {name.lower(): kind for name, kind in known.items()}
        for name, value in options.items():
            if name.lower() not in kinds:
                raise EngineFailed(f"{self._command} has no option {name!r}{did_you_mean(name, known)}")
            bounds = [int(bound) for bound in BOUND.findall(kinds[name.lower()])]
            if bounds and re.fullmatch("-?[0-9]+", value) and not min(bounds) <= int(value) <= max(bounds):
                raise EngineFailed(
                    f"{self._command}: expected {name} from {min(bounds)} to {max(bounds)}, found {value}"
                )
            self._say(f"setoption name {name} value {value}")
        self.new_game()

    def new_game(self) -> None:
        """Start another game. Raises EngineFailed."""
        self._say("ucinewgame")
        self._say("isready")
        self._until("readyok", START_S)

    def go(self, moves: Sequence[str], limits: str) -> str:
        """Return the move after these moves from the start; `limits` follow `go`. Raises EngineFailed."""
        self._say(f"position startpos{' moves ' if moves else ''}{' '.join(moves)}")
        self._say(f"go {limits}")
        words = self._until("bestmove", _longest_think_s(limits) + ANSWER_S)[-1].split()
        if len(words) < 2:
            raise EngineFailed(f"{self._command} said bestmove without a move")
        return words[1]

    def close(self) -> None:
        """End the engine, as the end of this object does."""
        self._end()

    def _say(self, line: str) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(f"{line}\n".encode())
            self._child.stdin.flush()
        except OSError:
            raise EngineFailed(f"{self._command} has ended") from None

    def _until(self, start: str, seconds: float) -> list[str]:
        """Return the lines up to the first with this start, but not those about the search, which may have no end."""
        lines: list[str] = []
        deadline = time.monotonic() + seconds
        while not lines or not lines[-1].startswith(start):
            line = self._line(deadline, start)
            if not line.startswith("info"):
                lines.append(line)
        return lines

    def _line(self, deadline: float, awaited: str) -> str:
        assert self._child.stdout is not None
        while (left_s := deadline - time.monotonic()) > 0:
            line, end, rest = self._unread.partition(b"\n")
            if end:
                self._unread = rest
                return line.decode("utf-8", "replace").strip()
            if select.select([self._child.stdout], [], [], left_s)[0]:
                piece = os.read(self._child.stdout.fileno(), 65536)
                if not piece:
                    raise EngineFailed(f"{self._command} has ended instead of answering {awaited!r}")
                self._unread += piece
        raise EngineFailed(f"{self._command} did not answer {awaited!r} in time")


def _longest_think_s(limits: str) -> float:
    """Return the longest time that the words after `go` name, 0 if they name none."""
    times_ms = (int(value) for name, value in pairwise(limits.split()) if name in TIMES)
    return max(times_ms, default=0) / 1000


@cache
def _dies_with_us() -> Sequence[str]:
    """Return the command that has an engine killed with the thread that started it, if the system has it."""
    setpriv = shutil.which("setpriv")
    command = (setpriv, "--pdeathsig", "KILL") if setpriv else ()
    if command and subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        return ()                      # an implementation without this option
    return command


def _end(child: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):    # macOS refuses signals to dead processes
        os.killpg(child.pid, signal.SIGKILL)
    with suppress(BrokenPipeError):
        child.communicate()
