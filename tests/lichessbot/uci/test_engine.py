"""The process of an engine: our engine, and one that misbehaves."""

import gc
import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import Empty

import pytest

from engine.facade import STARTING_FEN, Board, chess960_fen
from lichessbot.config import EngineConfig
from lichessbot.config.credentials import TOKEN_VARIABLE
from lichessbot.errors import EngineError
from lichessbot.inbox import Inbox
from lichessbot.uci.engine import UciEngine
from lichessbot.uci.engine_process import Alarm, ending
from lichessbot.uci.search import BestMove, EngineDied, EngineReady
from tests.lichessbot.uci.helpers import (
    SMALL,
    TIMEOUTS,
    Start,
    best_move,
    death,
    gone,
    heard,
    pid_of,
    search,
)
from tests.patience import PATIENCE_S, until
from tests.processes import is_alive

LEAST_PRIORITY = 19


def test_an_engine_killed_just_before_it_is_told_to_quit_reports_nothing_more(start: Start, inbox: Inbox) -> None:
    engine = start()
    with engine._lock:
        engine.kill("hung")
        engine.quit()
    engine.join()
    assert all(isinstance(inbox.get(), EngineReady) for _ in range(inbox.qsize()))


def test_a_closed_engine_is_freed_without_garbage_collection(inbox: Inbox) -> None:
    gc.disable()
    try:
        engine = UciEngine("abcd1234", SMALL, inbox.put, TIMEOUTS)
        engine.search(search())
        best_move(inbox)
        engine.close()
        reference = weakref.ref(engine)
        del engine
        until(lambda: reference() is None, "what it holds, pipes among it, is kept until the collector comes by")
    finally:
        gc.enable()


def test_our_engine_answers_with_a_legal_move_and_a_summary(start: Start, inbox: Inbox) -> None:
    start().search(search(7, "e2e4", "e7e5"))
    answer = best_move(inbox)
    assert answer.search_id == 7
    board = Board().after("e2e4", "e7e5")
    assert answer.move in board.legal_moves()
    assert answer.summary.depth == 3
    assert answer.summary.nodes > 0
    assert answer.summary.nps > 0
    assert answer.summary.score.startswith("cp ")
    assert answer.summary.pv.split()[0] == answer.move
    assert [it.depth for it in answer.iterations] == [1, 2, 3]
    assert answer.iterations[-1] == answer.summary


def test_our_engine_chooses_among_the_moves_it_is_given(start: Start, inbox: Inbox) -> None:
    engine = start()
    engine.search(replace(search(1), root_moves=("a2a3", "h2h3")))
    answer = best_move(inbox)
    assert answer.move in ("a2a3", "h2h3")


def test_our_engine_reports_several_lines_only_when_asked(start: Start, inbox: Inbox) -> None:
    engine = start()
    for number, lines in enumerate((1, 3, 1, 3)):
        engine.search(replace(search(number), multipv=lines))
        answer = best_move(inbox)
        if lines == 1:
            assert answer.lines == ()
            continue
        assert len({line.move for line in answer.lines}) == 3
        assert [line.depth for line in answer.lines] == [3, 3, 3]
        assert answer.move == answer.lines[0].move
        assert answer.summary == answer.lines[0]
        scores = [line.cp for line in answer.lines]
        assert None not in scores
        assert scores == sorted(scores, key=lambda score: -(score or 0))


def test_our_engine_plays_chess960_and_standard_in_turn(start: Start, inbox: Inbox) -> None:
    engine = start()
    fen = chess960_fen(1)
    for number, (position, chess960) in enumerate([(STARTING_FEN, False), (fen, True), (STARTING_FEN, False)]):
        engine.search(search(number, fen=position, chess960=chess960))
        answer = best_move(inbox)
        assert answer.search_id == number
        assert answer.move in Board(position, chess960=chess960).legal_moves()


def test_a_chess960_castling_move_is_understood_by_our_engine(start: Start, inbox: Inbox) -> None:
    moves = ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "e1h1")
    start().search(search(1, *moves, chess960=True))
    best_move(inbox)


def test_our_engine_keeps_to_its_clock(start: Start, inbox: Inbox) -> None:
    engine = start()
    engine.search(search(0))
    heard(inbox)
    began = time.monotonic()
    engine.search(search(1, white_time_ms=10_000, black_time_ms=10_000, white_increment_ms=0, black_increment_ms=0))
    best_move(inbox)
    assert time.monotonic() - began < 10.0


def test_stop_brings_the_best_move_so_far(start: Start, inbox: Inbox) -> None:
    engine = start("slow", "d2d4")
    engine.search(search(3))
    with pytest.raises(Empty):
        heard(inbox, 0.5)
    engine.stop()
    answer = best_move(inbox)
    assert (answer.search_id, answer.move, answer.summary.score) == (3, "d2d4", "mate 2")


def test_a_search_stopped_before_the_engine_was_ready_is_stopped_once_it_has_begun(start: Start, inbox: Inbox) -> None:
    engine = start("slow", "d2d4")
    engine.search(search(3))
    engine.stop()
    answer = best_move(inbox)
    assert (answer.search_id, answer.move) == (3, "d2d4")


def test_a_new_search_replaces_the_one_under_way(start: Start, inbox: Inbox) -> None:
    engine = start("slow", "d2d4")
    with engine._lock:  # it cannot begin the second before the third is asked for
        engine.search(search(1))
        engine.search(search(2))
        engine.search(search(3))
    answers: list[int] = []
    deadline = time.monotonic() + PATIENCE_S
    while 3 not in answers and time.monotonic() < deadline:
        engine.stop()  # without effect until the engine is ready and searches
        with suppress(Empty):
            report = heard(inbox, 0.05)
            assert isinstance(report, BestMove)
            answers.append(report.search_id)
    assert answers in ([1, 3], [3]), "each answer belongs to the search it was for"


@pytest.mark.parametrize("no_move", ["(none)", "0000"])
def test_a_missing_move_and_a_missing_reply_are_reported_as_none(start: Start, inbox: Inbox, no_move: str) -> None:
    start("polite", no_move, "").search(search(1))
    answer = best_move(inbox)
    assert (answer.move, answer.ponder) == (None, None)


@pytest.mark.parametrize(("written", "read"), [("e7e8Q", "e7e8q"), ("E2E4", "e2e4"), ("N@f3", "N@f3")])
def test_moves_in_capitals_are_read(start: Start, inbox: Inbox, written: str, read: str) -> None:
    start("polite", written, written).search(search(1))
    answer = best_move(inbox)
    assert (answer.move, answer.ponder) == (read, read)


def test_nonsense_from_the_engine_is_ignored(start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture) -> None:
    engine = start("noisy", "e2e4")
    engine.search(replace(search(1), multipv=2))
    answer = best_move(inbox)
    assert (answer.move, answer.summary.depth) == ("e2e4", 5)
    assert answer.lines == (answer.summary,), "but not the lines that nobody asked for"
    assert (engine.name, engine.complaints) == ("rude", ())
    assert not engine._alarm._due_at, "it is introduced only once"
    until(lambda: "something is odd" in caplog.text, "the error output goes to the log")


def test_an_engine_that_was_killed_names_the_signal() -> None:
    assert (ending(7), ending(-9), ending(-99)) == ("exit status 7", "killed by SIGKILL", "killed by signal 99")


def test_the_death_of_an_engine_names_its_search(start: Start, inbox: Inbox) -> None:
    engine = start("dies")
    engine.search(search(5))
    report = death(inbox)
    assert report.search_id == 5
    assert "exit status 7" in report.reason
    assert not engine.alive
    engine.search(search(6))
    engine.stop()


def test_an_engine_that_ended_before_its_first_search_is_reported_with_it(inbox: Inbox) -> None:
    with closing(UciEngine("abcd1234", EngineConfig(command=("false",)), inbox.put, TIMEOUTS)) as engine:
        assert heard(inbox) == EngineDied("abcd1234", None, "ended by itself, exit status 1")
        engine.search(search(7))
        assert heard(inbox) == EngineDied("abcd1234", 7, "ended by itself, exit status 1")


def test_each_failed_start_doubles_the_patience_with_the_next(start: Start, inbox: Inbox) -> None:
    began = time.monotonic()
    engine = start("mute", timeouts=replace(TIMEOUTS, engine_handshake=timedelta(seconds=0.5)), failed_starts=2)
    assert min(engine._alarm._due_at.values()) >= began + 2.0
    death(inbox)
    assert time.monotonic() - began >= 2.0
    assert not engine.ready


def test_an_engine_that_ignores_stop_is_killed_by_the_search_after_the_next(start: Start, inbox: Inbox) -> None:
    engine = start("deaf", timeouts=replace(TIMEOUTS, engine_stop=timedelta(seconds=0.2)))
    engine.search(search(1))
    assert isinstance(inbox.get(timeout=PATIENCE_S), EngineReady)
    engine.search(search(2, "e2e4"))
    time.sleep(0.3)
    engine.stop()  # told once more, it has no more time
    engine.search(search(3, "e2e4", "e7e5"))
    report = death(inbox)
    assert report.search_id == 3, "what was asked last is what is missing"
    assert "does not stop" in report.reason


def test_a_mute_engine_is_killed_when_the_handshake_takes_too_long(start: Start, inbox: Inbox) -> None:
    engine = start("mute", timeouts=replace(TIMEOUTS, engine_handshake=timedelta(seconds=0.5)))
    engine.search(search(1))
    report = death(inbox)
    assert report.search_id == 1
    assert "no answer to uci in time" in report.reason
    assert gone(pid_of(engine))


def test_an_engine_may_take_longer_to_get_ready_as_some_load_a_network_for_it(
    start: Start, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[float] = []
    monkeypatch.setattr(Alarm, "plan", lambda alarm, seconds, call: planned.append(seconds))
    patience = {"engine_handshake": timedelta(seconds=61), "engine_first_move": timedelta(seconds=42)}
    start("polite", timeouts=replace(TIMEOUTS, **patience))
    assert isinstance(inbox.get(timeout=PATIENCE_S), EngineReady)
    assert planned == [61, 61 + 42]


def test_an_engine_that_never_gets_ready_is_killed(start: Start, inbox: Inbox) -> None:
    engine = start("unready", timeouts=replace(TIMEOUTS, engine_first_move=timedelta(seconds=-59.5)))
    engine.search(search(1))
    report = death(inbox)
    assert "no answer to isready in time" in report.reason


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("/nowhere/engine", "no program /nowhere/engine that may be run"),
        ("no-such-engine", "no program no-such-engine that may be run"),
        ("bin\\fish.exe", "no program bin\\\\fish.exe that may be run: write its path with /; in WSL, C:/ is /mnt/c/"),
        ("C:/fish.exe", "no program .*/C:/fish.exe that may be run: write its path with /; in WSL, C:/ is /mnt/c/"),
        (__file__, f"{__file__} may not be run: chmod \\+x {__file__}"),
        ("/usr/bin", "/usr/bin is a folder: name the program in it"),
    ],
)
def test_an_engine_that_does_not_exist_or_may_not_run_is_an_error(inbox: Inbox, command: str, problem: str) -> None:
    with pytest.raises(EngineError, match=f"the engine does not start: {problem}$"):
        UciEngine("abcd1234", EngineConfig(command=(command,)), inbox.put, TIMEOUTS)


def test_an_engine_that_this_machine_cannot_run_says_why(inbox: Inbox, tmp_path: Path) -> None:
    program = tmp_path / "engine"
    program.write_text("#!/no-such-interpreter\n")
    program.chmod(0o755)
    with closing(UciEngine("abcd1234", EngineConfig(command=(str(program),)), inbox.put, TIMEOUTS)):
        report = death(inbox)
    assert report.reason.endswith("(no program for this machine, or its interpreter or a library is missing)")


def test_a_working_folder_that_does_not_exist_is_an_error(inbox: Inbox, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="the engine does not start"):
        UciEngine("abcd1234", EngineConfig(working_dir=tmp_path / "nowhere"), inbox.put, TIMEOUTS)


@pytest.mark.parametrize("manner", ["polite", "deaf", "clinging", "slow"])
def test_close_kills_at_once_and_reports_nothing(start: Start, inbox: Inbox, manner: str) -> None:
    engine = start(manner, "e2e4")
    engine.search(search(1))
    readers = [thread for thread in threading.enumerate() if thread.name == "engine-abcd1234"]
    began = time.monotonic()
    engine.close()
    assert time.monotonic() - began < 60.0
    assert gone(pid_of(engine))
    assert readers
    for reader in readers:
        reader.join(PATIENCE_S)
        assert not reader.is_alive()
    while not inbox.empty():
        assert isinstance(inbox.get(), EngineReady | BestMove)


@pytest.mark.skipif(sys.platform == "darwin", reason="there it is said to have ended")
def test_an_engine_that_closes_its_output_and_lives_on_is_killed(start: Start, inbox: Inbox) -> None:
    engine = start("shut")
    engine.search(search(1))
    assert death(inbox) == EngineDied("abcd1234", 1, "closed its output, killed by SIGKILL")
    assert gone(pid_of(engine))


@pytest.mark.parametrize(
    ("manner", "ending"), [("unhearing", "killed by SIGKILL"), ("survived", "exit status 0")]
)
def test_an_engine_that_hears_nothing_more_is_killed(start: Start, inbox: Inbox, manner: str, ending: str) -> None:
    engine = start(manner)
    engine.search(search(1))
    assert best_move(inbox).move == "e2e4"
    numbers = itertools.count(2)
    until(lambda: engine.search(search(next(numbers))) or not engine.alive)
    assert death(inbox).reason == f"closed its input, {ending}"


def test_children_of_the_engine_die_with_it(start: Start, tmp_path: Path) -> None:
    engine = start("clinging", "e2e4")
    children = Path(f"/proc/{pid_of(engine)}/task/{pid_of(engine)}/children")
    until(children.read_text)
    found = children.read_text().split()
    engine.close()
    assert all(gone(int(pid)) for pid in found)


@pytest.mark.parametrize(
    ("manner", "reason"), [("babbling", "too much output"), ("scolding", "too much error output")]
)
@pytest.mark.filterwarnings("ignore")
def test_an_engine_with_endless_output_is_killed(
    start: Start, inbox: Inbox, monkeypatch: pytest.MonkeyPatch, manner: str, reason: str
) -> None:
    monkeypatch.setattr("lichessbot.uci.engine.MAX_OUTPUT_PER_S", 1 << 15)     # which the busiest machine reads
    engine = start(manner)
    engine.search(search(1))
    report = death(inbox)
    assert report.search_id == 1
    assert report.reason.startswith(reason)
    assert gone(pid_of(engine))


def test_an_engine_that_does_not_read_its_input_does_not_block(start: Start, inbox: Inbox) -> None:
    engine = start("clogged")
    engine.ready = True  # it never says so, and nothing would be written to it
    began = time.monotonic()
    number = 0
    while engine.alive and number < 10_000:
        number += 1
        engine.search(search(number, *["e2e4"] * 100))
        engine._running = None
    assert time.monotonic() - began < 60.0
    report = death(inbox)
    assert report.reason.startswith("does not read its input")


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux")
def test_a_hung_engine_dies_with_a_daemon_that_was_killed(rude_engine: Path) -> None:
    daemon = f"""
import sys, time
from queue import SimpleQueue
from lichessbot.config import EngineConfig
from lichessbot.uci.engine import UciEngine
from lichessbot.timeouts import Timeouts
command = (sys.executable, {str(rude_engine)!r}, "clogged")
engine = UciEngine("abcd1234", EngineConfig(command=command), SimpleQueue().put, Timeouts())
print(engine._process.pid, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", daemon], stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        command_line = Path(f"/proc/{pid}/cmdline")
        became_it = f"{sys.executable}\0".encode()
        until(lambda: command_line.read_bytes().startswith(became_it), "nice and setpriv have become the engine")
        os.kill(pid, signal.SIGSTOP)  # it could not even notice the end of its input
        assert is_alive(pid)
        process.kill()
    assert gone(pid)


def test_the_overhead_is_set_before_its_search(start: Start, inbox: Inbox) -> None:
    engine = start()
    limits = {"white_time_ms": 10_000, "black_time_ms": 10_000}
    engine.search(search(1, **limits))
    unhurried = best_move(inbox)
    hurried_s = []
    for number in range(2, 6):      # a busy machine may delay some of them
        engine.search(search(number, **limits), overhead_ms=9_990)
        hurried = best_move(inbox)
        hurried_s.append(hurried.took_s)
    assert min(hurried_s) < unhurried.took_s / 2, "hardly anything is left to think with"


def test_the_time_the_engine_took_is_measured(start: Start, inbox: Inbox) -> None:
    engine = start()
    began = time.monotonic()
    engine.search(search(1, move_time_ms=500))
    answer = best_move(inbox)
    assert 0.2 < answer.took_s < time.monotonic() - began


def test_the_engine_has_its_own_group_in_our_session_a_low_priority_and_no_token(
    start: Start, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "lip_secret")
    monkeypatch.setenv("NOTIFY_SOCKET", "@manager")
    engine = start("polite", "e2e4")
    engine.search(search(1))
    heard(inbox)
    pid = pid_of(engine)
    assert os.getpgid(pid) == pid != os.getpgid(0)
    assert os.getsid(pid) == os.getsid(0)
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert ours < os.getpriority(os.PRIO_PROCESS, pid) or ours == LEAST_PRIORITY
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"PATH=" in environment
    assert b"lip_secret" not in environment
    assert b"@manager" not in environment


def test_our_engine_ends_with_its_input_even_while_thinking(start: Start, inbox: Inbox) -> None:
    engine = start()
    engine.search(search(1))
    heard(inbox)
    engine.search(search(2, move_time_ms=60_000))
    engine._process.stdin.close()
    assert gone(pid_of(engine))
