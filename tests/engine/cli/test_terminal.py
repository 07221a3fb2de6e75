"""The commands for people, through a pseudo-terminal and through pipes."""

import ctypes
import io
import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

from engine.facade import build_mode
from tests.engine.uci_session import COMMAND, TIMEOUT_S
from tests.patience import until

pytestmark = pytest.mark.skipif(build_mode() == "plain", reason="too slow as plain Python to wait for")
STDOUT = 1                         # the file descriptor
Start = Callable[..., "User"]


class User:
    """A user at a terminal; `output` can be redirected to a file."""

    def __init__(self, *arguments: str, output: Path | None = None, **environment: str) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            if output is not None:
                os.dup2(os.open(output, os.O_WRONLY), STDOUT)
            for number in (signal.SIGINT, signal.SIGHUP):  # ignored where the tests run in the background
                signal.signal(number, signal.SIG_DFL)
            os.environ |= {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "50", **environment}
            os.execv(COMMAND[0], [*COMMAND, *arguments])
        self.seen = ""

    def expect(self, pattern: str) -> str:
        """Wait until the screen shows this, forget what came before, and return it."""
        deadline = time.monotonic() + TIMEOUT_S
        while (found := re.search(pattern, self.seen)) is None:
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"waited for {pattern!r}, saw {self.seen[-2000:]!r}"
            self.seen += self._read()
        shown, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return shown

    def _read(self) -> str:
        piece = os.read(self._terminal, 65536).decode("utf-8", "replace")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", piece)

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def wait(self) -> int:
        """Wait for the end of the program and return its exit code."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            assert time.monotonic() < deadline, "the program does not end"
            if select.select([self._terminal], [], [], 0.05)[0]:
                try:
                    self._read()
                except OSError:        # the other end is closed
                    time.sleep(0.05)

    def hang_up(self) -> None:
        """Close the terminal and wait for the end of the program."""
        os.close(self._terminal)
        self._terminal = os.open(os.devnull, os.O_RDONLY)
        until(lambda: os.waitpid(self.pid, os.WNOHANG)[0], "the program does not end", TIMEOUT_S)

    def close(self) -> None:
        os.close(self._terminal)
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            return


@pytest.fixture
def start() -> Iterator[Start]:
    """Start commands at a terminal each, which are ended after the test."""
    users: list[User] = []

    def start(*arguments: str, **options: Any) -> User:
        users.append(User(*arguments, **options))
        return users[-1]

    yield start
    for user in users:
        user.close()


# --- At a terminal ---------------------------------------------------------------------------------------------------


def test_a_game_against_the_computer_at_a_terminal(start: Start, tmp_path: Path) -> None:
    game = tmp_path / "game.pgn"
    user = start("play", "--depth", "3", "--clock", "59+3")
    user.expect(r"white> ")
    user.type("e2\n")
    assert "•" in user.expect("e2: e3, e4\r\nwhite> ")
    user.type("e4\n")
    user.expect(r"Human: 1\. e4\r\n")
    assert re.search(r" 5\d:\d\d\b", user.expect(r"Engine: 1\.\.\. \S+ \([+-]\d+\.\d\d\)(?s:.*)white> "))
    user.type("hint\n")
    user.expect(r"hint: \S+ \([+-]\d+\.\d\d\)")
    user.type("Qh9\n")
    user.expect("did you mean Qh5")
    user.type(f"save {game}\n")
    user.expect("written to")
    user.type("undo\n")
    user.expect(r"white> ")
    user.type("fen\n")
    user.expect("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    user.type("quit\n")
    assert user.wait() == 0
    saved = chess.pgn.read_game(io.StringIO(game.read_text()))
    assert saved.errors == []
    assert saved.headers["TimeControl"] == "3540+3"
    assert [node.clock() is not None for node in saved.mainline()] == [True, True]


@pytest.mark.parametrize("leave", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
@pytest.mark.parametrize("typed", ["", "e4\n"], ids=["own move", "computer thinks"])
def test_ctrl_c_and_end_of_input_leave_a_game_cleanly(start: Start, leave: str, typed: str) -> None:
    user = start("play", "--seconds", "50")
    user.expect(r"white> ")
    user.type(typed)
    if typed:
        user.expect(r"1\. e4(?s:.*)Human")
    user.type(leave)
    assert user.wait() == 0
    assert "Traceback" not in user.seen


@pytest.mark.parametrize("players", [("--black", "human", "--clock", "9+0"), ("--seconds", "50")], ids=["two", "one"])
def test_a_game_is_saved_when_its_terminal_is_closed(start: Start, tmp_path: Path, players: tuple[str, ...]) -> None:
    path = tmp_path / "game.pgn"
    user = start("play", *players, "--save", str(path))
    user.expect(r"white> ")
    user.type("e4\n")
    user.expect(r"1\. e4\r\n")
    user.hang_up()
    assert "1. e4" in path.read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="sends a signal to one thread")
def test_ctrl_c_works_even_if_it_does_not_interrupt_the_wait(start: Start) -> None:
    """A signal to another thread, like one just before a wait, does not end the wait."""
    user = start("play")
    user.expect(r"white> ")
    threads = {int(entry.name) for entry in Path(f"/proc/{user.pid}/task").iterdir()}
    assert ctypes.CDLL(None).tgkill(user.pid, max(threads - {user.pid}), signal.SIGINT) == 0
    assert user.wait() == 0


@pytest.mark.parametrize(
    ("arguments", "shown"), [(("perft", "--depth", "9"), "perft"), (("compare-search", "--depth", "9"), "searching")]
)
def test_ctrl_c_ends_long_work_behind_its_bar(start: Start, arguments: tuple[str, ...], shown: str) -> None:
    user = start(*arguments)
    for _ in range(4):                 # it has been at work for a while
        user.expect(f"{shown}.*%")
    user.type("\x03")
    assert user.wait() == 130
    assert "Traceback" not in user.seen


def test_now_makes_the_computer_move(start: Start) -> None:
    user = start("play", "--seconds", "500", "--black", "human", "--white", "computer")
    user.expect("Human")
    user.type("Nf6\n")
    user.expect("Nf6 waits for your turn")
    user.type("now\n")
    user.expect(r"Engine: 1\. \S+")
    user.expect(r"Human: 1\.\.\. Nf6")
    user.type("quit\n")
    assert user.wait() == 0


def test_two_humans_get_one_prompt_a_move_and_no_evaluation(start: Start) -> None:
    user = start("play", "--black", "human", "--ascii")
    shown = user.expect("white> ")
    user.type("f3\n")
    shown += user.expect("black> ")
    user.type("e5\n")
    shown += user.expect("white> ")
    user.type("g4\n")
    shown += user.expect("black> ")
    user.type("Qh4\n")
    shown += user.expect(r"black wins\s+> ")
    user.type("quit\n")
    assert user.wait() == 0
    assert (shown.count("white> "), shown.count("black> ")) == (2, 2)
    assert not re.search(r"[+-]\d\.\d\d|M[+-]", shown), "no evaluation between two humans"


def test_the_flag_falls_without_input(start: Start) -> None:
    user = start("play", "--black", "human", "--clock", "0.02")
    user.expect("0-1  white's time is up, black wins")
    user.type("quit\n")
    assert user.wait() == 0


@pytest.mark.parametrize("leave", ["\x03", "\x04", "\n"], ids=["Ctrl-C", "Ctrl-D", "Enter"])
def test_an_analysis_updates_its_table_until_the_user_stops_it(start: Start, leave: str) -> None:
    user = start("analyse", "--lines", "2")
    user.expect("Enter ends the analysis")
    user.expect(r"nodes, (?s:.*)│ +2 │ +[+-]\d+\.\d\d │ +\d+/\d+")
    user.type(leave)
    user.expect(r"best move \S+")
    assert user.wait() == 0


def test_enter_ends_an_analysis_with_redirected_output(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    user = start("analyse", output=log)
    until(lambda: "1. " in log.read_text(), "nothing is analysed", TIMEOUT_S)
    user.type("\n")
    assert user.wait() == 0
    assert "best move" in log.read_text()


def test_a_terminal_without_colours_gets_none(start: Start) -> None:
    user = start("play", "--black", "human", NO_COLOR="1")
    assert "[38;" not in user.expect(r"white> ")
    user.type("e4\n")
    assert "[♙]" in user.expect(r"black> ")
