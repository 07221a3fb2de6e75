"""UCI, as python-chess speaks it and line by line."""

import io
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from threading import Thread

import chess
import chess.engine
import pytest

from engine import __version__, uci
from engine.facade import Board, Engine, Limits, Tablebase, describe_build, longest_think_s, usable_cores
from engine.uci import Uci
from engine.uci_words import parse_limits
from tests.engine.uci_session import COMMAND, Session, converse, converse_with_process


@pytest.mark.parametrize("ponder", [False, True])
def test_python_chess_plays_a_game_with_us(ponder: bool, client: chess.engine.SimpleEngine) -> None:
    board = chess.Board()
    while board.ply() < 12:
        played = client.play(board, chess.engine.Limit(white_clock=1.0, black_clock=1.0), ponder=ponder)
        board.push(played.move)


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
    assert session.ask(f"go depth 2 searchmoves {castling}", "bestmove")[-1].startswith(f"bestmove {castling}")


def test_the_greeting_names_engine_build_and_options() -> None:
    lines = converse_with_process("uci", "quit")
    assert lines[0] == f"id name lichessbot-engine {__version__}"
    assert f"info string engine runs {describe_build()}; evaluation: {Engine().describe_evaluation()}" in lines
    assert [line.split(" type")[0] for line in lines if line.startswith("option")] == [
        "option name Hash", "option name Clear Hash", "option name Threads", "option name MultiPV",
        "option name Ponder", "option name Move Overhead", "option name UCI_Chess960", "option name UCI_Variant",
        "option name UCI_AnalyseMode", "option name UCI_ShowWDL", "option name UCI_LimitStrength",
        "option name UCI_Elo", "option name OwnBook", "option name SyzygyPath",
        "option name SyzygyProbeLimit", "option name EvalFile", "option name Style",
        *(f"option name Style {name}" for name in (
            "Material", "Placement", "Mobility", "Pawn Structure", "Pawn Advance", "Pieces", "King Safety",
            "King Attack", "Threats", "Tempo",
        )),
    ]
    ranges = {words[0]: words[1] for line in lines if len(words := line[12:].split(" type spin ")) == 2}
    assert ranges.items() >= {
        "Hash": "default 16 min 1 max 65536", "Threads": "default 1 min 1 max 256",
        "MultiPV": "default 1 min 1 max 218", "Move Overhead": "default 10 min 0 max 10000",
        "UCI_Elo": "default 2850 min 600 max 2850",
    }.items()
    kinds = {"Ponder type check default false", "SyzygyPath type string default <empty>", "Clear Hash type button"}
    assert {f"option name {kind}" for kind in kinds} <= set(lines)
    assert lines[-1] == "uciok"


def test_every_option_takes_its_default() -> None:
    defaults = {name: option.kind.partition(" default ")[2].split(" ")[0] for name, option in uci.OPTIONS.items()}
    lines = converse(*(f"setoption name {name} value {default}" for name, default in defaults.items()), "isready")
    assert lines[-1] == "readyok"
    assert [line for line in lines if line.startswith("info string error")] == []


def test_d_and_eval_show_the_board_and_its_evaluation() -> None:
    lines = converse("setoption name EvalFile value none", "position startpos moves e2e4", "d", "eval")
    assert "Fen: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1" in lines
    assert lines[1:3] == ["r n b q k b n r", "p p p p p p p p"]
    assert lines[7:10] == ["P P P P . P P P", "R N B Q K B N R", ""]
    assert "black to move, not in check, 20 legal moves" in lines
    table = lines[lines.index("term            White mg    eg  Black mg    eg") :]
    assert [line.split()[0] for line in table[:4]] == ["term", "material", "squares", "mobility"]
    assert table[-1].startswith("phase 64/64, evaluation ")


def test_wdl_is_shown_only_if_the_option_is_set(session: Session) -> None:
    assert not [line for line in converse("go depth 1") if " wdl " in line]
    session.say("position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    assert not [line for line in session.ask("go depth 2", "bestmove") if " wdl " in line]
    session.say("setoption name UCI_ShowWDL value true")
    lines = session.ask("go depth 3", "bestmove")
    assert [line for line in lines if " score mate 1 wdl 1000 0 0 nodes " in line], lines


def test_a_style_set_during_a_game_counts_at_once() -> None:
    style = "setoption name style pawn advance value -50"
    game = "position startpos moves e2e4 e7e5 d2d4"
    usual, late = split_at("info string evaluation", converse_with_process(game, "eval", style, "eval"))
    _, early = split_at("info string evaluation", converse_with_process(style, game, "eval"))
    assert late[0] == "info string evaluation: hand-written, style pawn advance -50 %"
    assert late == early
    assert late[1:] != usual


def split_at(start: str, lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines before the first with this start, and the rest."""
    place = next(index for index, line in enumerate(lines) if line.startswith(start))
    return lines[:place], lines[place:]


def test_a_named_style_and_weights_are_combined() -> None:
    answers = converse_with_process(
        "setoption name Style value Attacker", "setoption name style tempo value 50", "setoption name Style value none"
    )
    assert [answer.partition("style ")[2] for answer in answers] == ["attacker", "attacker, tempo 50 %", "tempo 50 %"]
    assert answers[1].startswith("info string evaluation: hand-written")
    (unknown,) = converse("setoption name Style value gamblr")
    known = "none attacker solid gambler endgame swindler classical"
    assert unknown == f"info string error: expected one of {known} for Style, found 'gamblr'; did you mean gambler?"


def test_a_style_out_of_range_is_refused() -> None:
    (answer,) = converse("setoption name Style Material value 201")
    assert answer == "info string error: expected a whole number from -200 to 200 for Style Material, found '201'"


def test_a_rating_counts_only_while_strength_is_limited() -> None:
    rating, limited = "setoption name UCI_Elo value 600", "setoption name UCI_LimitStrength value"
    full, low, again = converse(rating, f"{limited} true", f"{limited} false")
    assert low == "info string evaluation: hand-written"
    assert [full] == [again] == converse("setoption name EvalFile value <empty>")


def test_debug_echoes_commands() -> None:
    lines = converse("debug on", "isready", "debug off", "isready")
    assert lines == ["info string heard 'isready'", "readyok", "info string heard 'debug off'", "readyok"]


def test_perft_divides() -> None:
    lines = converse("position startpos moves e2e4", "go perft 2")
    assert "e7e5: 29" in lines
    assert lines[-1] == "Nodes searched: 600"


def test_a_perft_can_be_stopped_and_answers_are_given_meanwhile(session: Session) -> None:
    session.say("go perft 9")
    session.ask("isready", "readyok")
    session.ask("stop", "info string perft was stopped")
    assert session.ask("go perft 1", "Nodes searched")[-1] == "Nodes searched: 20"


def test_commands_after_a_perft_wait_for_its_end() -> None:
    lines = converse("go perft 5", "position startpos moves e2e4", "go perft 1", "quit")
    assert [line for line in lines if line.startswith("Nodes")] == ["Nodes searched: 4865609", "Nodes searched: 20"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("xyzzy", "unknown command 'xyzzy'"),
        ("setoption name Hash value 0", "expected a whole number from 1"),
        ("setoption name Hash value many", "expected a whole number from 1"),
        ("setoption name Nonsense value 1", "unknown option 'Nonsense'"),
        ("setoption name UCI_Chess960 value maybe", "expected true or false"),
        ("setoption name UCI_LimitStrength value 1500", "expected true or false for UCI_LimitStrength"),
        ("setoption name UCI_Elo value 599", "expected a whole number from 600 to"),
        ("setoption name UCI_Elo value master", "expected a whole number from 600 to"),
        ("setoption", "expected setoption name NAME value VALUE"),
        ("setoption Hash value 16", "expected setoption name NAME value VALUE"),
        ("setoption name Hsh value 16", "unknown option 'Hsh'; did you mean Hash?"),
        ("setoption name Hash value 1_6", "found '1_6'"),
        ("setoption name SyzygyPath value a\0b", "not a valid path"),
        ("go depth", "expected a whole number"),
        ("go sideways", "error: unknown word 'sideways'"),
        ("go depth 2 searchmoves e2e5", "ignored"),
        ("go depth 2 searchmoves zz e7e5", "info string 'zz' is not a move"),
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


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("position", "expected position startpos"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "White has 0 kings"),
        ("position startpos moves e2e4 e2e5", "'e2e5' is not legal here"),
    ],
)
def test_after_an_invalid_position_nothing_is_searched_until_the_next(line: str, reason: str) -> None:
    """A move for the position before it would be one for another game."""
    before, refused = "position startpos moves e2e4", "nothing to search, as the last position was refused"
    lines = converse(before, line, "go depth 1", "go perft 1", before, "go depth 1 searchmoves e7e5")
    error, again, no_move, for_perft, *rest, answer = lines
    assert reason in error
    assert again == for_perft == f"info string error: {refused}"
    assert no_move == "bestmove 0000"
    assert all(said.startswith("info depth") for said in rest)
    assert answer.startswith("bestmove e7e5")


def test_a_variant_begins_a_position_after_an_invalid_one() -> None:
    lines = converse("position startpos moves e2e5", "setoption name UCI_Variant value chess", "go perft 1")
    assert lines[-1] == "Nodes searched: 20"


def test_a_clock_that_has_run_out_is_0_without_a_note() -> None:
    assert parse_limits(["wtime", "-5", "btime", "+7"]) == (Limits(white_time_ms=0, black_time_ms=7), [], [])


@pytest.mark.parametrize("limit", ["depth", "nodes", "mate"])
def test_a_limit_of_zero_is_one(limit: str) -> None:
    assert parse_limits([limit, "0"]) == parse_limits([limit, "1"])


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        ("depth x", Limits(depth=1)),
        ("depth", Limits(depth=1)),
        ("wtime 59321.5 btime 60000.0", Limits(white_time_ms=59321, black_time_ms=60000)),
        ("wtime 1000 btime 1000 winc -5 movestogo -1", Limits(1000, 1000, white_increment_ms=0, moves_to_go=0)),
        ("wtime btime 3000", Limits(white_time_ms=0, black_time_ms=3000)),
        ("movetime 1_000", Limits(move_time_ms=1)),
    ],
)
def test_a_number_that_cannot_be_read_still_limits_the_search(words: str, limits: Limits) -> None:
    found, _only, notes = parse_limits(words.split())
    assert found == limits
    assert notes
    assert all(note.startswith("expected a whole number for ") for note in notes)
    lines = converse(f"go {words} depth 1", "quit")
    assert lines[0] == f"info string {notes[0]}"
    assert lines[-1].startswith("bestmove")


@pytest.mark.parametrize("words", ["wtime 1000 winc 0", "winc 0 binc 0", "binc 10"])
def test_a_missing_clock_is_no_endless_search(words: str) -> None:
    limits, _only, notes = parse_limits(words.split())
    assert longest_think_s(limits, Board("4k3/8/8/8/8/8/8/4K3 b - - 0 1")) < 1
    assert "no btime; taken as 0" in notes


@pytest.mark.parametrize(
    "words", ["depth 12 winc 0 binc 0", "movetime 700 winc 0", "wtime 60000 nodes 9", "infinite binc 1"]
)
def test_a_missing_clock_does_not_shorten_a_search_that_ends_otherwise(words: str) -> None:
    limits, _only, notes = parse_limits(words.split())
    assert limits.black_time_ms is None
    assert notes == []


@pytest.mark.parametrize("number", ["1000000000001", "18446744073709551615", "9" * 5000])
def test_a_limit_beyond_reach_is_no_error(number: str) -> None:
    limits, _only, notes = parse_limits(["nodes", number, "movetime", number])
    assert (limits, notes) == (Limits(nodes=10**12, move_time_ms=10**9), [])


def test_more_threads_than_cores_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert usable_cores() >= 1
    monkeypatch.setattr(uci, "usable_cores", lambda: 2)
    output = io.StringIO()
    Uci(output).run(["setoption name Threads value 3", "setoption name Threads value 2"])
    (note,) = output.getvalue().splitlines()
    assert note.startswith("info string 3 threads on 2 cores")


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
    session.ask("go infinite", "info depth 2")
    session.child.send_signal(signal.SIGINT)
    session.until("bestmove")
    assert session.child.wait(60) == 130
    session.close()


@pytest.mark.parametrize("runs", [True, False])
def test_ctrl_c_while_the_search_starts_ends_it(monkeypatch: pytest.MonkeyPatch, runs: bool) -> None:
    start = Thread.start

    def interrupted(thread: Thread) -> None:
        if runs:
            start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Uci(io.StringIO()).run(["go infinite"])
    assert all(thread.name != "search" for thread in threading.enumerate())


def test_a_closed_input_quits() -> None:
    command = f"'{sys.executable}' -P -m engine <&-"
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=100, check=True)
    assert answer.stderr == ""


def test_a_closed_output_is_no_crash() -> None:
    child = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.close()
    os.write(child.stdin.fileno(), b"uci\ngo depth 3\n")
    child.stdin.close()
    errors = child.stderr.read().decode()
    child.stderr.close()
    child.wait(60)
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("output", "problem"),
    [("/dev/full", "standard input or output: No space left on device\n"), ("&-", "standard output is closed\n")],
)
@pytest.mark.parametrize("line", ["uci", "go depth 1"])
def test_an_output_that_cannot_be_written_is_one_line(line: str, output: str, problem: str) -> None:
    command = f"echo {line} | '{sys.executable}' -P -m engine >{output}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    answer = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=100, check=False, env=environment
    )
    assert (answer.returncode, answer.stderr) == (1, problem)


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
    child.stdin.write("go depth 3\n")
    child.stdin.flush()
    assert child.wait(100) == 1
    assert "ZeroDivisionError: planted" in child.stderr.read()
    child.stdin.close()
    child.stderr.close()


def test_endgame_tablebases_are_opened_and_probed(session: Session, tables: Path) -> None:
    session.say(f"setoption name SyzygyPath value {tables}")
    assert session.until("info string endgame")[-1].endswith("35 endgames of up to 4 pieces, 35 with DTZ")
    session.say("setoption name SyzygyProbeLimit value 4")
    session.say("position fen 7k/8/8/8/8/8/8/K2qQ3 w - - 0 1")
    *reports, answer = session.ask("go depth 3", "bestmove")
    assert answer.startswith("bestmove e1d1")
    assert " score cp 30000 " in reports[-1]
    assert " tbhits 0 " not in reports[-1]


def test_a_path_keeps_its_spaces(tmp_path: Path) -> None:
    folder = tmp_path / "two  spaces"
    lines = converse(f"setoption  name SyzygyPath  value {folder} ")
    assert f"info string {folder}: No such file or directory: not used" in lines


def test_an_empty_option_means_the_default() -> None:
    lines = converse("setoption name EvalFile value none", "setoption name EvalFile value <empty>")
    assert lines[1] == f"info string evaluation: {Engine().describe_evaluation()}"
    (endgames,) = converse("setoption name SyzygyPath value <empty>")
    assert endgames == f"info string endgame tablebases: {Tablebase().describe()}"


def test_a_missing_tablebase_folder_is_reported(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    lines = converse(f"setoption name SyzygyPath value {nowhere}", "setoption name SyzygyPath value <empty>", "isready")
    assert f"info string {nowhere}: No such file or directory: not used" in lines
    assert lines[-1] == "readyok"


def test_tablebases_that_were_out_of_reach_are_looked_for_in_the_next_game(
    session: Session, tables: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mounted later"
    session.ask(f"setoption name SyzygyPath value {folder}", "info string endgame")
    folder.symlink_to(tables)
    for game, has_tables in enumerate((False, True)):
        if game:
            session.say("ucinewgame")
        session.say("position fen 7k/8/8/8/8/8/8/K2qQ3 w - - 0 1")
        *reports, _ = session.ask("go depth 3", "bestmove")
        assert (" tbhits 0 " not in reports[-1]) is has_tables
