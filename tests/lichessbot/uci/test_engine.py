"""Real processes: our engine, and one with bad manners."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import pytest

from engine.facade import STARTING_FEN, Board, Limits, chess960_fen
from lichessbot.config import EngineConfig
from lichessbot.config.credentials import TOKEN_VARIABLE
from lichessbot.errors import EngineError
from lichessbot.inbox import Inbox, Report
from lichessbot.timeouts import Timeouts
from lichessbot.uci.engine import UciEngine
from lichessbot.uci.restarting_engine import fallback_move
from lichessbot.uci.search import BestMove, EngineDied, EngineReady, Search

PATIENCE_S = 20.0
TIMEOUTS = Timeouts()
SMALL = EngineConfig(hash_mb=1)
Start = Callable[..., UciEngine]


@pytest.fixture
def inbox() -> Inbox:
    return SimpleQueue()


@pytest.fixture
def start(inbox: Inbox, rude_engine: Path) -> Iterator[Start]:
    """Starts a rude engine; every one is closed at the end."""
    engines: list[UciEngine] = []

    def begin(*manner: str, timeouts: Timeouts = TIMEOUTS, failed_starts: int = 0, **changes: Any) -> UciEngine:
        if manner:
            changes["command"] = (sys.executable, str(rude_engine), *manner)
        engines.append(UciEngine("abcd1234", SMALL.model_copy(update=changes), inbox.put, timeouts, failed_starts))
        return engines[-1]

    yield begin
    for engine in engines:
        engine.close()


def search(search_id: int = 1, *moves: str, fen: str = STARTING_FEN, chess960: bool = False, **limits: int) -> Search:
    return Search(search_id, fen, chess960, moves, Limits(**(limits or {"depth": 3})))


def heard(inbox: Inbox, patience_s: float = PATIENCE_S) -> Report:
    """The next report but that the engine is ready. Raises Empty."""
    until_s = time.monotonic() + patience_s
    while isinstance(report := inbox.get(timeout=max(0.0, until_s - time.monotonic())), EngineReady):
        pass
    return report


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def pid_of(engine: UciEngine) -> int:
    return engine._process.pid


def gone(pid: int) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_alive(pid)


def test_closed_it_is_gone_without_the_collector(inbox: Inbox) -> None:
    gc.disable()
    try:
        engine = UciEngine("abcd1234", SMALL, inbox.put, TIMEOUTS)
        engine.search(search())
        assert isinstance(heard(inbox), BestMove)
        engine.close()
        reference = weakref.ref(engine)
        del engine
        deadline = time.monotonic() + PATIENCE_S
        while reference() is not None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert reference() is None, "what it holds, pipes among it, is kept until the collector comes by"
    finally:
        gc.enable()


def test_our_engine_answers_with_a_legal_move_and_a_summary(start: Start, inbox: Inbox) -> None:
    start().search(search(7, "e2e4", "e7e5"))
    answer = heard(inbox)
    assert isinstance(answer, BestMove)
    assert answer.search_id == 7
    board = Board()
    board.push("e2e4")
    board.push("e7e5")
    assert answer.move in board.legal_moves()
    assert answer.summary.depth == 3
    assert answer.summary.nodes > 0
    assert answer.summary.score.startswith("cp ")
    assert answer.summary.pv.split()[0] == answer.move


def test_our_engine_chooses_among_the_moves_it_is_given(start: Start, inbox: Inbox) -> None:
    engine = start()
    engine.search(replace(search(1), only=("a2a3", "h2h3")))
    answer = heard(inbox)
    assert isinstance(answer, BestMove)
    assert answer.move in ("a2a3", "h2h3")


def test_our_engine_tells_of_several_lines_only_when_asked(start: Start, inbox: Inbox) -> None:
    engine = start()
    for number, lines in enumerate((1, 3, 1, 3)):
        engine.search(replace(search(number), lines=lines))
        answer = heard(inbox)
        assert isinstance(answer, BestMove)
        if lines == 1:
            assert answer.lines == ()
            continue
        assert len({line.move for line in answer.lines}) == 3
        assert [line.depth for line in answer.lines] == [3, 3, 3]
        assert answer.move == answer.lines[0].move
        assert answer.summary == answer.lines[0]
        scores = [line.centipawns for line in answer.lines]
        assert None not in scores
        assert scores == sorted(scores, key=lambda score: -(score or 0))


def test_our_engine_plays_chess960_and_standard_in_turn(start: Start, inbox: Inbox) -> None:
    engine = start()
    fen = chess960_fen(1)
    for number, (position, chess960) in enumerate([(STARTING_FEN, False), (fen, True), (STARTING_FEN, False)]):
        engine.search(search(number, fen=position, chess960=chess960))
        answer = heard(inbox)
        assert isinstance(answer, BestMove)
        assert answer.search_id == number
        assert answer.move in Board(position, chess960=chess960).legal_moves()


def test_a_chess960_castling_move_is_understood_by_our_engine(start: Start, inbox: Inbox) -> None:
    moves = ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "e1h1")
    start().search(search(1, *moves, chess960=True))
    assert isinstance(heard(inbox), BestMove)


def test_our_engine_keeps_to_its_clock(start: Start, inbox: Inbox) -> None:
    engine = start()
    engine.search(search(0))
    heard(inbox)
    began = time.monotonic()
    engine.search(search(1, white_time_ms=3000, black_time_ms=3000, white_increment_ms=0, black_increment_ms=0))
    assert isinstance(heard(inbox), BestMove)
    assert time.monotonic() - began < 3.0


def test_stop_brings_the_best_move_so_far(start: Start, inbox: Inbox) -> None:
    engine = start("slow", "d2d4")
    engine.search(search(3))
    with pytest.raises(Empty):
        heard(inbox, 0.5)
    engine.stop()
    answer = heard(inbox)
    assert isinstance(answer, BestMove)
    assert (answer.search_id, answer.move, answer.summary.score) == (3, "d2d4", "mate 2")


def test_a_search_stopped_before_the_engine_was_ready_is_stopped_once_it_has_begun(start: Start, inbox: Inbox) -> None:
    engine = start("slow", "d2d4")
    engine.search(search(3))
    engine.stop()
    answer = heard(inbox)
    assert isinstance(answer, BestMove)
    assert (answer.search_id, answer.move) == (3, "d2d4")


def test_a_new_search_replaces_the_one_under_way(start: Start, inbox: Inbox) -> None:
    engine = start("slow", "d2d4")
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


def test_a_search_may_be_asked_before_the_engine_is_ready(start: Start, inbox: Inbox) -> None:
    start("polite", "c2c4").search(search(1))
    answer = heard(inbox)
    assert isinstance(answer, BestMove)
    assert answer.move == "c2c4"


def test_no_move_is_no_move(start: Start, inbox: Inbox) -> None:
    start("polite", "(none)").search(search(1))
    answer = heard(inbox)
    assert isinstance(answer, BestMove)
    assert answer.move is None


def test_nonsense_from_the_engine_is_survived(start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture) -> None:
    start("noisy", "e2e4").search(search(1))
    answer = heard(inbox)
    assert isinstance(answer, BestMove)
    assert (answer.move, answer.summary.depth) == ("e2e4", 5)
    deadline = time.monotonic() + PATIENCE_S
    while "something is odd" not in caplog.text:
        assert time.monotonic() < deadline, "the error output goes to the log"
        time.sleep(0.01)


def test_the_death_of_the_engine_names_the_search_it_took_along(start: Start, inbox: Inbox) -> None:
    engine = start("dies")
    engine.search(search(5))
    report = heard(inbox)
    assert isinstance(report, EngineDied)
    assert report.search_id == 5
    assert "exit status 7" in report.reason
    assert not engine.alive
    engine.search(search(6))
    engine.stop()


def test_each_failed_start_doubles_the_patience_with_the_next(start: Start, inbox: Inbox) -> None:
    began = time.monotonic()
    engine = start("mute", timeouts=replace(TIMEOUTS, engine_handshake=timedelta(seconds=0.2)), failed_starts=2)
    assert isinstance(heard(inbox), EngineDied)
    assert 0.8 <= time.monotonic() - began < 2.0
    assert not engine.ready


def test_an_engine_that_ignores_stop_is_killed_by_the_search_after_the_next(start: Start, inbox: Inbox) -> None:
    engine = start("deaf", timeouts=replace(TIMEOUTS, engine_stop=timedelta(seconds=0.2)))
    engine.search(search(1))
    assert isinstance(inbox.get(timeout=PATIENCE_S), EngineReady)
    engine.search(search(2, "e2e4"))
    time.sleep(0.3)
    engine.search(search(3, "e2e4", "e7e5"))
    report = heard(inbox)
    assert isinstance(report, EngineDied)
    assert report.search_id == 3, "what was asked last is what is missing"
    assert "does not stop" in report.reason


def test_a_mute_engine_is_killed_when_the_handshake_takes_too_long(start: Start, inbox: Inbox) -> None:
    engine = start("mute", timeouts=replace(TIMEOUTS, engine_handshake=timedelta(seconds=0.5)))
    engine.search(search(1))
    report = heard(inbox)
    assert isinstance(report, EngineDied)
    assert report.search_id == 1
    assert "no answer to uci in time" in report.reason
    assert gone(pid_of(engine))


@pytest.mark.parametrize("command", ["/nowhere/engine", "no-such-engine", __file__])
def test_an_engine_that_does_not_exist_or_may_not_run_is_an_error(inbox: Inbox, command: str) -> None:
    with pytest.raises(EngineError, match=f"the engine does not start: no program {command} that may be run"):
        UciEngine("abcd1234", EngineConfig(command=(command,)), inbox.put, TIMEOUTS)


def test_a_working_folder_that_does_not_exist_is_an_error(inbox: Inbox, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="the engine does not start"):
        UciEngine("abcd1234", EngineConfig(working_dir=tmp_path / "nowhere"), inbox.put, TIMEOUTS)


@pytest.mark.parametrize("manner", ["polite", "deaf", "clinging", "slow"])
def test_closing_kills_at_once_and_in_silence(start: Start, inbox: Inbox, manner: str) -> None:
    engine = start(manner, "e2e4")
    engine.search(search(1))
    began = time.monotonic()
    engine.close()
    assert time.monotonic() - began < 2.0
    assert gone(pid_of(engine))
    time.sleep(0.1)
    while not inbox.empty():
        assert isinstance(inbox.get(), EngineReady | BestMove)


def test_what_the_engine_started_dies_with_it(start: Start, tmp_path: Path) -> None:
    engine = start("clinging", "e2e4")
    deadline = time.monotonic() + PATIENCE_S
    children = Path(f"/proc/{pid_of(engine)}/task/{pid_of(engine)}/children")
    while not (found := children.read_text().split()) and time.monotonic() < deadline:
        time.sleep(0.01)
    engine.close()
    assert found
    assert all(gone(int(pid)) for pid in found)


@pytest.mark.parametrize(
    ("manner", "reason"), [("babbling", "too much output"), ("scolding", "too much error output")]
)
@pytest.mark.filterwarnings("ignore")
def test_an_engine_that_talks_without_end_is_killed(start: Start, inbox: Inbox, manner: str, reason: str) -> None:
    engine = start(manner)
    engine.search(search(1))
    report = heard(inbox)
    assert isinstance(report, EngineDied)
    assert report.search_id == 1
    assert report.reason.startswith(reason)
    assert gone(pid_of(engine))


def test_an_engine_that_does_not_read_its_input_blocks_nobody(start: Start, inbox: Inbox) -> None:
    engine = start("clogged")
    engine._ready = True  # it never says so, and nothing would be written to it
    began = time.monotonic()
    number = 0
    while engine.alive and number < 10_000:
        number += 1
        engine.search(search(number, *["e2e4"] * 100))
        engine._running = None
    assert time.monotonic() - began < 5.0
    report = heard(inbox)
    assert isinstance(report, EngineDied)
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
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        time.sleep(0.5)
        os.kill(pid, signal.SIGSTOP)  # it could not even notice the end of its input
        assert is_alive(pid)
        process.kill()
    assert gone(pid)


def test_the_overhead_is_told_before_the_search_it_is_for(start: Start, inbox: Inbox) -> None:
    engine = start()
    limits = {"white_time_ms": 1000, "black_time_ms": 1000}
    engine.search(search(1, **limits))
    assert isinstance(heard(inbox), BestMove)
    began = time.monotonic()
    engine.search(search(2, **limits), overhead_ms=990)
    assert isinstance(heard(inbox), BestMove)
    assert time.monotonic() - began < 0.5, "hardly anything is left to think with"


def test_the_time_the_engine_took_is_measured(start: Start, inbox: Inbox) -> None:
    engine = start()
    engine.search(search(1, move_time_ms=500))
    answer = heard(inbox)
    assert isinstance(answer, BestMove)
    assert 0.2 < answer.took_s < 1.0


def test_the_engine_has_its_own_group_in_our_session_a_low_priority_and_no_token(
    start: Start, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "lip_secret")
    engine = start("polite", "e2e4")
    engine.search(search(1))
    heard(inbox)
    pid = pid_of(engine)
    assert os.getpgid(pid) == pid != os.getpgid(0)
    assert os.getsid(pid) == os.getsid(0)
    assert os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, 0)
    assert b"lip_secret" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_our_engine_ends_with_its_input_even_while_thinking(start: Start, inbox: Inbox) -> None:
    engine = start()
    engine.search(search(1))
    heard(inbox)
    engine.search(search(2, move_time_ms=60_000))
    assert engine._process.stdin is not None
    engine._process.stdin.close()
    assert gone(pid_of(engine))


def test_the_fallback_finds_a_legal_move_within_its_limit() -> None:
    board = Board()
    fallback_move(board, 0.05)
    began = time.monotonic()
    assert fallback_move(board, 0.05) in board.legal_moves()
    assert time.monotonic() - began < 0.25


def test_the_fallback_mates_when_it_can() -> None:
    assert fallback_move(Board("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"), 0.05) == "a1a8"


def test_the_fallback_has_no_move_where_there_is_none() -> None:
    assert fallback_move(Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), 0.05) is None


# Any engine


STOCKFISH = shutil.which("stockfish", path="/usr/games:/usr/local/bin:/usr/bin")
needs_stockfish = pytest.mark.skipif(STOCKFISH is None, reason="needs Stockfish")


def heard_by(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What an echoing engine was told, line by line."""
    marks = (record.getMessage().partition("engine.stderr game=abcd1234 line=")[2] for record in caplog.records)
    return [mark.strip('"') for mark in marks if mark]


@needs_stockfish
def test_stockfish_plays_as_well_as_ours(start: Start, inbox: Inbox) -> None:
    engine = start(command=(STOCKFISH,), uci_options={"Skill Level": 3, "UCI_ShowWDL": True, "MultiPV": 3})
    engine.search(search(1, "e2e4", depth=6))
    answer = heard(inbox)
    assert isinstance(answer, BestMove)
    board = Board()
    board.push("e2e4")
    assert answer.move in board.legal_moves()
    assert answer.summary.depth == 6
    assert engine.name.startswith("Stockfish")
    assert engine.complaints == ()
    assert engine.plays_chess960


@needs_stockfish
def test_what_stockfish_does_not_take_is_told_and_it_plays_all_the_same(start: Start, inbox: Inbox) -> None:
    engine = start(command=(STOCKFISH,), uci_options={"Skil Level": 3, "Slow Mover": 1})
    engine.search(search(1, depth=1))
    assert isinstance(heard(inbox), BestMove)
    assert engine.complaints == (
        "uci_options.Skil Level: the engine offers no such option; nearest: Skill Level",
        "uci_options.Slow Mover: expected a whole number from 10 to 1000, found 1",
    )


def test_options_are_set_after_uciok_and_before_isready(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    engine = start("echoing", "e2e4", uci_options={"style": "very wild"})
    engine.search(search(1, chess960=True))
    assert isinstance(heard(inbox), BestMove)
    until(lambda: any("go" in line for line in heard_by(caplog)))
    assert heard_by(caplog)[:6] == [
        "uci",
        "setoption name Ponder value true",
        "setoption name Style value very wild",
        "isready",
        "setoption name UCI_Chess960 value true",
        f"position fen {STARTING_FEN}",
    ]


@pytest.mark.parametrize(("moves", "clocks"), [((), "wtime 800 btime 2000"), (("e2e4",), "wtime 1000 btime 1800")])
def test_an_engine_without_move_overhead_is_shown_that_much_less_on_its_own_clock(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture, moves: tuple[str, ...], clocks: str
) -> None:
    engine = start("echoing", "e2e4")
    engine.search(search(1, *moves, white_time_ms=1000, black_time_ms=2000), overhead_ms=200)
    assert isinstance(heard(inbox), BestMove)
    until(lambda: any("go" in line for line in heard_by(caplog)))
    assert f"go {clocks}" in heard_by(caplog)


def test_the_error_output_can_be_silenced(start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture) -> None:
    engine = start("echoing", "e2e4", silence_stderr=True)
    engine.search(search(1))
    assert isinstance(heard(inbox), BestMove)
    time.sleep(0.2)
    assert heard_by(caplog) == []


def test_the_engine_runs_in_its_folder(start: Start, inbox: Inbox, tmp_path: Path) -> None:
    engine = start("polite", "e2e4", working_dir=tmp_path)
    engine.search(search(1))
    heard(inbox)
    assert Path(f"/proc/{pid_of(engine)}/cwd").readlink() == tmp_path


# Pondering


def test_a_ponder_search_answers_after_the_hit_and_not_before(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    engine = start("echoing", "g1f3", "b8c6")
    engine.search(supposing(1, "e2e4", "e7e5"))
    until(lambda: "go ponder depth 3" in heard_by(caplog))
    with pytest.raises(Empty):
        heard(inbox, 0.2)
    engine.ponder_hit(1)
    answer = heard(inbox)
    assert isinstance(answer, BestMove)
    assert (answer.search_id, answer.move, answer.reply) == (1, "g1f3", "b8c6")
    until(lambda: "ponderhit" in heard_by(caplog))


def test_a_hit_before_the_engine_is_ready_makes_it_an_ordinary_search(start: Start, inbox: Inbox) -> None:
    engine = start("polite", "g1f3")
    engine.search(supposing(1, "e2e4", "e7e5"))
    engine.ponder_hit(1)
    answer = heard(inbox)
    assert isinstance(answer, BestMove)
    assert answer.search_id == 1


def test_a_miss_drops_the_ponder_search_for_the_real_one(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    engine = start("echoing", "g1f3")
    engine.search(supposing(1, "e2e4", "e7e5"))
    until(lambda: "go ponder depth 3" in heard_by(caplog))
    engine.ponder_hit(7)  # of another search
    with pytest.raises(Empty):
        heard(inbox, 0.3)
    engine.search(search(2, "e2e4", "c7c5"))
    dropped, answer = heard(inbox), heard(inbox)
    assert isinstance(dropped, BestMove)
    assert isinstance(answer, BestMove)
    assert (dropped.search_id, answer.search_id) == (1, 2)


def test_our_engine_answers_sooner_after_a_ponder_hit(start: Start, inbox: Inbox) -> None:
    engine = start()
    limits = {"white_time_ms": 60_000, "black_time_ms": 60_000}
    engine.search(search(0))
    heard(inbox)
    engine.search(supposing(1, "e2e4", "e7e5", **limits))
    time.sleep(2.5)
    engine.ponder_hit(1)
    pondered = heard(inbox)
    engine.search(search(2, "e2e4", "c7c5", **limits))
    cold = heard(inbox)
    assert isinstance(pondered, BestMove)
    assert isinstance(cold, BestMove)
    assert pondered.search_id == 1
    assert pondered.took_s < cold.took_s / 2


def supposing(search_id: int, *moves: str, **limits: int) -> Search:
    """A search of a position that the opponent may reach."""
    asked = search(search_id, *moves, **limits)
    return replace(asked, limits=replace(asked.limits, ponder=True))


def until(fact: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not fact() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert fact()
