"""UCI, as python-chess speaks it and line by line."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import chess
import chess.engine
import pytest

from engine.facade import Board, Engine, describe_build

COMMAND = [sys.executable, "-P", "-m", "engine"]


@pytest.fixture
def client() -> Iterator[chess.engine.SimpleEngine]:
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=20) as engine:
        yield engine


def converse(*lines: str, timeout: float = 20) -> list[str]:
    """Return all answers to these lines, after which the input ends."""
    answer = subprocess.run(
        COMMAND, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=timeout, check=False
    )
    assert answer.stderr == ""
    assert answer.returncode == 0
    return answer.stdout.splitlines()


class Session:
    """A running engine, for tests in which time passes between the lines."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def say(self, line: str) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(line + "\n")

    def until(self, start: str) -> list[str]:
        """Return the lines up to and including the first with this start."""
        assert self.child.stdout is not None
        lines = [self.child.stdout.readline().strip()]
        while not lines[-1].startswith(start):
            lines.append(self.child.stdout.readline().strip())
        return lines

    def until_contains(self, part: str) -> str:
        """Return the first line with this part."""
        assert self.child.stdout is not None
        return next(line.strip() for line in self.child.stdout if part in line)

    def close(self) -> None:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.close()
        self.child.wait(5)
        self.child.stdout.close()


@pytest.fixture
def session() -> Iterator[Session]:
    session = Session()
    yield session
    session.close()


@pytest.mark.parametrize("ponder", [False, True])
def test_python_chess_plays_a_game_with_us(ponder: bool, client: chess.engine.SimpleEngine) -> None:
    board = chess.Board()
    while not board.is_game_over() and board.ply() < 30:
        played = client.play(board, chess.engine.Limit(white_clock=1.0, black_clock=1.0), ponder=ponder)
        assert played.move is not None
        board.push(played.move)
    assert board.ply() > 8


def test_python_chess_analyses_with_us(client: chess.engine.SimpleEngine) -> None:
    info = client.analyse(chess.Board(), chess.engine.Limit(depth=6))
    assert info["depth"] == 6
    assert info["pv"]
    assert info["nodes"] > 0
    mate = client.analyse(chess.Board("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"), chess.engine.Limit(depth=3))
    assert mate["score"].relative == chess.engine.Mate(1)


@pytest.mark.parametrize(("chess960", "castling"), [("true", "e1h1"), ("false", "e1g1")])
def test_castling_notation_follows_the_option(session: Session, chess960: str, castling: str) -> None:
    session.say(f"setoption name UCI_Chess960 value {chess960}")
    session.say("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    session.say(f"go depth 2 searchmoves {castling}")
    assert session.until("bestmove")[-1].startswith(f"bestmove {castling}")


def test_the_greeting_names_engine_build_and_options() -> None:
    lines = converse("uci", "quit")
    assert lines[0] == f"id name lichessbot-engine {version('lichessbot')}"
    assert f"info string engine runs {describe_build()}; evaluation: {Engine().describe_evaluation()}" in lines
    assert [line.split(" type")[0] for line in lines if line.startswith("option")] == [
        "option name Hash", "option name Clear Hash", "option name Threads", "option name MultiPV",
        "option name Ponder", "option name Move Overhead", "option name UCI_Chess960", "option name UCI_AnalyseMode",
        "option name UCI_ShowWDL", "option name SyzygyPath",
        "option name SyzygyProbeLimit", "option name EvalFile",
        *(f"option name Style {name}" for name in (
            "Material", "Placement", "Mobility", "Pawn Structure", "Pawn Advance", "Pieces", "King Safety",
            "King Attack", "Threats", "Tempo",
        )),
    ]
    assert lines[-1] == "uciok"


def test_d_and_eval_show_the_board_and_its_evaluation() -> None:
    lines = converse("setoption name EvalFile value none", "position startpos moves e2e4", "d", "eval")
    assert "Fen: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1" in lines
    assert lines[1:3] == ["r n b q k b n r", "p p p p p p p p"]
    assert "black to move, not in check, 20 legal moves" in lines
    table = lines[lines.index("term            White mg    eg  Black mg    eg") :]
    assert [line.split()[0] for line in table[:4]] == ["term", "material", "squares", "mobility"]
    assert table[-1].startswith("phase 64/64, evaluation ")


def test_wdl_is_shown_only_if_the_option_is_set(session: Session) -> None:
    session.say("position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    session.say("go depth 2")
    assert not [line for line in session.until("bestmove") if " wdl " in line]
    session.say("setoption name UCI_ShowWDL value true")
    session.say("go depth 3")
    lines = session.until("bestmove")
    assert [line for line in lines if " score mate 1 wdl 1000 0 0 nodes " in line], lines


def test_a_style_set_during_a_game_counts_at_once() -> None:
    style = "setoption name style pawn advance value -50"
    game = "position startpos moves e2e4 e7e5 d2d4"
    late, early = converse(game, style, "eval"), converse(style, game, "eval")
    assert "info string evaluation: hand-written, style pawn advance -50 %" in late
    assert late == early
    assert late[1:] != converse(game, "eval")


def test_a_style_out_of_range_is_refused() -> None:
    (answer,) = converse("setoption name Style Material value 201")
    assert answer == "info string error: expected a whole number from -200 to 200 for Style Material, found '201'"


def test_debug_echoes_commands() -> None:
    lines = converse("debug on", "isready", "debug off", "isready")
    assert lines == ["info string heard 'isready'", "readyok", "info string heard 'debug off'", "readyok"]


def test_perft_divides() -> None:
    lines = converse("position startpos moves e2e4", "go perft 2")
    assert "e7e5: 29" in lines
    assert lines[-1] == "Nodes searched: 600"


def test_a_perft_can_be_stopped_and_answers_are_given_meanwhile(session: Session) -> None:
    session.say("go perft 9")
    session.say("isready")
    session.until("readyok")
    session.say("stop")
    session.until("info string perft was stopped")
    session.say("go perft 1")
    assert session.until("Nodes searched")[-1] == "Nodes searched: 20"


def test_commands_after_a_perft_wait_for_its_end() -> None:
    lines = converse("go perft 5", "position startpos moves e2e4", "go perft 1", "quit")
    assert [line for line in lines if line.startswith("Nodes")] == ["Nodes searched: 4865609", "Nodes searched: 20"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("xyzzy", "unknown command 'xyzzy'"),
        ("position", "expected position startpos"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "White has 0 kings"),
        ("position startpos moves e2e5", "'e2e5' is not legal here"),
        ("setoption name Hash value 0", "expected a whole number from 1"),
        ("setoption name Hash value many", "expected a whole number from 1"),
        ("setoption name Nonsense value 1", "unknown option 'Nonsense'"),
        ("setoption name UCI_Chess960 value maybe", "expected true or false"),
        ("setoption", "expected setoption name NAME value VALUE"),
        ("setoption Hash value 16", "expected setoption name NAME value VALUE"),
        ("setoption name Hsh value 16", "unknown option 'Hsh'; did you mean Hash?"),
        ("setoption name Hash value 1_6", "found '1_6'"),
        ("setoption name SyzygyPath value a\0b", "not a valid path"),
        ("go depth", "expected a whole number"),
        ("go sideways", "unknown word 'sideways'"),
        ("go searchmoves e2e5", "'e2e5' is not legal here"),
        ("setoption name Threads value 0", "expected a whole number from 1"),
        ("setoption name MultiPV value 0", "expected a whole number from 1"),
        ("go perft x", "expected a whole number from 1"),
    ],
)
def test_an_invalid_command_is_answered_and_ignored(line: str, answer: str) -> None:
    lines = converse("position startpos moves e2e4", line, "isready", "go depth 1", "quit")
    assert any(answer in said for said in lines if said.startswith("info string")), lines
    assert "readyok" in lines
    assert lines[-1].startswith("bestmove")


def test_an_unknown_word_after_go_is_ignored() -> None:
    lines = converse("go depth 1 sideways", "quit now")
    assert lines[0].startswith("info string unknown word 'sideways'")
    assert lines[0].endswith("; ignored")
    assert lines[-1].startswith("bestmove")


WITH_CTRL_C = """
import signal, sys
from engine.__main__ import main
signal.signal(signal.SIGINT, signal.default_int_handler)     # background jobs ignore it
sys.exit(main())
"""


def test_ctrl_c_ends_the_search_and_the_session() -> None:
    session = Session([sys.executable, "-P", "-c", WITH_CTRL_C])
    session.say("go infinite")
    session.until("info depth 2")
    session.child.send_signal(signal.SIGINT)
    session.until("bestmove")
    assert session.child.wait(5) == 130
    session.close()


def test_a_closed_input_quits() -> None:
    command = f"'{sys.executable}' -P -m engine <&-"
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=20, check=True)
    assert answer.stderr == ""


def depth_reached(session: Session) -> int:
    """The depth of the last variation; on a busy machine the engine may say after it that it is late."""
    return max(int(line.split()[2]) for line in session.until("bestmove") if " pv " in line)


def test_a_single_allowed_move_is_searched_for_the_whole_time_unless_a_clock_runs(session: Session) -> None:
    """Who asks for it outside a game wants to know what it is worth."""
    session.say("go searchmoves a2a3 movetime 300")
    assert depth_reached(session) > 1
    session.say("go searchmoves a2a3 wtime 60000 btime 60000")
    assert depth_reached(session) == 1


def test_stop_before_go_and_go_while_searching_are_survived() -> None:
    lines = converse("stop", "go infinite", "go infinite", "position startpos", "go depth 2", "quit")
    assert sum(line.startswith("bestmove") for line in lines) == 3


def test_the_move_is_always_the_head_of_the_last_variation(session: Session) -> None:
    """Also when a better first move was found in a depth that was cut short."""
    board = chess.Board()
    for nodes in range(2000, 42000, 400):
        session.say(f"position fen {board.fen()}")
        session.say(f"go nodes {nodes}")
        *infos, best = session.until("bestmove")
        assert infos[-1].split(" pv ")[1].split()[0] == best.split()[1]
        board.push_uci(best.split()[1])
        if board.is_game_over():
            board.reset()


def test_an_infinite_search_keeps_its_move_until_stop(session: Session) -> None:
    session.say("position fen 7k/8/8/8/8/8/1r6/K7 w - - 0 1")
    session.say("go infinite")
    time.sleep(0.3)
    session.say("isready")
    assert not any(line.startswith("bestmove") for line in session.until("readyok"))
    session.say("stop")
    session.until("bestmove")


def test_pondering_gives_its_move_soon_after_the_ponder_hit(session: Session) -> None:
    session.say("position startpos moves e2e4 e7e5")
    session.say("go ponder wtime 8000 btime 8000")
    time.sleep(1.0)
    session.say("isready")
    assert not any(line.startswith("bestmove") for line in session.until("readyok"))
    started = time.perf_counter()
    session.say("ponderhit")
    session.until("bestmove")
    assert time.perf_counter() - started < 3.6, "more than the hard deadline of an 8 s clock"


def test_the_only_move_is_given_at_once_after_the_ponder_hit(session: Session) -> None:
    session.say("position fen k7/8/1K6/8/8/8/8/7R b - - 0 1")
    session.say("isready")
    session.until("readyok")
    session.say("go ponder wtime 600000 btime 600000")
    time.sleep(0.3)
    started = time.perf_counter()
    session.say("ponderhit")
    assert session.until("bestmove")[-1].startswith("bestmove a8b8")
    assert time.perf_counter() - started < 5.0


def test_time_spent_pondering_counts(session: Session) -> None:
    """If pondering took more than the soft deadline, the ponder hit is answered at once."""
    session.say("position startpos moves e2e4 e7e5")
    started = time.perf_counter()
    session.say("go wtime 60000 btime 60000")
    session.until("bestmove")
    without_pondering_s = time.perf_counter() - started
    session.say("ucinewgame")
    session.say("position startpos moves e2e4 e7e5")
    session.say("go ponder wtime 60000 btime 60000")
    time.sleep(6.0)
    started = time.perf_counter()
    session.say("ponderhit")
    session.until("bestmove")
    assert time.perf_counter() - started < without_pondering_s / 2


def test_a_ponder_hit_without_pondering_is_ignored(session: Session) -> None:
    session.say("ponderhit")
    session.say("go infinite")
    session.say("ponderhit")
    session.say("isready")
    assert not any(line.startswith("bestmove") for line in session.until("readyok"))
    session.say("stop")
    session.until("bestmove")


def test_several_lines_start_with_different_moves_best_first(client: chess.engine.SimpleEngine) -> None:
    board = chess.Board("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    lines = client.analyse(board, chess.engine.Limit(depth=6), multipv=4)
    assert len({line["pv"][0] for line in lines}) == 4
    scores = [line["score"].relative.score(mate_score=32000) for line in lines]
    assert scores == sorted(scores, reverse=True)


def test_more_lines_than_moves_are_as_many_as_moves(client: chess.engine.SimpleEngine) -> None:
    board = chess.Board("7k/8/8/8/8/8/1r6/K7 w - - 0 1")
    assert len(client.analyse(board, chess.engine.Limit(depth=3), multipv=5)) == board.legal_moves.count()


def test_castling_named_in_both_notations_is_one_move(session: Session) -> None:
    session.say("setoption name MultiPV value 2")
    session.say("position fen r3k3/8/8/8/8/8/8/4K2R w K - 0 1")
    session.say("go depth 4 searchmoves e1g1 e1h1")
    *lines, best = session.until("bestmove")
    assert best.split()[:2] == ["bestmove", "e1g1"]
    assert not [line for line in lines if " multipv 2 " in line]


def test_a_mate_as_short_as_asked_for_ends_the_search(session: Session) -> None:
    session.say("position fen kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1")
    session.say("go mate 2")
    lines = session.until("bestmove")
    assert "score mate 2" in [line for line in lines if " pv " in line][-1]
    assert lines[-1].startswith("bestmove a1a6")


def test_the_end_of_the_input_quits_in_mid_search() -> None:
    started = time.perf_counter()
    assert converse("go infinite")[-1].startswith("bestmove")
    assert time.perf_counter() - started < 5


def test_a_search_longer_than_three_seconds_reports_its_root_moves(session: Session) -> None:
    session.say("position fen 8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1")
    session.say("isready")
    session.until("readyok")
    started = time.perf_counter()
    session.say("go infinite")
    line = session.until_contains("currmove")
    assert time.perf_counter() - started >= 3
    session.say("stop")
    session.until("bestmove")
    words = line.split()
    assert words[:2] == ["info", "depth"]
    assert words[3:6:2] == ["currmove", "currmovenumber"]
    assert words[4] in ("a1a2", "a1b1", "a1b2")
    assert 1 <= int(words[6]) <= 3


def test_a_short_search_does_not_report_its_root_moves() -> None:
    assert not [line for line in converse("go movetime 300") if "currmove" in line]


def test_a_score_outside_the_window_is_reported_as_a_bound(session: Session) -> None:
    """The window is widened until the score fits: the bound comes first, the exact score of that depth after it."""
    session.say("setoption name EvalFile value none")
    session.say("position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    session.say("go depth 11")
    lines = [line for line in session.until("bestmove") if line.startswith("info")]
    bounds = [line for line in lines if " lowerbound " in line or " upperbound " in line]
    assert bounds
    for line in bounds:
        depth, score = line.split()[2], int(line.split(" cp ")[1].split()[0])
        exact = next(text for text in lines if text.split()[2] == depth and text not in bounds)
        true_score = int(exact.split(" cp ")[1].split()[0])
        assert lines.index(exact) > lines.index(line)
        assert true_score >= score - 50 if "lowerbound" in line else true_score <= score + 50
    assert "bound" not in lines[-1]


@pytest.mark.parametrize(("mode", "least_ms"), [("false", 0), ("true", 1900)])
def test_analyse_mode_uses_the_time_even_for_the_only_move(mode: str, least_ms: int, session: Session) -> None:
    session.say(f"setoption name UCI_AnalyseMode value {mode}")
    session.say("position startpos moves e2e3 b7b6 d1h5 c7c6 h5f7")
    session.say("isready")
    session.until("readyok")
    session.say("go movetime 2000")
    started = time.perf_counter()
    session.until("bestmove")
    elapsed_ms = (time.perf_counter() - started) * 1000
    assert elapsed_ms >= least_ms
    assert (elapsed_ms < 1500) == (mode == "false")


def test_a_move_after_the_hard_deadline_is_reported_as_late(session: Session) -> None:
    """A suspended process misses its deadline, and says by how much once it continues."""
    session.say("isready")
    session.until("readyok")
    started = time.perf_counter()
    session.say("go movetime 1500")
    session.until("info depth")
    os.kill(session.child.pid, signal.SIGSTOP)
    time.sleep(2.0)
    os.kill(session.child.pid, signal.SIGCONT)
    late = [line for line in session.until("bestmove") if line.startswith("info string late")]
    assert len(late) == 1
    overhead_ms = 100                                  # at most: the deadline lies before the 1500 ms by so much
    assert 400 <= int(late[0].split()[-2]) <= (time.perf_counter() - started) * 1000 - 1500 + overhead_ms


def test_a_huge_halfmove_clock_gives_sane_scores(session: Session) -> None:
    fen = "2n1k3/8/8/8/8/8/8/R3K3 w - - 50000000 1"
    session.say(f"position fen {fen}")
    session.say("go depth 3")
    *lines, best = session.until("bestmove")
    assert best.split()[1] in Board(fen).legal_moves()
    assert max(abs(int(found)) for line in lines for found in re.findall(r"score cp (-?\d+)", line)) < 30_000


def test_checkmate_on_the_board_has_no_move() -> None:
    assert converse("position fen 8/8/8/8/8/2k5/1q6/K7 w - - 0 1", "go depth 3")[-1] == "bestmove 0000"


def test_a_closed_output_is_no_crash() -> None:
    child = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stderr is not None
    child.stdout.close()
    os.write(child.stdin.fileno(), b"uci\ngo depth 3\n")
    child.stdin.close()
    errors = child.stderr.read().decode()
    child.stderr.close()
    child.wait(10)
    assert "Traceback" not in errors


def test_an_exception_in_the_search_ends_the_process_with_a_traceback() -> None:
    """The client must not wait for a move that never comes."""
    program = (
        "import sys; from engine import facade, __main__\n"
        "def broken(self, **listeners): raise ZeroDivisionError('planted')\n"
        "facade.RunningSearch.run = broken; sys.argv = ['engine']; __main__.main()"
    )
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", program], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdin is not None
    assert child.stderr is not None
    child.stdin.write("go depth 3\n")
    child.stdin.flush()
    assert child.wait(20) == 1
    assert "ZeroDivisionError: planted" in child.stderr.read()
    child.stdin.close()
    child.stderr.close()


def test_even_the_shortest_time_completes_depth_1(session: Session) -> None:
    for command in ["go movetime 1", "go wtime 1 btime 1"] * 10:
        session.say(command)
        assert any(" depth 1 " in line for line in session.until("bestmove"))


def test_endgame_tablebases_are_opened_and_probed(session: Session, tables: Path) -> None:
    session.say(f"setoption name SyzygyPath value {tables}")
    assert session.until("info string endgame")[-1].endswith("35 endgames of up to 4 pieces, 35 with DTZ")
    session.say("setoption name SyzygyProbeLimit value 4")
    session.say("position fen 7k/8/8/8/8/8/8/K2qQ3 w - - 0 1")
    session.say("go depth 3")
    *reports, answer = session.until("bestmove")
    assert answer.startswith("bestmove e1d1")
    assert " score cp 30000 " in reports[-1]
    assert " tbhits 0 " not in reports[-1]


def test_a_missing_tablebase_folder_is_reported(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    lines = converse(f"setoption name SyzygyPath value {nowhere}", "setoption name SyzygyPath value <empty>", "isready")
    assert f"info string {nowhere}: No such file or directory: not used" in lines
    assert lines[-1] == "readyok"
