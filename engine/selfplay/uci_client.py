"""A foreign engine as a child process that speaks UCI, as an opponent for matches.

Knows only what a match needs: options, positions, `go` and the move. Must not know who plays.
"""

import os
import select
import shutil
import subprocess
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from itertools import pairwise

START_S, ANSWER_S = 60.0, 120.0    # how long an engine may take to start, and to answer beyond its own clock
TIMES = ("movetime", "wtime", "btime")


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
        self._child = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._end = weakref.finalize(self, _end, self._child)
        try:
            self._begin(options)
        except EngineFailed:
            self.close()
            raise

    def _begin(self, options: Mapping[str, str]) -> None:
        self._say("uci")
        known = [line.split(" type ")[0].removeprefix("option name ") for line in self._until("uciok", START_S)]
        for name, value in options.items():
            if name.lower() not in map(str.lower, known):
                close = get_close_matches(name, known, 1)
                hint = f"; did you mean {close[0]}?" if close else ""
                raise EngineFailed(f"{self._command} has no option {name!r}{hint}")
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
        """Return the lines up to the first with this start."""
        lines: list[str] = []
        deadline = time.monotonic() + seconds
        while not lines or not lines[-1].startswith(start):
            lines.append(self._line(deadline, start))
        return lines

    def _line(self, deadline: float, awaited: str) -> str:
        assert self._child.stdout is not None
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self._child.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise EngineFailed(f"{self._command} did not answer {awaited!r} in time")
            piece = os.read(self._child.stdout.fileno(), 65536)
            if not piece:
                raise EngineFailed(f"{self._command} has ended instead of answering {awaited!r}")
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode("utf-8", "replace").strip()


def _longest_think_s(limits: str) -> float:
    """Return the longest time that the words after `go` name, 0 if they name none."""
    times_ms = (int(value) for name, value in pairwise(limits.split()) if name in TIMES)
    return max(times_ms, default=0) / 1000


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    with suppress(BrokenPipeError):
        child.communicate()
