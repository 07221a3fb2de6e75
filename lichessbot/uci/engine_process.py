"""The process of a UCI engine: how it is started, how much it may print, and how long it may take.

The child has a process group of its own, so that a Ctrl-C in the terminal does not reach it, a lower priority than the
daemon, and nothing of the token or the service manager in its environment. It does not outlive the daemon: it quits
when its input closes, and where the system supports it, it is killed with the thread that started it.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from weakref import WeakMethod

from lichessbot.config import EngineKeys
from lichessbot.config.credentials import inherited_environment
from lichessbot.errors import EngineError, EngineMissing
from lichessbot.log import EventLog

OUR_ENGINE = (sys.executable, "-P", "-m", "engine")
_WINDOWS_PATH = re.compile(r"\\|(^|/)[A-Za-z]:/")
_NICENESS = 5
# An engine is killed above ten thousand lines or two mebibytes a second.
MAX_OUTPUT_PER_S = 1 << 21
_COST_OF_A_LINE = 200
# Of the error output: it goes to the log, which must not fill the disk.
MAX_LOGGED_PER_S = 100 * _COST_OF_A_LINE
ENDS_WITHIN_S = 0.2
"""How long a process may take to end once its pipes are closed."""
_BETWEEN_LOOKS_S = 0.005
_SHOWN = 140  # characters of each end of a long line to the engine, such as the first and last moves of a game
_MAX_INFOS_PER_S = 20 * _COST_OF_A_LINE  # separately, so that they never crowd out a `bestmove`


def start(config: EngineKeys) -> subprocess.Popen[bytes]:
    """Start the engine. Raises EngineMissing or EngineError."""
    command = config.command or OUR_ENGINE
    if shutil.which(command[0]) is None:
        raise EngineMissing(f"the engine does not start: {_why_not(command[0])}")
    if config.working_dir is not None and not config.working_dir.is_dir():
        raise EngineMissing(f"the engine does not start: working_dir: no folder {config.working_dir}")
    try:
        return subprocess.Popen(
            [*_wrappers(), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if config.silence_stderr else subprocess.PIPE,
            env=inherited_environment(),
            cwd=config.working_dir,
            # Not a session of its own: a kernel that schedules by session would ignore the lower priority.
            process_group=0,
        )
    except OSError as error:
        raise EngineError(f"the engine does not start: {error}") from error


def _why_not(program: str) -> str:
    """Return why there is no such program to run."""
    if os.sep in program and os.path.isdir(program):
        return f"{program} is a folder: name the program in it"
    if os.sep in program and os.path.exists(program):
        return f"{program} may not be run: chmod +x {shlex.quote(program)}"
    hint = ": write its path with /; in WSL, C:/ is /mnt/c/" if _WINDOWS_PATH.search(program) else ""
    return f"no program {program} that may be run{hint}"


@cache
def _wrappers() -> Sequence[str]:
    """Return the programs that lower the engine's priority and kill it when the daemon dies, if they are installed."""
    nice, setpriv = shutil.which("nice"), shutil.which("setpriv")
    lower_priority = (nice, "-n", str(_NICENESS)) if nice else ()
    dies_with_us = (setpriv, "--pdeathsig", "KILL") if setpriv else ()
    if dies_with_us and subprocess.run([*dies_with_us, "true"], capture_output=True).returncode != 0:
        dies_with_us = ()  # an implementation without this option
    return (*lower_priority, *dies_with_us)


class OutputRate:
    """Limits the output of a child process per second."""

    def __init__(self, max_per_s: int) -> None:
        self._max_per_s = max_per_s
        self._since = time.monotonic()
        self._heard = 0

    def allows(self, line: bytes) -> bool:
        now = time.monotonic()
        if now - self._since > 1.0:
            self._since, self._heard = now, 0
        self._heard += len(line) + _COST_OF_A_LINE
        return self._heard <= self._max_per_s


class DialogueLog:
    """Logs what is sent to an engine and received from it, if `engine.debug` asks for it.

    An `info` line without a variation or a text only reports progress, and is left out.
    """

    def __init__(self, *, is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self._infos, self._others = OutputRate(_MAX_INFOS_PER_S), OutputRate(MAX_LOGGED_PER_S)

    def sent(self, lines: Sequence[str], log: EventLog) -> None:
        if self._is_wanted:
            for line in lines:
                shown = line if len(line) <= 2 * _SHOWN else f"{line[:_SHOWN]} ... {line[-_SHOWN:]}"
                log.info("engine.sent", line=shown)

    def received(self, line: bytes, log: EventLog) -> None:
        """Log the line, unless the engine has printed too many within a second."""
        if not self._is_wanted or not (words := line.split()):
            return
        is_info = words[0] == b"info"
        if is_info and b"pv" not in words and words[1:2] != [b"string"]:
            return
        if (self._infos if is_info else self._others).allows(line):
            log.info("engine.received", line=line.decode("utf-8", "replace").rstrip())


class Alarm:
    """Calls methods of an engine at the moments planned for them.

    Its thread is started beforehand: to start one takes long while engines think, and our clock runs. It refers weakly
    to the engine: in a reference cycle the pipes would stay open until a garbage collection.
    """

    def __init__(self, name: str) -> None:
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._changed = threading.Condition()
        self._due_at: dict[WeakMethod[Callable[[], None]], float] = {}
        self._is_over = False

    def start(self) -> None:
        """Start the thread. Raises RuntimeError if none or no memory is left."""
        self._thread.start()

    def plan(self, seconds: float, call: Callable[[], None]) -> None:
        """Call the method after this time, or when that is planned already, unless it is cancelled."""
        method, due_at = WeakMethod(call), time.monotonic() + seconds
        with self._changed:
            self._due_at[method] = min(due_at, self._due_at.get(method, due_at))
            self._changed.notify()

    def cancel(self, call: Callable[[], None]) -> None:
        """Do not call the method, if that is planned."""
        with self._changed:
            self._due_at.pop(WeakMethod(call), None)

    def end(self) -> None:
        """End the thread."""
        with self._changed:
            self._is_over = True
            self._changed.notify()

    def _run(self) -> None:
        while (method := self._next()) is not None:
            _call_if_alive(method)

    def _next(self) -> WeakMethod[Callable[[], None]] | None:
        """Wait until a call is due and return it; None at the end."""
        with self._changed:
            while not self._is_over:
                now = time.monotonic()
                for method, due_at in self._due_at.items():
                    if due_at <= now:
                        del self._due_at[method]
                        return method
                next_at = min(self._due_at.values(), default=None)
                self._changed.wait(None if next_at is None else next_at - now)
        return None


def _call_if_alive(method: WeakMethod[Callable[[], None]]) -> None:
    if (call := method()) is not None:
        call()


ENDED = "ended by itself"
"""How the reason begins if nobody killed the engine."""


def end_of_output(process: subprocess.Popen[bytes]) -> str:
    """Return why a process writes no more: it has ended, or does within a moment, or it closed its output and lives on.

    It is not waited for, so that its id is not used again.
    """
    if sys.platform == "darwin":  # without `waitid`
        return ENDED
    until = time.monotonic() + ENDS_WITHIN_S
    with suppress(ChildProcessError):  # another thread has waited for it
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() >= until:
                return "closed its output"
            time.sleep(_BETWEEN_LOOKS_S)
    return ENDED


def ending(code: int) -> str:
    """Return how a process with this exit status ended. If memory is short, the kernel sends SIGKILL."""
    names = {it.value: it.name for it in signal.Signals}
    text = f"exit status {code}" if code >= 0 else f"killed by {names.get(-code, f'signal {-code}')}"
    return f"{text} ({_CANNOT_RUN[code]})" if code in _CANNOT_RUN else text


_CANNOT_RUN = {
    126: "not permitted, or no program for this machine",
    127: "no program for this machine, or its interpreter or a library is missing",
    -signal.SIGILL: "built for another processor",
}
NEVER_RUNS = tuple(map(ending, _CANNOT_RUN))
"""How a program ends that this machine cannot run."""
