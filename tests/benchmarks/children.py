"""UCI programs, our engine among them, as child processes: their answers, time and memory. Linux only.

Processor time and memory are those of the whole process, including threads that have ended.
"""

import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from tests.processes import resident_kib

PLACES = os.pathsep.join((os.environ.get("PATH", ""), "/usr/games"))      # Debian keeps its engines in /usr/games
PATIENCE_S = 60                    # longest silence of a program that owes an answer
PIPE_BYTES = 65536
NODES = re.compile(r"\bnodes (\d+)")
DEPTH = re.compile(r"\bdepth (\d+) .*\bscore\b")


class ChildFailed(RuntimeError):
    """The program ended, or kept silent for too long, while an answer was due."""


@dataclass(frozen=True)
class Program:
    """A UCI program: how it is started and set up."""

    name: str
    command: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    threads_option: str = "Threads"

    def found(self) -> bool:
        return shutil.which(self.command[0], path=PLACES) is not None


ENGINE = Program("engine", (sys.executable, "-P", "-m", "engine"))
STOCKFISH = Program("stockfish", ("stockfish",))
ETHEREAL = Program("ethereal", ("ethereal-chess",))
TOGA = Program("toga", ("toga2",), {"OwnBook": "false"}, "Number of Threads")


def installed(*programs: Program) -> list[Program]:
    """Return the programs that this machine has, and print which it lacks."""
    for program in programs:
        if not program.found():
            print(f"{program.name}: no {program.command[0]} on this machine, skipped")
    return [program for program in programs if program.found()]


@dataclass(frozen=True)
class Searched:
    """The cost of a search; `depth` and `nodes` are those of the last report."""

    depth: int
    nodes: int
    wall_s: float
    processor_s: float


class Child:
    """A UCI program that runs, set up and ready for commands, during its `with` block."""

    def __init__(self, program: Program, options: Mapping[str, str] | None = None) -> None:
        """Start the program; its own options are set, then `options`. Raises OSError if there is no such program."""
        self.name = program.name
        self._options = {**program.options, **(options or {})}
        path = shutil.which(program.command[0], path=PLACES) or program.command[0]
        command = [path, *program.command[1:]]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
            start_new_session=True,        # Ctrl-C is for us alone
        )  # fmt: skip
        self._unread = b""

    def __enter__(self) -> Self:
        try:
            self.ask("uci", "uciok")
            for name, value in self._options.items():
                self.say(f"setoption name {name} value {value}")
            self.ask("isready", "readyok")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def say(self, command: str) -> None:
        """Send a command. Raises ChildFailed."""
        try:
            self._process.stdin.write(command.encode() + b"\n")
        except BrokenPipeError as error:
            raise ChildFailed(f"{self.name} has gone away") from error

    def ask(self, command: str, last: str) -> list[str]:
        """Send a command; return the lines up to the first that begins with `last`. Raises ChildFailed."""
        self.say(command)
        lines = [self._line()]
        while not lines[-1].startswith(last):
            lines.append(self._line())
        return lines

    def _line(self) -> str:
        while b"\n" not in self._unread:
            if not select.select([self._process.stdout], [], [], PATIENCE_S)[0]:
                raise ChildFailed(f"{self.name} has been silent for {PATIENCE_S} s")
            piece = os.read(self._process.stdout.fileno(), PIPE_BYTES)
            if not piece:
                raise ChildFailed(f"{self.name} has gone away")
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode().rstrip()

    def new_game(self) -> None:
        """Clear the table and wait until that is done."""
        self.say("ucinewgame")
        self.ask("isready", "readyok")

    def search(self, fen: str, limit: str) -> Searched:
        """Search a position with this limit, such as "depth 10"."""
        self.say(f"position fen {fen}")
        self.ask("isready", "readyok")
        processor_s = self.processor_s()
        started = time.perf_counter()
        lines = self.ask(f"go {limit}", "bestmove")
        wall_s = time.perf_counter() - started
        return Searched(_last(DEPTH, lines), _last(NODES, lines), wall_s, self.processor_s() - processor_s)

    def processor_s(self) -> float:
        return processor_s(self._process.pid)

    def resident_kib(self) -> int:
        """Return its resident memory."""
        found = resident_kib(self._process.pid)
        assert found is not None
        return found


def processor_s(pid: int) -> float:
    """Return the processor time that all threads of a process have used so far."""
    return time.clock_gettime(~pid << 3 | 2)       # the clock of clock_getcpuclockid(3)


def _last(pattern: re.Pattern[str], lines: list[str]) -> int:
    """Return the number that the pattern finds in the last line that has one, 0 if none has."""
    return next((int(found[1]) for line in reversed(lines) if (found := pattern.search(line))), 0)


BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


@contextmanager
def busy_processes(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run this many processes that compute without pause during the block. They end with this process."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()
