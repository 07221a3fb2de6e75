"""Any UCI engine: its options, its clock and pondering."""

import logging
import os
import shutil
import signal
import sys
import threading
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import Empty

import pytest

from engine.facade import STARTING_FEN, Board
from lichessbot.inbox import Inbox
from lichessbot.lichess.models import Player
from lichessbot.log import EventLog
from lichessbot.log.event_log import Event
from lichessbot.uci.engine import UciEngine
from lichessbot.uci.engine_process import DialogueLog
from lichessbot.uci.search import BestMove, EngineReady, centipawns, opponent_text
from tests.lichessbot.uci.helpers import (
    TIMEOUTS,
    Start,
    best_move,
    death,
    heard,
    heard_by,
    pid_of,
    search,
    supposing,
)
from tests.patience import PATIENCE_S, until

STOCKFISH = shutil.which("stockfish", path="/usr/games:/usr/local/bin:/usr/bin")
needs_stockfish = pytest.mark.skipif(STOCKFISH is None, reason="needs Stockfish")


@needs_stockfish
def test_stockfish_plays_like_our_engine(start: Start, inbox: Inbox) -> None:
    engine = start(command=(STOCKFISH,), uci_options={"Skill Level": 3, "UCI_ShowWDL": True, "MultiPV": 3})
    engine.search(search(1, "e2e4", depth=6))
    answer = best_move(inbox)
    board = Board().after("e2e4")
    assert answer.move in board.legal_moves()
    assert answer.summary.depth == 6
    assert engine.name.startswith("Stockfish")
    assert engine.complaints == ()
    assert engine.variants == ("standard", "chess960", "fromPosition")


@needs_stockfish
def test_options_that_stockfish_refuses_become_complaints(start: Start, inbox: Inbox) -> None:
    engine = start(command=(STOCKFISH,), uci_options={"Skil Level": 3, "nodestime": -1})
    engine.search(search(1, depth=1))
    best_move(inbox)
    assert engine.complaints == (
        "uci_options.Skil Level: the engine offers no such option; nearest: Skill Level",
        "uci_options.nodestime: expected a whole number from 0 to 10000, found -1",
    )


@pytest.mark.parametrize(
    ("text", "score_cp"),
    [
        ("cp 31", 31), ("cp -5", -5), ("mate 3", 99_997), ("mate -3", -99_997), ("mate 0", -100_000),
        ("cp +31", 31), ("mate +3", 99_997),
        ("", None), ("cp", None), ("cp x", None), ("mate ²", None), ("upperbound 3", None),
    ],
)
def test_a_score_is_read_as_uci_writes_it(text: str, score_cp: int | None) -> None:
    assert centipawns(text) == score_cp


def test_an_engine_that_tells_no_name_gets_a_text_in_its_place(start: Start, inbox: Inbox) -> None:
    """Without one, the chat would take it for an engine that is still starting, and `check` for ours."""
    engine = start("nameless")
    engine.search(search(1))
    best_move(inbox)
    assert engine.name == "an unnamed engine"


def test_options_are_set_after_uciok_and_before_isready(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    engine = start("echoing", "e2e4", uci_options={"style": "very wild"})
    engine.search(search(1, chess960=True))
    best_move(inbox)
    until(lambda: any("go" in line for line in heard_by(caplog)))
    assert heard_by(caplog)[:8] == [
        "uci",
        "setoption name UCI_Chess960 value false",
        "setoption name Ponder value true",
        "setoption name Style value Very Wild",
        "ucinewgame",
        "isready",
        "setoption name UCI_Chess960 value true",
        f"position fen {STARTING_FEN}",
    ]


@pytest.mark.parametrize(
    ("player", "told"),
    [
        ({"name": "Ferdinand", "title": "GM", "rating": 2203}, "GM 2203 human Ferdinand"),
        ({"name": "Ferdinand"}, "none none human Ferdinand"),
        ({"name": "SmallBot", "title": "BOT", "rating": 1990}, "none 1990 computer SmallBot"),
        ({"aiLevel": 3}, "none none computer AI-3"),
    ],
)
def test_an_opponent_is_told_to_engines_as_uci_writes_it(player: dict[str, object], told: str) -> None:
    assert opponent_text(Player.model_validate(player)) == told


def test_an_engine_that_wants_to_know_its_opponent_is_told_once_before_its_first_move(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    engine = start("echoing", "e2e4")
    for number in (1, 2):
        engine.search(replace(search(number), opponent="GM 2203 human Ferdinand"))
        best_move(inbox)
    until(lambda: sum("go" in line for line in heard_by(caplog)) == 2)
    told = [line for line in heard_by(caplog) if line.startswith(("ucinewgame", "setoption name UCI_Opp", "position"))]
    opponent = "setoption name UCI_Opponent value GM 2203 human Ferdinand"
    assert told == ["ucinewgame", opponent, "position startpos", "position startpos"]


def test_a_level_is_told_to_the_engine(start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture) -> None:
    engine = start("levelled", "e2e4", strength=1500)
    engine.search(search(1))
    best_move(inbox)
    until(lambda: any("go" in line for line in heard_by(caplog)))
    assert heard_by(caplog)[1:5] == [
        "setoption name UCI_LimitStrength value true",
        "setoption name UCI_Elo value 1500",
        "ucinewgame",
        "isready",
    ]
    assert engine.levels == (1320, 3190)


@needs_stockfish
def test_stockfish_has_levels(start: Start, inbox: Inbox) -> None:
    engine = start(command=(STOCKFISH,), strength=1400)
    engine.search(search(1, depth=1))
    best_move(inbox)
    assert engine.complaints == ()
    assert engine.levels is not None


@pytest.mark.parametrize(("moves", "clocks"), [((), "wtime 800 btime 2000"), (("e2e4",), "wtime 1000 btime 1800")])
def test_an_engine_without_move_overhead_is_shown_less_on_its_clock(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture, moves: tuple[str, ...], clocks: str
) -> None:
    engine = start("echoing", "e2e4")
    engine.search(search(1, *moves, white_time_ms=1000, black_time_ms=2000), overhead_ms=200)
    best_move(inbox)
    until(lambda: any("go" in line for line in heard_by(caplog)))
    assert f"go {clocks}" in heard_by(caplog)


def test_the_error_output_can_be_silenced(start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture) -> None:
    engine = start("echoing", "e2e4", silence_stderr=True)
    engine.search(search(1))
    best_move(inbox)
    assert engine._process.stderr is None
    assert heard_by(caplog) == []


def test_an_engine_that_closes_its_error_output_plays_on(start: Start, inbox: Inbox, rude_engine: Path) -> None:
    engine = start(command=("sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, str(rude_engine), "polite"))
    until(lambda: not any(thread.name == "engine-errors-abcd1234" for thread in threading.enumerate()))
    engine.search(search(1))
    assert isinstance(heard(inbox), BestMove)


@pytest.mark.parametrize("silenced", [False, True])
def test_a_burst_of_error_output_is_cut_in_the_log_and_kills_no_engine(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture, silenced: bool
) -> None:
    began = time.monotonic()
    engine = start("chatty", "e2e4", silence_stderr=silenced)
    for number in range(3):
        engine.search(search(number))
        best_move(inbox)
    if not silenced:
        until(lambda: heard_by(caplog) != [])       # read by a thread of its own
    logged = len(heard_by(caplog))
    assert logged == 0 if silenced else 0 < logged <= 100 * (1.0 + time.monotonic() - began), "100 lines a second"


def uci_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the logged lines to an engine, after `<`, and from it, after `>`."""
    marks = {"engine.sent": "<", "engine.received": ">"}
    events = [it.msg for it in caplog.records if isinstance(it.msg, Event) and it.msg.name in marks]
    assert all(it.game_id == "abcd1234" for it in events)
    return [f"{marks[it.name]} {it.fields['line']}" for it in events]


@pytest.mark.parametrize("debug", [False, True])
def test_the_uci_lines_are_logged_only_with_debug(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture, debug: bool
) -> None:
    caplog.set_level(logging.INFO, "lichessbot")
    engine = start("polite", "e2e4", debug=debug)
    engine.search(search(1))
    best_move(inbox)
    lines = uci_lines(caplog)
    if not debug:
        assert lines == []
        return
    assert lines[0] == "< uci"
    answered, asked = lines.index("> uciok"), lines.index("< go depth 3")
    assert 0 < answered < asked < len(lines) - 1
    assert lines[-1].startswith("> bestmove e2e4")


def test_the_uci_log_leaves_out_progress_and_floods_but_no_move(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "lichessbot")
    dialogue, log = DialogueLog(is_wanted=True), EventLog("abcd1234")
    began = time.monotonic()
    for line in (b"\n", b"info depth 3 currmove e2e4\n", b"info string no network\n", b"\xff\x1b[31m\n"):
        dialogue.received(line, log)
    for _ in range(1000):
        dialogue.received(b"info depth 3 score cp 20 pv e2e4\n", log)
    dialogue.received(b"bestmove e2e4\n", log)
    dialogue.sent([f"position startpos moves {'e2e4 ' * 100}g1f3"], log)
    *lines, sent = uci_lines(caplog)
    assert sent.startswith("< position startpos moves e2e4")
    assert sent.endswith(" e2e4 g1f3")
    assert len(sent) < 300, "the log cuts what is longer"
    assert lines[:2] == ["> info string no network", "> \ufffd\x1b[31m"]
    assert lines[-1] == "> bestmove e2e4"
    assert 10 < len(lines[2:-1]) <= 20 * (1.0 + time.monotonic() - began), "20 lines a second"
    assert not [record for record in caplog.records if "\x1b" in record.getMessage()]


def test_nothing_that_an_engine_wrote_is_logged_after_it_was_closed(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = start("chatty", "e2e4")

    def close_at_the_first_line(record: logging.LogRecord) -> bool:
        if "engine.stderr" in record.getMessage():
            engine.close()
        return True

    monkeypatch.setattr(caplog.handler, "filters", [close_at_the_first_line])
    engine.search(search(1))
    until(lambda: heard_by(caplog) != [])
    until(lambda: not any(thread.name == "engine-errors-abcd1234" for thread in threading.enumerate()))
    assert len(heard_by(caplog)) == 1


def test_the_engine_runs_in_its_folder(start: Start, inbox: Inbox, tmp_path: Path) -> None:
    engine = start("polite", "e2e4", working_dir=tmp_path)
    engine.search(search(1))
    heard(inbox)
    assert Path(f"/proc/{pid_of(engine)}/cwd").readlink() == tmp_path


def test_a_stop_that_finds_no_search_does_not_count_for_the_next_one(start: Start, inbox: Inbox) -> None:
    engine = start("slow", "d2d4", timeouts=replace(TIMEOUTS, engine_stop=timedelta()))
    assert isinstance(inbox.get(timeout=PATIENCE_S), EngineReady)
    engine.stop()
    engine.search(search(1))
    engine.search(search(2))
    assert best_move(inbox).search_id == 1, "it was told to stop just now"


# Pondering


def test_a_ponder_search_answers_after_the_hit_and_not_before(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    engine = start("echoing", "g1f3", "b8c6")
    engine.search(supposing(1, "e2e4", "e7e5"))
    until(lambda: "go ponder depth 3" in heard_by(caplog))
    with pytest.raises(Empty):
        heard(inbox, 0.2)
    hit_at = time.monotonic()
    engine.ponder_hit(1)
    answer = best_move(inbox)
    assert answer.asked_at >= hit_at, "our clock did not run before"
    assert (answer.search_id, answer.move, answer.ponder) == (1, "g1f3", "b8c6")
    until(lambda: "ponderhit" in heard_by(caplog))


def test_a_hit_before_the_engine_is_ready_makes_it_an_ordinary_search(start: Start, inbox: Inbox) -> None:
    engine = start("polite", "g1f3")
    engine.search(supposing(1, "e2e4", "e7e5"))
    engine.ponder_hit(1)
    answer = best_move(inbox)
    assert answer.search_id == 1


@pytest.mark.parametrize("hit", [True, False])
def test_an_engine_that_does_not_offer_to_ponder_searches_only_on_our_time(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture, hit: bool
) -> None:
    engine = start("levelled", "g1f3")
    engine.search(search(0))
    best_move(inbox)
    engine.search(supposing(1, "e2e4", "e7e5", depth=4))
    if hit:
        engine.ponder_hit(1)
    else:
        engine.search(search(2, "e2e4", "c7c5", depth=5))
    answer = best_move(inbox)
    assert answer.search_id == (1 if hit else 2)
    expected = ["go depth 3", "go depth 4" if hit else "go depth 5"]
    until(lambda: [line for line in heard_by(caplog) if line.startswith("go")] == expected)
    assert "ponderhit" not in heard_by(caplog)


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
    dropped, answer = best_move(inbox), best_move(inbox)
    assert (dropped.search_id, answer.search_id) == (1, 2)


def test_an_engine_that_does_not_stop_pondering_is_killed_in_time(start: Start, inbox: Inbox) -> None:
    engine = start("absorbed", timeouts=replace(TIMEOUTS, engine_stop=timedelta(seconds=0.2)))
    engine.search(supposing(1, "e2e4", "e7e5"))
    until(lambda: engine._running is not None)
    engine.search(search(2, "e2e4", "c7c5"))
    report = death(inbox)
    assert report.search_id == 2
    assert report.reason.startswith("does not stop")


def test_an_engine_that_names_no_move_when_it_is_stopped_goes_on(start: Start, inbox: Inbox) -> None:
    engine = start("curt", "g1f3")
    engine.search(search(0))
    assert isinstance(heard(inbox), BestMove)
    engine.search(supposing(1, "e2e4", "e7e5"))
    until(lambda: engine._running is not None)
    engine.search(search(2, "e2e4", "c7c5"))
    assert heard(inbox) == BestMove("abcd1234", 1, None), "nor has it the score of the search before"
    answer = best_move(inbox)
    assert (answer.search_id, answer.move) == (2, "g1f3")
    assert not engine._alarm._due_at, "it has stopped"
    thread = engine._alarm._thread
    engine.close()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_a_second_answer_to_a_search_that_was_stopped_is_not_taken_for_the_next_one(start: Start, inbox: Inbox) -> None:
    engine = start("repeating", "g1f3")
    for search_id in (1, 3):
        engine.search(supposing(search_id, "e2e4", "e7e5"))
        until(lambda: engine._running is not None)
        engine.search(search(search_id + 1, "e2e4", "c7c5"))
        answers = best_move(inbox), best_move(inbox)
        assert [(it.search_id, it.summary.depth) for it in answers] == [(search_id, 5), (search_id + 1, 5)]


def test_a_network_that_our_engine_cannot_read_at_a_restart_is_logged(
    start: Start, inbox: Inbox, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    start(uci_options={"EvalFile": str(tmp_path / "gone.net")}).search(search(1))
    assert best_move(inbox).move is not None, "it plays with its own"
    assert "gone.net: cannot be read" in caplog.text


def test_our_engine_thinks_less_after_a_ponder_hit(start: Start, inbox: Inbox) -> None:
    engine = start()
    limits = {"white_time_ms": 60_000, "black_time_ms": 60_000}
    engine.search(search(0))
    heard(inbox)
    engine.search(supposing(1, "e2e4", "e7e5", **limits))
    until(lambda: engine._findings.summary.depth >= 15)   # it is in a depth that takes some tenths of a second
    # Over twice what it plans for a move, so that it begins no other depth; stopped, it takes no processor.
    os.kill(pid_of(engine), signal.SIGSTOP)
    time.sleep(6.0)
    reached = engine._findings.summary.depth
    engine.ponder_hit(1)    # before it can end that depth
    os.kill(pid_of(engine), signal.SIGCONT)
    pondered = best_move(inbox)
    assert pondered.search_id == 1
    assert 0 < pondered.summary.depth <= reached + 1, "it ends the depth that it is in, however busy the machine is"


def test_the_input_of_an_engine_that_ends_at_once_is_not_closed_during_the_first_command(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    still_open, start_threads, write = [], UciEngine._start_threads, os.write

    def then_watched(engine: UciEngine) -> None:
        start_threads(engine)
        reader = threading.Thread(target=engine.kill, args=["ended by itself"])

        def meanwhile(descriptor: int, text: bytes) -> int:
            if text == b"uci\n":
                reader.start()
                reader.join(0.1)    # it waits for its turn; else the descriptor could be another file's by now
                still_open.append(not engine._process.stdin.closed)
            return write(descriptor, text)

        monkeypatch.setattr(os, "write", meanwhile)

    monkeypatch.setattr(UciEngine, "_start_threads", then_watched)
    start()
    assert still_open == [True]
