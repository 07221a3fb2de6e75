"""Playing and analysing through pipes, and the errors a user can cause."""

import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

from engine.cli import positions
from engine.cli.main import run as run_command
from engine.facade import Board, Limits
from engine.pgn.pgn import ROSTER
from engine.terminal.players import BackgroundSearch
from tests.engine.pgn.games import parse_games
from tests.engine.uci_session import COMMAND, TIMEOUT_S

Answer = subprocess.CompletedProcess[str]
Run = Callable[..., Answer]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, with its input in a pipe."""

    def answer(*arguments: str, typed: str = "") -> Answer:
        there, here = os.pipe()
        os.write(here, typed.encode())
        os.close(here)
        with os.fdopen(there) as typing, monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", typing)
            code = run_command(arguments)
            for thread in threading.enumerate():
                if thread.name == "keyboard":      # else it may read from what is opened next under this number
                    thread.join()
        said = capsys.readouterr()
        return Answer(arguments, code, said.out, said.err)

    return answer


def process(*arguments: str, typed: str = "", encoding: str = "utf-8") -> Answer:
    """Run a command as a process, with its input and output in pipes, the output in this encoding."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    return subprocess.run(
        [*COMMAND, *arguments], input=typed, capture_output=True, text=True, encoding="utf-8", timeout=TIMEOUT_S,
        check=False, env=environment,
    )  # fmt: skip


def refusal(answer: Answer) -> str:
    """Return the one line on standard error of a refused command."""
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    [line] = answer.stderr.splitlines()
    return line


# --- Through pipes ---------------------------------------------------------------------------------------------------


def test_two_people_share_a_keyboard_and_mate_ends_the_game() -> None:
    answer = process("play", "--black", "human", typed="f3\ne5\ng4\nQh4\nQxh4\n")
    assert answer.returncode == 0
    assert answer.stderr == ""
    assert "0-1  checkmate, black wins" in answer.stdout
    assert "the game is over" in answer.stdout
    assert not {"\x1b", ">"} & set(answer.stdout)


def test_two_people_play_a_variant(run: Run) -> None:
    answer = run("play", "--black", "human", "--variant", "crazyhouse", "--ascii",
                 typed="e4\nd5\nexd5\nQxd5\nP@e4\n")  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert "Human: 3. P@e4" in answer.stdout
    assert "pocket p" in answer.stdout


def test_two_computers_finish_a_game_of_a_variant(run: Run) -> None:
    answer = run("play", "--white", "computer", "--black", "computer", "--depth", "3", "--variant", "atomic",
                 "--fen", "4k3/3p4/8/8/8/8/8/3QK3 w - - 0 1")  # fmt: skip
    assert "1-0  white wins" in answer.stdout


def test_variants_are_analysed_and_evaluated(run: Run) -> None:
    answer = run("analyse", "--variant", "kingOfTheHill", "--depth", "4", "--ascii", "7k/8/8/8/8/3K4/8/8 w - - 0 1")
    assert "M+1" in answer.stdout
    answer = run("eval", "--variant", "3check", "--ascii", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 +2+0")
    assert "the variant's own" in answer.stdout
    assert "checks 2" in answer.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("play", "--variant", "horde", "--chess960", "5"), "--chess960: horde has a starting position of its own"),
        (("play", "--variant", "atomic", "--black-style", "cce"), "a style plays standard chess, but"),
        (("eval", "--variant", "atomic", "--style", "cce"), "--style evaluates standard chess, but"),
        (("play", "--variant", "atomik"), "did you mean atomic?"),
        (("play", "--variant", "chess960"), "give its FEN, or `play --chess960 N`"),
        (("play", "--variant", "atomic", "--fen", "8/8 w"), "(Atomic)"),
    ],
)
def test_what_a_variant_cannot_have_is_refused(run: Run, arguments: tuple[str, ...], problem: str) -> None:
    assert problem in refusal(run(*arguments))


def test_two_computers_finish_a_game(tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    answer = process("play", "--white", "computer", "--black", "computer", "--depth", "4", "--black-style", "loser",
                 "--white-style", "attacker", "--level", "2500", "--fen", "4k3/8/8/8/8/8/4P3/QR2K3 w - - 0 1",
                 "--save", str(path))  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert "1-0  checkmate, white wins" in answer.stdout
    game = chess.pgn.read_game(io.StringIO(path.read_text()))
    assert (game.headers["White"], game.headers["Black"]) == ("Engine (attacker, level 2500)", "Engine (loser)")
    assert game.end().board().is_checkmate()


def test_undo_against_the_computer_takes_back_two_plies(run: Run) -> None:
    answer = run("play", "--depth", "1", typed="undo\ne4\nundo\nfen\n")
    assert "nothing to take back" in answer.stdout
    # Typed while the computer thinks or after it has moved: either way White is to move again.
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


@pytest.mark.parametrize("typed", ["hint", "resign", "e4"])
def test_after_the_game_every_word_that_plays_on_says_that_it_is_over(run: Run, typed: str) -> None:
    answer = run("play", "--black", "human", "--fen", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", typed=f"{typed}\nmoves\n")
    assert "the game is over: `undo` takes back a move" in answer.stdout
    assert answer.stdout.endswith("no legal move\n")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("e5", "'e5' is not a legal move here; did you mean e4?"),
        ("O-O", "'O-O' is not a legal move here; `moves` lists the legal ones, `help` the commands"),
        ("?", "'?' is not a legal move here; `moves` lists the legal ones, `help` the commands"),
        ("undi", "unknown command 'undi'; did you mean undo?"),
        ("a1", "a1: no legal move"),
        ("save", "expected a file name"),
        ("save /no/such/folder/x.pgn", "cannot write /no/such/folder/x.pgn: No such file or directory"),
        ("moves", "Na3, Nc3, Nf3, Nh3, a3"),
        ("help", "take back your last move"),
        ("help", "N@f3"),
        ("pgn", '[White "Human"]'),
        ("\x00\xff[bold]", "is not a legal move here"),
    ],
)
def test_commands_in_a_game(run: Run, typed: str, said: str) -> None:
    answer = run("play", "--black", "human", typed=typed + "\n")
    assert said in answer.stdout
    assert answer.returncode == 0


@pytest.mark.parametrize(
    ("black", "typed", "said"),
    [
        ("human", "hint", "no hint: it is not your turn"),
        ("human", "resign", "1-0  black resigns"),
        ("human", "Nf6\nundo", "Nf6 is taken back"),
        ("computer", "resign\nquit", "no human player can resign"),
    ],
)
def test_commands_while_the_computer_thinks(run: Run, black: str, typed: str, said: str) -> None:
    answer = run("play", "--white", "computer", "--black", black, "--seconds", "60", typed=typed + "\n")
    assert said in answer.stdout


@pytest.mark.parametrize(
    ("options", "header"),
    [(("--level", "1000"), '[Black "Engine (level 1000)"]'), (("--chess960", "0"), '[Variant "Chess960"]')],
)
def test_the_headers_of_a_game_tell_how_it_is_played(run: Run, options: tuple[str, ...], header: str) -> None:
    assert header in run("play", *options, typed="pgn\n").stdout


def test_a_game_survives_letters_that_the_terminal_cannot_show() -> None:
    answer = process("play", "--black", "human", typed="e4\nä\nfen\n", encoding="ascii")
    assert answer.returncode == 0, answer.stderr
    assert r"'\xe4' is not a legal move here" in answer.stdout
    assert answer.stdout.rstrip().endswith("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")


def test_a_game_survives_a_name_that_no_file_can_have(run: Run) -> None:
    name = "x" * 300 + ".pgn"
    answer = run("play", "--black", "human", typed=f"e4\nsave {name}\nfen\n")
    assert f"cannot write {name}: File name too long" in answer.stdout
    assert answer.stdout.rstrip().endswith("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")


def test_an_ambiguous_move_names_the_choices(run: Run) -> None:
    answer = run("play", "--black", "human", "--fen", "4k3/8/8/8/8/1N6/4N3/4K3 w - - 0 1", typed="Nd4\n")
    assert "'Nd4' could be Ned4 or Nbd4" in answer.stdout


@pytest.mark.parametrize(("typed", "san"), [("e1g1", "O-O"), ("O-O", "O-O"), ("0-0-0", "O-O-O"), ("E1C1", "O-O-O")])
def test_moves_are_taken_in_both_notations(run: Run, typed: str, san: str) -> None:
    answer = run("play", "--black", "human", "--fen", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", typed=typed + "\n")
    assert f"Human: 1. {san}\n" in answer.stdout


def test_a_saved_game_can_be_continued(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    assert "written to" in run("play", "--black", "human", "--clock", "3+2", typed=f"e4\nc5\nsave {path}\n").stdout
    typed = f"save {path}\nsave! {path}\nNf3\nsave {path}\nquit\n"
    again = run("play", "--black", "human", "--pgn", str(path), typed=typed)
    assert (again.stdout.count("exists already"), again.stdout.count("written to")) == (1, 2)
    [game] = parse_games(path.read_text())
    assert game.moves == ["e2e4", "c7c5", "g1f3"]
    assert game.headers["TimeControl"] == "180+2"
    assert all(node.clock_s is not None and 150 < node.clock_s <= 184 for node in game.root.mainline())


def test_a_game_that_cannot_be_saved_is_printed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    path.symlink_to(tmp_path / "gone" / "game.pgn")
    answer = run("play", "--black", "human", "--save", str(path), typed="e4\n")
    assert answer.stdout.endswith("\n1. e4 *\n\n\n")
    assert answer.stderr == f"cannot write {path}: No such file or directory; the game is printed above\n"


GAME_WITH_CLOCKS = """\
[White "Carlsen"]
[WhiteElo "2850"] [WhiteRatingDiff "-9"] [WhiteTitle "GM"] [WhiteFideId "1503014"]
[PlyCount "3"]
[Termination "White forfeits on time"]
[TimeControl "300+2"]
[Result "0-1"]

1. e4 {[%clk 0:04:00]} e5 {[%clk 0:01:40]} 2. Nf3 {[%clk 0:03:50]} 0-1
"""


def test_a_computer_uses_the_clock_of_a_continued_game(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, saved = tmp_path / "game.pgn", tmp_path / "saved.pgn"
    path.write_text(GAME_WITH_CLOCKS)
    start, asked = BackgroundSearch.start, []

    def note(search: BackgroundSearch, board: Board, limits: Limits, *rest: Any) -> int:
        asked.append(limits)
        return start(search, board, limits, *rest)

    monkeypatch.setattr(BackgroundSearch, "start", note)
    for more in ((), ("--seconds", "9")):
        answer = run("play", "--white", "computer", "--pgn", str(path), "--save", str(saved), *more, typed="d6\n")
        assert "time is up" not in answer.stdout
        [game] = parse_games(saved.read_text())
        assert game.moves[3] == "d7d6"
        saved.unlink()
    assert [limits.move_time_ms for limits in asked] == [None, 9000]
    assert all(150_000 < it.white_time_ms <= 230_000 and it.black_time_ms <= 102_000 for it in asked)
    assert {(limits.white_increment_ms, limits.black_increment_ms) for limits in asked} == {(2000, 2000)}
    assert game.headers["White"] == "Engine"
    assert set(game.headers) == {*ROSTER, "Result", "TimeControl"}


def test_a_computer_short_of_time_keeps_its_time(run: Run) -> None:
    answer = run("play", "--white", "computer", "--black", "computer", "--clock", "0.5+0", "--seconds", "90",
                 "--fen", "4k3/8/8/8/8/8/4P3/QR2K3 w - - 0 1")  # fmt: skip
    assert "1-0  checkmate, white wins" in answer.stdout


def test_the_clock_option_overrides_the_file(run: Run, tmp_path: Path) -> None:
    path, saved = tmp_path / "game.pgn", tmp_path / "saved.pgn"
    path.write_text(GAME_WITH_CLOCKS)
    run("play", "--black", "human", "--pgn", str(path), "--clock", "10+0", "--save", str(saved), typed="d6\n")
    [game] = parse_games(saved.read_text())
    assert game.headers["TimeControl"] == "600+0"
    (earlier,) = parse_games(GAME_WITH_CLOCKS)
    *before, last = [node.clock_s for node in game.root.mainline()]
    assert before == [node.clock_s for node in earlier.root.mainline()]
    assert last > 400


def test_analysis_without_a_terminal_is_plain_text(run: Run) -> None:
    answer = run("analyse", "--depth", "4", "--lines", "2", "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1")
    assert "1. Re8#" in answer.stdout
    assert "M+1" in answer.stdout
    assert answer.stdout.rstrip().endswith("best move Re8#")
    assert "\x1b" not in answer.stdout


def test_analysis_without_a_terminal_ends_by_itself(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Limits] = []
    monkeypatch.setattr(positions, "run_analysis", lambda engine, board, limits, *_: asked.append(limits))
    for limit in ((), ("--depth", "9"), ("--seconds", "1.5")):
        run("analyse", *limit)
    assert asked == [Limits(move_time_ms=10_000), Limits(depth=9), Limits(move_time_ms=1500)]


def test_analysis_shows_scores_from_whites_view(run: Run) -> None:
    answer = run("analyse", "--depth", "4", "--lines", "2", "4r2k/8/8/8/8/8/5PPP/6K1 b - - 0 1")
    assert re.search(r" 1 +M-1 .* 1\.\.\. Re1#", answer.stdout)
    assert re.search(r" 2 +-\d\.\d\d ", answer.stdout)


def test_there_is_nothing_to_analyse_after_mate(run: Run) -> None:
    answer = run("analyse", "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")
    assert answer.stdout.endswith("the game is over: checkmate, black wins\n")


def test_moves_can_follow_a_position_as_in_uci(run: Run) -> None:
    answer = run("analyse", "startpos", "moves", "f2f3", "e7e5", "g2g4", "d8h4")
    assert answer.stdout.endswith("the game is over: checkmate, black wins\n")
    answer = run("perft", "--depth", "2", "4k2r/8/8/8/8/8/8/R3K2R b KQk - 0 1 moves h8h7")
    assert "Nodes searched: 416\n" in answer.stdout


def test_the_evaluation_of_a_finished_game_says_how_it_ended(run: Run) -> None:
    answer = run("eval", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")
    assert answer.stdout.endswith("the game is over: draw: stalemate\n")


def test_perft_counts_leaves_of_a_variant(run: Run) -> None:
    answer = run("perft", "--variant", "3check", "--depth", "2", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 1+1")
    assert "Nodes searched: 562\n" in answer.stdout


def test_perft_counts_leaves_and_shows_no_bar_in_a_pipe(run: Run) -> None:
    answer = run("perft", "--depth", "3")
    assert "e2e4: 600\n" in answer.stdout
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


def test_a_mate_that_a_style_seeks_to_suffer_is_shown_for_the_side_that_gives_it(run: Run) -> None:
    answer = run("compare-search", "--style", "loser", "--depth", "2", "K2r2k1/2r2ppp/8/8/8/8/8/3R4 w - - 0 1")
    assert answer.stdout.count("M+1") >= 3
    assert "M-" not in answer.stdout


def test_a_search_that_takes_too_long_is_not_finished(run: Run) -> None:
    answer = run("compare-search", "--depth", "20", "--seconds", "0.01")
    assert answer.returncode == 0, answer.stderr
    assert re.search(r"minimax +│ +not finished", answer.stdout)


def test_nothing_is_compared_after_the_end_of_the_game(run: Run) -> None:
    answer = run("compare-search", "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")
    assert answer.stdout == "the game is over: checkmate, black wins\n"


def test_the_depth_table_ends_where_a_move_takes_too_long(run: Run) -> None:
    answer = run("depth-table", "--depth", "16", "--seconds", "0.01")
    assert re.search(r"│ +16 │ +- │ +- │", answer.stdout)


def test_the_depth_table_stands_beside_chess_engines(run: Run) -> None:
    answer = run("depth-table", "--depth", "2")
    assert re.search(r"ordered ┃ the engine ┃ chess-engine(?s:.*)│ +2 │ +\d+\.\d+ │ +\d+\.\d+ │", answer.stdout)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plya",), "unknown command 'plya'; did you mean play?"),
        (("eval", "moves", "e2e5"), "'e2e5' is not legal here"),
        (("analyse", "8/8/8/8/8/8/8/8", "w", "-", "-"), "White has 0 kings"),
        (("analyse", "--depth", "0"), "'--depth': expected a whole number from 1 to 100, found 0"),
        (("play", "--seconds", "never"), "expected a number from 0.01 to 86400, found 'never'"),
        (("play", "--clock", "soon"), "expected minutes and seconds per move such as 5+3"),
        (("play", "--style", "losar"), "did you mean loser"),
        (("play", "--style", "ataccker"), "did you mean attacker"),
        (("play", "--white-style", "loser"), "white is played by a human"),
        (("play", "--pgn", "nowhere.pgn"), "nowhere.pgn: No such file or directory"),
        (("play", "--fen", "startpos", "--chess960", "5"), "only one of"),
        (("play", "--game", "2"), "--game cannot be used without --pgn: it is the number of a game in that file"),
        (("play", "--variant", "atomic", "--pgn", "a.pgn"), "--variant cannot be used with --pgn: the header"),
        (("play", "--chess960", "960"), "expected a whole number from 0 to 959, found 960"),
        (("eval", "--style", "cca"), "did you mean cce"),
        (("articles", "rudin"), "did you mean rudim?"),
        (("articles", "CCE"), "no article 'CCE'; did you mean cce?"),
        (("play", "--black", "human", "--seconds", "3"), "--seconds cannot be used without a computer that plays"),
        (("play", "--save", "/nowhere/game.pgn"), "cannot write /nowhere/game.pgn: there is no folder /nowhere"),
        (("play", "--save", "/"), "cannot write /: it is a folder"),
        (("play", "--colour", "blue"), "No such option"),
    ],
)
def test_a_users_error_is_one_line(run: Run, arguments: tuple[str, ...], said: str) -> None:
    assert said in refusal(run(*arguments))


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("1. e4 e5 2. Ke3 *", (), "game 1, line 1: 'Ke3' is not a legal move"),
        ("1. e4 *", ("--game", "2"), "has no game number 2: it has 1"),
        ("", (), "has no game number 1: it has none"),
        ('[Variant "Bughouse"]\n\n1. e4 *', (), "no variant 'Bughouse'"),
    ],
)
def test_an_unusable_pgn_file_is_named(
    run: Run, tmp_path: Path, text: str, arguments: tuple[str, ...], said: str
) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(text)
    line = refusal(run("play", "--pgn", str(path), *arguments))
    assert said in line
    assert str(path) in line


def test_what_cannot_be_read_in_a_variation_does_not_keep_a_game_from_its_end(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "annotated.pgn"
    path.write_text("1. e4 (1. d4 -- 2. c4 {with a plan}) (1. Ke5) 1... e5 *")
    answer = run("play", "--black", "human", "--pgn", str(path), typed="fen\n")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.rstrip().endswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")


def test_a_closed_pipe_is_no_error() -> None:
    command = f"'{sys.executable}' -P -m engine perft --depth 2 | head -1"
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    assert answer.stderr == ""
