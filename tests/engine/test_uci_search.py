"""Searches over UCI: pondering, several lines, stops, deadlines and what is reported."""

import re
import sys
import time
from io import StringIO
from threading import Thread
from typing import Any

import chess
import chess.engine
import pytest

from engine.facade import Board, Engine, RunningSearch
from engine.uci import Uci
from tests.engine.uci_session import Session, converse, converse_with_process
from tests.processes import resident_kib


def depth_reached(session: Session) -> int:
    """The depth of the last variation; on a busy machine the engine may say after it that it is late."""
    return max(int(line.split()[2]) for line in session.until("bestmove") if " pv " in line)


def test_a_single_allowed_move_is_searched_for_the_whole_time_unless_a_clock_runs(session: Session) -> None:
    """Who asks for it outside a game wants to know what it is worth."""
    session.ask("go searchmoves a2a3 movetime 600000", "info depth 2 ")
    session.ask("stop", "bestmove")
    session.say("go searchmoves a2a3 wtime 60000 btime 60000")
    assert depth_reached(session) == 1


def test_stop_before_go_and_go_while_searching_are_survived() -> None:
    lines = converse("stop", "go infinite", "go infinite", "position startpos", "go depth 2", "quit")
    assert sum(line.startswith("bestmove") for line in lines) == 3


def test_the_move_is_always_the_head_of_the_last_variation(session: Session) -> None:
    """Also when a better first move was found in a depth that was cut short, as by two of these searches."""
    board = chess.Board()
    for nodes in range(500, 8000, 150):
        session.say(f"position fen {board.fen()}")
        *infos, best = session.ask(f"go nodes {nodes}", "bestmove")
        assert infos[-1].split(" pv ")[1].split()[0] == best.split()[1]
        board.push_uci(best.split()[1])
        if board.is_game_over():
            board.reset()


def test_an_infinite_search_keeps_its_move_until_stop(session: Session) -> None:
    session.say("position fen 7k/8/8/8/8/8/1r6/K7 w - - 0 1")
    session.say("go infinite")
    time.sleep(0.3)
    assert not any(line.startswith("bestmove") for line in session.ask("isready", "readyok"))
    session.ask("stop", "bestmove")


def test_pondering_gives_its_move_soon_after_the_ponder_hit(session: Session) -> None:
    session.say("position startpos moves e2e4 e7e5")
    session.ask("go ponder wtime 30000 btime 30000", "info depth")
    session.suspend(1.0)
    time.sleep(0.2)
    assert not any(line.startswith("bestmove") for line in session.ask("isready", "readyok"))
    started = time.perf_counter()
    session.ask("ponderhit", "bestmove")
    assert time.perf_counter() - started < 30.0, "the whole clock"


def test_the_only_move_is_given_at_once_after_the_ponder_hit(session: Session) -> None:
    session.say("position fen k7/8/1K6/8/8/8/8/7R b - - 0 1")
    session.ask("isready", "readyok")
    session.say("go ponder wtime 60000000 btime 60000000")
    time.sleep(0.3)
    started = time.perf_counter()
    assert session.ask("ponderhit", "bestmove")[-1].startswith("bestmove a8b8")
    assert time.perf_counter() - started < 60.0


def test_time_spent_pondering_counts(session: Session) -> None:
    """If pondering took more than the soft deadline, the ponder hit is answered at once."""

    def new_game() -> None:
        session.say("ucinewgame")
        session.say("position startpos moves e2e4 e7e5")
        session.ask("isready", "readyok")

    def without_pondering_s() -> float:
        new_game()
        started = time.perf_counter()
        session.ask("go wtime 20000 btime 20000", "bestmove")
        return time.perf_counter() - started

    def after_pondering_s() -> float:
        new_game()
        session.ask("go ponder wtime 20000 btime 20000", "info depth")
        session.suspend(2.5)
        started = time.perf_counter()
        session.ask("ponderhit", "bestmove")
        return time.perf_counter() - started

    # A busy machine may delay one answer or another.
    usual_s = min(without_pondering_s() for _ in range(3))
    assert any(after_pondering_s() < usual_s / 2 for _ in range(10))


def test_a_ponder_hit_without_pondering_is_ignored(session: Session) -> None:
    session.say("ponderhit")
    session.say("go infinite")
    session.say("ponderhit")
    assert not any(line.startswith("bestmove") for line in session.ask("isready", "readyok"))
    session.ask("stop", "bestmove")


def test_several_lines_start_with_different_moves_best_first(client: chess.engine.SimpleEngine) -> None:
    board = chess.Board("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    lines = client.analyse(board, chess.engine.Limit(depth=6), multipv=4)
    assert len({line["pv"][0] for line in lines}) == 4
    scores = [line["score"].relative.score(mate_score=32000) for line in lines]
    assert scores == sorted(scores, reverse=True)


def test_more_lines_than_moves_are_as_many_as_moves(client: chess.engine.SimpleEngine) -> None:
    board = chess.Board("7k/8/8/8/8/8/1r6/K7 w - - 0 1")
    assert len(client.analyse(board, chess.engine.Limit(depth=3), multipv=5)) == board.legal_moves.count()


def test_an_illegal_move_to_search_is_left_out(session: Session) -> None:
    for words, best in (("e7e5 a2a3 zz", "a2a3"), ("e7e5", None)):
        session.say("position startpos")
        *lines, answer = session.ask(f"go depth 4 searchmoves {words}", "bestmove")
        assert any("'e7e5' is not legal here" in line and line.endswith("; ignored") for line in lines)
        assert best is None or answer.split()[1] == best


def test_castling_named_in_both_notations_is_one_move(session: Session) -> None:
    session.say("setoption name MultiPV value 2")
    session.say("position fen r3k3/8/8/8/8/8/8/4K2R w K - 0 1")
    *lines, best = session.ask("go depth 4 searchmoves e1g1 e1h1", "bestmove")
    assert best.split()[:2] == ["bestmove", "e1g1"]
    assert not [line for line in lines if " multipv 2 " in line]


def test_a_mate_as_short_as_asked_for_ends_the_search(session: Session) -> None:
    session.say("position fen kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1")
    lines = session.ask("go mate 2", "bestmove")
    assert "score mate 2" in [line for line in lines if " pv " in line][-1]
    assert lines[-1].startswith("bestmove a1a6")


def test_the_end_of_the_input_quits_in_mid_search() -> None:
    started = time.perf_counter()
    assert converse_with_process("go infinite")[-1].startswith("bestmove")
    assert time.perf_counter() - started < 60


def test_a_search_longer_than_three_seconds_reports_its_root_moves(session: Session) -> None:
    session.say("position fen 8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1")
    session.ask("isready", "readyok")
    started = time.perf_counter()
    session.ask("go infinite", "info depth")
    session.suspend(2.5)
    line = session.until_contains("currmove")
    assert time.perf_counter() - started >= 3
    session.ask("stop", "bestmove")
    words = line.split()
    assert words[:2] == ["info", "depth"]
    assert words[3:6:2] == ["currmove", "currmovenumber"]
    assert words[4] in ("a1a2", "a1b1", "a1b2")
    assert 1 <= int(words[6]) <= 3


def test_a_short_search_does_not_report_its_root_moves() -> None:
    assert not [line for line in converse("go depth 6") if "currmove" in line]


def test_a_score_outside_the_window_is_reported_as_a_bound(session: Session) -> None:
    """The window is widened until the score fits: the bound comes first, the exact score of that depth after it."""
    session.say("setoption name EvalFile value none")
    session.say("position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    lines = [line for line in session.ask("go depth 11", "bestmove") if line.startswith("info")]
    bounds = [line for line in lines if " lowerbound " in line or " upperbound " in line]
    assert bounds
    for line in bounds:
        depth, score = line.split()[2], int(line.split(" cp ")[1].split()[0])
        exact = next(text for text in lines if text.split()[2] == depth and text not in bounds)
        true_score = int(exact.split(" cp ")[1].split()[0])
        assert lines.index(exact) > lines.index(line)
        assert true_score >= score - 50 if "lowerbound" in line else true_score <= score + 50
    assert "bound" not in lines[-1]


@pytest.mark.parametrize("analyses", [False, True])
def test_analyse_mode_uses_the_time_even_for_the_only_move(analyses: bool, session: Session) -> None:
    session.say(f"setoption name UCI_AnalyseMode value {str(analyses).lower()}")
    session.say("position startpos moves e2e3 b7b6 d1h5 c7c6 h5f7")
    session.ask("isready", "readyok")
    started = time.perf_counter()
    session.say(f"go movetime {2000 if analyses else 600_000}")
    if analyses:
        session.until("info depth")
        session.suspend(1.5)
    session.until("bestmove")
    elapsed_ms = (time.perf_counter() - started) * 1000
    assert elapsed_ms >= 1900 if analyses else elapsed_ms < 60_000


def test_a_move_after_the_hard_deadline_is_reported_as_late(session: Session) -> None:
    """A suspended process misses its deadline, and says by how much once it continues."""
    session.ask("isready", "readyok")
    for _ in range(20):
        started = time.perf_counter()
        session.ask("go movetime 1500", "info depth")
        session.suspend(2.0)
        continued_s = time.perf_counter() - started
        late = [line for line in session.until("bestmove") if line.startswith("info string late")]
        if continued_s < 3.4:      # else a busy machine may have suspended it after the deadline
            break
    assert len(late) == 1
    overhead_ms = 100                                  # at most: the deadline lies before the 1500 ms by so much
    assert 400 <= int(late[0].split()[-2]) <= (time.perf_counter() - started) * 1000 - 1500 + overhead_ms


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
@pytest.mark.parametrize("command", ["setoption name Hash value 100", "setoption name Clear Hash", "ucinewgame"])
def test_a_large_table_gets_its_memory_before_the_search(command: str, session: Session) -> None:
    session.ask("setoption name Hash value 100\ngo nodes 100", "bestmove")
    session.ask(f"{command}\nisready", "readyok")
    assert resident_kib(session.child.pid) > 100 << 10


def test_a_huge_halfmove_clock_gives_sane_scores(session: Session) -> None:
    fen = "2n1k3/8/8/8/8/8/8/R3K3 w - - 50000000 1"
    session.say(f"position fen {fen}")
    *lines, best = session.ask("go depth 3", "bestmove")
    assert best.split()[1] in Board(fen).legal_moves()
    assert max(abs(int(found)) for line in lines for found in re.findall(r"score cp (-?\d+)", line)) < 30_000


@pytest.mark.parametrize(
    ("fen", "score"),
    [("8/8/8/8/8/2k5/1q6/K7 w - - 0 1", "mate 0"), ("8/8/8/8/8/5k2/5p2/5K2 w - - 0 1", "cp 0")],
)
@pytest.mark.parametrize("strength", ["false", "true"])
def test_a_game_that_is_over_has_a_score_and_no_move(fen: str, score: str, strength: str) -> None:
    limit = ("setoption name UCI_LimitStrength value true", "setoption name UCI_Elo value 1500")
    said = converse(*(limit if strength == "true" else ()), f"position fen {fen}", "go depth 3")
    assert said[-2:] == [f"info depth 0 score {score}", "bestmove 0000"]


def test_even_the_shortest_time_completes_depth_1(session: Session) -> None:
    for command in ["go movetime 1", "go wtime 1 btime 1"] * 10:
        assert any(" depth 1 " in line for line in session.ask(command, "bestmove"))


@pytest.mark.parametrize("limits", ["depth 3", "infinite", "ponder wtime 100 btime 100"])
def test_a_search_that_gets_no_thread_still_answers(limits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)
    output = StringIO()
    Uci(output).run([f"go {limits}", "stop", "isready"])
    assert re.search(r"bestmove \w+.*\nreadyok\n$", output.getvalue())
    assert ("depth 3" in output.getvalue()) == ("depth 3" in limits)


def test_a_perft_that_gets_no_thread_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)
    output = StringIO()
    Uci(output).run(["go perft 2", "isready", "stop"])
    assert output.getvalue() == "info string error: no perft: can't start new thread\nreadyok\n"


@pytest.mark.parametrize(("owner", "step"), [(Engine, "begin"), (RunningSearch, "run")])
@pytest.mark.parametrize(
    ("command", "best"),
    [
        ("go depth 3", "a2a3"),
        ("go infinite searchmoves e2e4 d2d4", "e2e4"),
        ("position fen 8/8/8/8/8/2k5/1q6/K7 w - - 0 1\ngo depth 3", "0000"),
    ],
)
def test_a_search_that_gets_no_memory_still_answers(
    owner: type, step: str, command: str, best: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(owner, step, refuse)
    output = StringIO()
    Uci(output).run([*command.splitlines(), "stop", "isready"])
    reason, *answers = output.getvalue().splitlines()
    assert reason.startswith("info string error: too little memory to search")
    assert answers[-2:] == [f"bestmove {best}", "readyok"]


def test_a_search_that_runs_out_of_memory_answers_with_the_best_move_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunningSearch.run

    def run_out_of_memory(search: RunningSearch, **callbacks: Any) -> None:
        run(search, **callbacks)
        raise MemoryError

    monkeypatch.setattr(RunningSearch, "run", run_out_of_memory)
    monkeypatch.setattr(RunningSearch, "stop", lambda _: None)      # its depth ends the search
    output = StringIO()
    mate_in_one = "position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
    Uci(output).run([mate_in_one, "setoption name MultiPV value 2", "go depth 3"])
    assert "info string error: too little memory to search" in output.getvalue()
    assert "bestmove a1a8\n" in output.getvalue()
