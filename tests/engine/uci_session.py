"""The engine as a process; speaking UCI, also within the process of the tests."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from io import StringIO

from engine.uci import Uci

COMMAND = [sys.executable, "-P", "-m", "engine"]
TIMEOUT_S = 200


def converse(*lines: str) -> list[str]:
    """Return all answers to these lines, after which the input ends; without a process, whose start takes 0.1 s."""
    output = StringIO()
    Uci(output).run(lines)
    return output.getvalue().splitlines()


def converse_with_process(*lines: str) -> list[str]:
    """Return all answers of a process of its own, for what concerns a whole process, such as the weights of a style."""
    answer = subprocess.run(
        COMMAND, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert answer.stderr == ""
    assert answer.returncode == 0
    return answer.stdout.splitlines()


class Session:
    """A running engine, for tests in which time passes between the lines."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def say(self, line: str) -> None:
        self.child.stdin.write(line + "\n")

    def ask(self, line: str, start: str) -> list[str]:
        """Say a line and return the answers up to the first with this start."""
        self.say(line)
        return self.until(start)

    def until(self, start: str) -> list[str]:
        """Return the lines up to and including the first with this start."""
        lines: list[str] = []
        for line in self.child.stdout:
            lines.append(line.strip())
            if lines[-1].startswith(start):
                return lines
        raise AssertionError(f"the engine ended without {start!r}: {lines[-5:]}")

    def until_contains(self, part: str) -> str:
        """Return the first line with this part."""
        return next(line.strip() for line in self.child.stdout if part in line)

    def reset(self) -> None:
        """Let the engine be as after its start, with the defaults that it names itself."""
        self.say("stop")
        self.say("debug off")
        for line in self.ask("uci", "uciok"):
            if option := re.fullmatch(r"option name (.*) type \w+ default (.*?)( (min|var) .*)?", line):
                self.say(f"setoption name {option[1]} value {option[2]}")
        self.say("ucinewgame")
        self.say("position startpos")
        self.ask("isready", "readyok")

    def suspend(self, seconds: float) -> None:
        """Let time pass that costs the engine nothing: its clock goes on, its search does not."""
        self.child.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.child.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self.child.stdin.close()
        self.child.wait(100)
        self.child.stdout.close()
