"""The terminal's face, driven as people drive it: through a pseudo-terminal, and through pipes."""

import ctypes
import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import chess.pgn
import pytest
from rich.console import Console

from engine.cli.main import run as run_command
from engine.facade import Board, build_mode
from engine.pgn.game import Judgement
from engine.pgn.pgn import parse_games
from engine.progress import progress
from engine.terminal.board_view import BoardView, Theme, captured, draw, white_share
from engine.terminal.chess_clock import (
    ChessClock,
    TimeControl,
    clock_text,
    parse_minutes,
    parse_seconds,
)
from engine.terminal.terminal_game import DRAW, TerminalGame

pytestmark = pytest.mark.skipif(build_mode() == "plain", reason="too slow as plain Python to wait for")

COMMAND = [sys.executable, "-P", "-m", "engine"]
PLAIN = Theme(unicode=True, colour=False)
ASCII = Theme(unicode=False, colour=False)
NAMES = {"white": "W", "black": "B"}
PATIENCE_S = 60
STDOUT = 1                         # the file descriptor


@dataclass
class Answer:
    """What a command said."""

    returncode: int
    stdout: str
    stderr: str


class Run(Protocol):
    def __call__(self, *arguments: str, typed: str = "") -> Answer: ...


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command in this process, with its input in a pipe and its output in no terminal."""

    def answer(*arguments: str, typed: str = "") -> Answer:
        there, here = os.pipe()
        os.write(here, typed.encode())
        os.close(here)
        with os.fdopen(there) as typing, monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", typing)
            code = run_command(arguments)
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return answer


def process(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """A command as users start it, with its input and output in pipes."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [*COMMAND, *arguments], input=typed, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE_S,
        check=False, env=environment,
    )  # fmt: skip


def refusal(answer: Answer) -> str:
    """The one line on standard error of a command that cannot be carried out."""
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    [line] = answer.stderr.splitlines()
    return line


class Person:
    """Somebody at a terminal, where `output` may go to a file all the same."""

    def __init__(self, *arguments: str, output: Path | None = None, **environment: str) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            if output is not None:
                os.dup2(os.open(output, os.O_WRONLY), STDOUT)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where the tests run in the background
            os.environ |= {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "50", **environment}
            os.execv(COMMAND[0], [*COMMAND, *arguments])
        self.seen = ""

    def sees(self, pattern: str) -> str:
        """Wait until the screen has shown this; what came before is forgotten."""
        deadline = time.monotonic() + PATIENCE_S
        while (found := re.search(pattern, self.seen)) is None:
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"waited for {pattern!r}, saw {self.seen[-2000:]!r}"
            self.seen += self._read()
        shown, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return shown

    def _read(self) -> str:
        piece = os.read(self._terminal, 65536).decode("utf-8", "replace")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", piece)

    def types(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def leaves(self) -> int:
        """The exit code, once the program has ended."""
        deadline = time.monotonic() + PATIENCE_S
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

    def close(self) -> None:
        os.close(self._terminal)
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            return


@pytest.fixture
def people() -> Iterator[list[Person]]:
    """Whoever is in the list at the end is sent home."""
    present: list[Person] = []
    yield present
    for person in present:
        person.close()


# --- At a terminal ---------------------------------------------------------------------------------------------------


def test_a_game_against_the_computer_at_a_terminal(people: list[Person], tmp_path: Path) -> None:
    game = tmp_path / "game.pgn"
    people.append(person := Person("play", "--depth", "3", "--clock", "5+3"))
    person.sees(r"white> ")
    person.types("e2\n")
    assert "•" in person.sees("e2: e3, e4\r\nwhite> ")
    person.types("e4\n")
    person.sees(r"Human: 1\. e4\r\n")
    assert "5:0" in person.sees(r"Engine: 1\.\.\. \S+ \([+-]\d+\.\d\d\)(?s:.*)white> ")
    person.types("hint\n")
    person.sees(r"hint: \S+ \([+-]\d+\.\d\d\)")
    person.types("Qh9\n")
    person.sees("did you mean Qh5")
    person.types(f"save {game}\n")
    person.sees("written to")
    person.types("undo\n")
    person.sees(r"white> ")
    person.types("fen\n")
    person.sees("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    person.types("quit\n")
    assert person.leaves() == 0
    saved = chess.pgn.read_game(io.StringIO(game.read_text()))
    assert saved is not None
    assert saved.errors == []
    assert saved.headers["TimeControl"] == "300+3"
    assert [node.clock() is not None for node in saved.mainline()] == [True, True]


@pytest.mark.parametrize("leave", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
@pytest.mark.parametrize("typed", ["", "e4\n"], ids=["own move", "computer thinks"])
def test_ctrl_c_and_end_of_input_leave_a_game_cleanly(people: list[Person], leave: str, typed: str) -> None:
    people.append(person := Person("play", "--seconds", "50"))
    person.sees(r"white> ")
    person.types(typed)
    if typed:
        person.sees(r"1\. e4(?s:.*)Human")
    person.types(leave)
    assert person.leaves() == 0
    assert "Traceback" not in person.seen


@pytest.mark.skipif(sys.platform != "linux", reason="sends a signal to one thread")
def test_ctrl_c_is_heard_also_if_it_does_not_interrupt_the_wait(people: list[Person]) -> None:
    """One that comes just before a wait is like one that another thread gets: nothing ends the wait."""
    people.append(person := Person("play"))
    person.sees(r"white> ")
    threads = {int(entry.name) for entry in Path(f"/proc/{person.pid}/task").iterdir()}
    assert ctypes.CDLL(None).tgkill(person.pid, max(threads - {person.pid}), signal.SIGINT) == 0
    assert person.leaves() == 0


@pytest.mark.parametrize(
    ("arguments", "shown"), [(("perft", "--depth", "9"), "perft"), (("compare-search", "--depth", "9"), "searching")]
)
def test_ctrl_c_ends_long_work_behind_its_bar(people: list[Person], arguments: tuple[str, ...], shown: str) -> None:
    people.append(person := Person(*arguments))
    person.sees(f"{shown}.*%")
    person.types("\x03")
    assert person.leaves() == 130
    assert "Traceback" not in person.seen


def test_now_hurries_the_computer(people: list[Person]) -> None:
    people.append(person := Person("play", "--seconds", "500", "--black", "human", "--white", "computer"))
    person.sees("Human")
    person.types("Nf6\n")
    person.sees("Nf6 waits for your turn")
    person.types("now\n")
    person.sees(r"Engine: 1\. \S+")
    person.sees(r"Human: 1\.\.\. Nf6")
    person.types("quit\n")
    assert person.leaves() == 0


def test_time_that_is_up_ends_the_game_while_nobody_types(people: list[Person]) -> None:
    people.append(person := Person("play", "--black", "human", "--clock", "0.02"))
    person.sees("0-1  white's time is up, black wins")
    person.types("quit\n")
    assert person.leaves() == 0


@pytest.mark.parametrize("leave", ["\x03", "\x04", "\n"], ids=["Ctrl-C", "Ctrl-D", "Enter"])
def test_an_analysis_updates_its_table_until_somebody_has_seen_enough(people: list[Person], leave: str) -> None:
    people.append(person := Person("analyse", "--lines", "2"))
    person.sees(r"nodes, (?s:.*)│ +2 │ +[+-]\d+\.\d\d │ +\d+/\d+")
    person.types(leave)
    person.sees(r"best move \S+")
    assert person.leaves() == 0


def test_enter_ends_an_analysis_whose_output_goes_elsewhere(people: list[Person], tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    people.append(person := Person("analyse", output=log))
    deadline = time.monotonic() + PATIENCE_S
    while "1. " not in log.read_text():
        assert time.monotonic() < deadline, "nothing is analysed"
        time.sleep(0.05)
    person.types("\n")
    assert person.leaves() == 0
    assert "best move" in log.read_text()


def test_a_terminal_without_colours_gets_none(people: list[Person]) -> None:
    people.append(person := Person("play", "--black", "human", NO_COLOR="1"))
    assert "[38;" not in person.sees(r"white> ")
    person.types("e4\n")
    assert "[♙]" in person.sees(r"black> ")


# --- Through pipes ---------------------------------------------------------------------------------------------------


def test_a_command_that_is_none_is_refused_with_the_nearest() -> None:
    answer = process("plya")
    assert answer.returncode == 2
    assert answer.stderr.endswith("did you mean play?\n")


def test_two_people_share_a_keyboard_and_mate_ends_the_game() -> None:
    answer = process("play", "--black", "human", typed="f3\ne5\ng4\nQh4\nQxh4\n")
    assert answer.returncode == 0
    assert answer.stderr == ""
    assert "0-1  checkmate, black wins" in answer.stdout
    assert "the game is over" in answer.stdout
    assert "\x1b" not in answer.stdout
    assert ">" not in answer.stdout


def test_two_computers_play_a_game_to_its_end_without_anybody_there(tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    answer = process("play", "--white", "computer", "--black", "computer", "--depth", "4", "--black-style", "loser",
                 "--fen", "4k3/8/8/8/8/8/4P3/QR2K3 w - - 0 1", "--save", str(path))  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert "1-0  checkmate, white wins" in answer.stdout
    game = chess.pgn.read_game(io.StringIO(path.read_text()))
    assert game is not None
    assert game.headers["Black"] == "Engine (loser)"
    assert game.end().board().is_checkmate()


def test_undo_against_the_computer_goes_back_to_ones_own_move(run: Run) -> None:
    answer = run("play", "--depth", "1", typed="undo\ne4\nundo\nfen\n")
    assert "nothing to take back" in answer.stdout
    # LineTyped while the computer thinks or after it has moved: either way White is to move again.
    assert answer.stdout.rstrip().endswith("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")


def test_moves_typed_early_wait_for_their_turn(run: Run) -> None:
    answer = run("play", "--depth", "1", typed="a3\nh3\nNf3\nfen\n")
    played = re.findall(r"Human: (\d)\. (\S+)", answer.stdout)
    assert played == [("1", "a3"), ("2", "h3"), ("3", "Nf3")]


def test_undo_takes_back_the_end_of_the_game(run: Run) -> None:
    answer = run("play", "--black", "human", typed="f3\ne5\ng4\nQh4\nundo\nQe7\nresign\n")
    assert "0-1  checkmate" in answer.stdout
    assert "Human: 2... Qe7" in answer.stdout
    assert answer.stdout.rstrip().endswith("0-1  white resigns")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("e5", "'e5' is not a legal move here; did you mean e4?"),
        ("O-O", "'O-O' is not a legal move here"),
        ("undi", "unknown command 'undi'; did you mean undo?"),
        ("a1", "a1: no legal move"),
        ("save", "expected a file name"),
        ("save /no/such/folder/x.pgn", "cannot write /no/such/folder/x.pgn: No such file or directory"),
        ("moves", "Na3, Nc3, Nf3, Nh3, a3"),
        ("help", "take back your last move"),
        ("pgn", '[White "Human"]'),
        ("\x00\xff[bold]", "is not a legal move here"),
    ],
)
def test_what_is_typed_is_answered(run: Run, typed: str, said: str) -> None:
    answer = run("play", "--black", "human", typed=typed + "\n")
    assert said in answer.stdout
    assert answer.returncode == 0


def test_an_ambiguous_move_names_the_choices(run: Run) -> None:
    answer = run("play", "--black", "human", "--fen", "4k3/8/8/8/8/1N6/4N3/4K3 w - - 0 1", typed="Nd4\n")
    assert "'Nd4' could be Ned4 or Nbd4" in answer.stdout


@pytest.mark.parametrize(("typed", "san"), [("e1g1", "O-O"), ("O-O", "O-O"), ("0-0-0", "O-O-O"), ("E1C1", "O-O-O")])
def test_moves_are_taken_in_both_notations(run: Run, typed: str, san: str) -> None:
    answer = run("play", "--black", "human", "--fen", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", typed=typed + "\n")
    assert f"Human: 1. {san}\n" in answer.stdout


def test_a_game_is_saved_and_gone_on_with_from_its_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    assert "written to" in run("play", "--black", "human", "--clock", "3+2", typed=f"e4\nc5\nsave {path}\n").stdout
    again = run("play", "--black", "human", "--pgn", str(path), typed=f"Nf3\nsave {path}\nsave! {path}\nquit\n")
    assert "exists already" in again.stdout
    [game] = parse_games(path.read_text())
    assert game.moves == ["e2e4", "c7c5", "g1f3"]
    assert game.headers["TimeControl"] == "180+2"
    assert all(node.clock_s is not None and 150 < node.clock_s <= 184 for node in game.root.mainline())


GAME_WITH_CLOCKS = """\
[White "Carlsen"]
[WhiteElo "2850"]
[Termination "White forfeits on time"]
[TimeControl "300+0"]
[Result "0-1"]

1. e4 {[%clk 0:04:00]} e5 {[%clk 0:00:01]} 2. Nf3 {[%clk 0:03:50]} 0-1
"""


def test_a_computer_minds_the_clock_of_the_game_it_goes_on_with(run: Run, tmp_path: Path) -> None:
    path, saved = tmp_path / "game.pgn", tmp_path / "saved.pgn"
    path.write_text(GAME_WITH_CLOCKS)
    for more in ((), ("--seconds", "9")):
        answer = run("play", "--white", "computer", "--pgn", str(path), "--save", str(saved), *more, typed="d6\n")
        assert "time is up" not in answer.stdout
        [game] = parse_games(saved.read_text())
        assert len(game.moves) == 4
        saved.unlink()
    assert game.headers["White"] == "Engine"
    assert not {"WhiteElo", "Termination"} & game.headers.keys()


def test_a_computer_whose_time_is_short_moves_in_time(run: Run) -> None:
    answer = run("play", "--white", "computer", "--black", "computer", "--clock", "0.02+0", "--seconds", "9",
                 "--fen", "4k3/8/8/8/8/8/4P3/QR2K3 w - - 0 1")  # fmt: skip
    assert "1-0  checkmate, white wins" in answer.stdout


def test_the_clock_that_is_wished_for_comes_before_that_of_the_file(run: Run, tmp_path: Path) -> None:
    path, saved = tmp_path / "game.pgn", tmp_path / "saved.pgn"
    path.write_text(GAME_WITH_CLOCKS)
    run("play", "--black", "human", "--pgn", str(path), "--clock", "10+0", "--save", str(saved), typed="d6\n")
    [game] = parse_games(saved.read_text())
    assert game.headers["TimeControl"] == "600+0"
    assert all(node.clock_s is not None and node.clock_s > 590 for node in game.root.mainline())


def test_analysis_without_a_terminal_is_plain_text(run: Run) -> None:
    answer = run("analyse", "--depth", "4", "--lines", "2", "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1")
    assert "1. Re8#" in answer.stdout
    assert "M+1" in answer.stdout
    assert answer.stdout.rstrip().endswith("best move Re8#")
    assert "\x1b" not in answer.stdout


def test_there_is_nothing_to_analyse_after_mate(run: Run) -> None:
    assert "M-0" in run("analyse", "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3").stdout


def test_perft_counts_leaves_and_shows_no_bar_in_a_pipe(run: Run) -> None:
    answer = run("perft", "--depth", "3")
    assert "Nodes searched: 8902" in answer.stdout
    assert answer.stderr == ""


def test_eval_shows_the_terms_of_the_engine_or_of_a_style(run: Run) -> None:
    assert "king attack" in run("eval").stdout
    styled = run("eval", "--style", "material=1,pawns=-2").stdout
    assert re.search(r"pawns\W+-2\W", styled)
    assert "king attack" not in styled


def test_compare_search_shows_equal_values_side_by_side(run: Run) -> None:
    answer = run("compare-search", "--depth", "2")
    values = re.findall(r"(minimax|negamax|alpha-beta) +│ +(\S+) +│", answer.stdout)
    assert len(values) == 3
    assert len({value for _, value in values}) == 1


def test_nothing_is_compared_after_the_end_of_the_game(run: Run) -> None:
    answer = run("compare-search", "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")
    assert answer.stdout == "the game is over: M-0\n"


def test_the_depth_table_ends_where_a_move_takes_too_long(run: Run) -> None:
    answer = run("depth-table", "--depth", "16", "--seconds", "0.01")
    assert re.search(r"│ +16 │ +- │ +- │", answer.stdout)


def test_the_depth_table_stands_beside_chess_engines(run: Run) -> None:
    answer = run("depth-table", "--depth", "2")
    assert re.search(r"│ +2 │ +\d+\.\d+ │ +\d+\.\d+ │", answer.stdout)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("analyse", "8/8/8/8/8/8/8/8", "w", "-", "-"), "White has 0 kings"),
        (("analyse", "--depth", "0"), "'--depth': 0 is not in the range 1<=x<=100"),
        (("play", "--seconds", "never"), "expected a number from 0.01 to 86400, found 'never'"),
        (("play", "--clock", "soon"), "expected minutes and seconds per move such as 5+3"),
        (("play", "--style", "losar"), "did you mean 'loser'"),
        (("play", "--white-style", "loser"), "white is played by a human"),
        (("play", "--pgn", "nowhere.pgn"), "cannot read nowhere.pgn: No such file or directory"),
        (("play", "--fen", "startpos", "--chess960", "5"), "only one of"),
        (("play", "--chess960", "960"), "960 is not in the range 0<=x<=959"),
        (("eval", "--style", "cca"), "did you mean 'cce'"),
        (("articles", "rudin"), "did you mean rudim?"),
        (("articles", "CCE"), "no article 'CCE'; did you mean cce?"),
        (("play", "--black", "human", "--seconds", "3"), "--seconds is for a computer, but none plays"),
        (("play", "--save", "/nowhere/game.pgn"), "cannot write /nowhere/game.pgn: there is no folder /nowhere"),
        (("play", "--colour", "blue"), "No such option"),
    ],
)
def test_a_users_error_is_one_line(run: Run, arguments: tuple[str, ...], said: str) -> None:
    assert said in refusal(run(*arguments))


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("1. e4 e5 2. Ke3 *", (), "game 1, line 1: 'Ke3' is not a legal move"),
        ("1. e4 *", ("--game", "2"), "has no game number 2"),
        ("", (), "has no game number 1"),
        ('[Variant "Atomic"]\n\n1. e4 *', (), "variant 'Atomic' is not played here"),
    ],
)
def test_a_file_that_cannot_be_gone_on_with_is_named(
    run: Run, tmp_path: Path, text: str, arguments: tuple[str, ...], said: str
) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(text)
    line = refusal(run("play", "--pgn", str(path), *arguments))
    assert said in line
    assert str(path) in line


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"'{sys.executable}' -P -m engine perft --depth 2 | head -1"
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert answer.stderr == ""


# --- Drawing ---------------------------------------------------------------------------------------------------------


def drawn(view: BoardView, theme: Theme = ASCII) -> list[str]:
    return draw(view, theme).plain.splitlines()


def test_the_board_is_drawn_from_either_side() -> None:
    above, below = drawn(BoardView(Board())), drawn(BoardView(Board(), white_below=False))
    assert above[0] == " 8  r  n  b  q  k  b  n  r "
    assert above[7] == " 1  R  N  B  Q  K  B  N  R "
    assert below[0] == " 1  R  N  B  K  Q  B  N  R "
    assert below[8].split() == list("hgfedcba")


def test_the_last_move_and_the_targets_are_marked() -> None:
    board = Board()
    board.push("e2e4")
    assert drawn(BoardView(board))[4] == " 4  .  .  .  . [P] .  .  . "
    assert drawn(BoardView(board))[6] == " 2  P  P  P  P [.] P  P  P "
    assert drawn(BoardView(board, targets={"e7", "e6"}))[1] == " 7  p  p  p  p (p) p  p  p "
    assert drawn(BoardView(board, targets={"e7", "e6"}))[2] == " 6  .  .  .  .  *  .  .  . "


def test_the_evaluation_bar_grows_from_whites_side() -> None:
    for white_below in (True, False):
        for judgement, rows in ((Judgement(0, None), 4), (Judgement(None, 3), 8), (Judgement(-2000, None), 0)):
            lines = drawn(BoardView(Board(), white_below, judgement))[:8]
            white = [line[0] == "#" for line in lines]
            assert sum(white) == rows
            assert white == sorted(white, reverse=not white_below)


def test_whites_share_grows_with_the_evaluation() -> None:
    shares = [white_share(Judgement(score, None)) for score in (-10**9, -300, 0, 300, 10**9)]
    assert shares == sorted(shares)
    assert shares[2] == 0.5
    assert shares[0] == pytest.approx(0)
    assert shares[4] == pytest.approx(1)


def test_captured_men_are_shown_with_who_is_ahead() -> None:
    board = Board()
    for move in ("e2e4", "d7d5", "e4d5", "d8d5", "b1c3", "d5g2", "f1g2"):
        board.push(move)
    assert captured(board, "white", ASCII) == "qp +8"
    assert captured(board, "black", ASCII) == "PP"
    assert captured(board, "white", PLAIN) == "♛♟ +8"


def test_a_pawn_that_was_promoted_is_not_captured() -> None:
    board = Board("7k/P7/8/8/8/8/8/K7 w - - 0 1")
    board.push("a7a8q")
    assert captured(board, "black", ASCII) == ""
    assert captured(board, "white", ASCII) == "+9"


def test_a_console_that_knows_no_unicode_gets_letters() -> None:
    ascii_only = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert Theme.detect(ascii_only) == ASCII
    assert Theme.detect(Console(file=io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))) == PLAIN


def test_a_bar_shows_rate_and_time_left_on_a_terminal_only() -> None:
    for terminal in (True, False):
        screen = io.StringIO()
        console = Console(file=screen, force_terminal=terminal, width=100)
        with progress("counting", 10, "moves", console) as advance:
            for done in range(11):
                advance(done)
                time.sleep(0.02)
        assert ("moves/s" in screen.getvalue()) == terminal
        assert bool(screen.getvalue()) == terminal


# --- Clocks and results ----------------------------------------------------------------------------------------------


class Hand:
    """A time source that a test advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_only_the_movers_clock_runs_and_a_move_gains_the_increment() -> None:
    hand = Hand()
    watch = ChessClock(TimeControl(60, 2), hand)
    hand.now = 5
    assert watch.both_s() == {"white": 60, "black": 60}
    watch.start("white")
    hand.now = 15
    watch.press()
    hand.now = 18
    assert watch.both_s() == {"white": 52, "black": 57}
    watch.stop()
    hand.now = 100
    assert watch.both_s() == {"white": 52, "black": 57}


@pytest.mark.parametrize(
    ("text", "control"),
    [("5+3", TimeControl(300, 3)), ("0.5", TimeControl(30, 0)), ("90+30", TimeControl(5400, 30))],
)
def test_time_controls_are_minutes_and_seconds(text: str, control: TimeControl) -> None:
    assert parse_minutes(text) == control


@pytest.mark.parametrize("text", ["", "0", "-1", "5+", "5+-1", "nan", "inf", "5+3+1", "99999"])
def test_a_time_control_that_is_none_is_refused(run: Run, text: str) -> None:
    if text == "5+":
        assert parse_minutes(text) == TimeControl(300, 0)
        return
    with pytest.raises(ValueError, match="such as"):
        parse_minutes(text)


@pytest.mark.parametrize(("text", "control"), [("300+3", TimeControl(300, 3)), ("60", TimeControl(60, 0)), ("-", None),
                                               ("40/7200:3600", None), ("", None), ("0+1", None)])  # fmt: skip
def test_the_time_control_of_a_pgn_is_in_seconds(text: str, control: TimeControl | None) -> None:
    assert parse_seconds(text) == control


@pytest.mark.parametrize(
    ("seconds", "text"), [(3661, "1:01:01"), (245, "4:05"), (9.38, "0:09.3"), (0, "0:00.0"), (-3, "0:00.0")]
)
def test_a_clock_shows_tenths_at_the_end(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text


def test_taking_back_gives_the_time_back() -> None:
    hand = Hand()
    playing = TerminalGame(Board(), NAMES, ChessClock(TimeControl(60, 0), hand))
    for move in ("e2e4", "e7e5"):
        assert playing.clock is not None
        playing.clock.start(playing.board.turn)
        hand.now += 10
        playing.play(move)
    playing.take_back(1)
    assert playing.clock is not None
    assert playing.clock.both_s() == {"white": 50, "black": 60}
    assert playing.board.moves == ["e2e4"]


def test_time_up_is_a_draw_when_the_other_cannot_mate() -> None:
    hand = Hand()
    watch = ChessClock(TimeControl(60, 0), hand)
    playing = TerminalGame(Board("4k3/8/8/8/8/8/P7/4K3 w - - 0 1"), NAMES, watch)
    watch.start("white")
    hand.now = 59
    playing.check_flag()
    assert playing.end is None
    hand.now = 61
    playing.check_flag()
    assert playing.end is not None
    assert playing.end.result == DRAW


def test_a_threefold_repetition_ends_the_game() -> None:
    playing = TerminalGame(Board(), NAMES)
    for move in ("g1f3", "g8f6", "f3g1", "f6g8") * 2:
        assert playing.end is None
        playing.play(move)
    assert playing.end is not None
    assert playing.end.reason == "draw: threefold repetition"
