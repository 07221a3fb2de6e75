"""UCI_Variant, as python-chess uses it and line by line."""

import chess
import chess.engine
import chess.variant
import pytest

from engine.evaluation.variant_weights import VALUES
from tests.engine.uci_session import Session, converse, converse_with_process
from tests.engine.variants.games import UCI_NAMES


def test_the_option_lists_all_variants() -> None:
    (option,) = [line for line in converse("uci") if "UCI_Variant" in line]
    names = ["chess", *UCI_NAMES.values()]
    assert option == f"option name UCI_Variant type combo default chess {' '.join(f'var {name}' for name in names)}"


def test_python_chess_plays_all_variants_with_us(client: chess.engine.SimpleEngine) -> None:
    for name in UCI_NAMES.values():
        board = chess.variant.find_variant(name)()
        while board.ply() < 12 and not board.is_game_over():
            played = client.play(board, chess.engine.Limit(nodes=200))
            board.push(played.move)           # asserts that it is pseudo-legal
        assert board.is_valid()


def test_a_variant_begins_with_its_own_start() -> None:
    lines = converse("setoption name UCI_Variant value horde", "d", "position startpos moves a4a5", "d")
    boards = [line for line in lines if line.startswith("Fen: ")]
    assert boards[0].startswith("Fen: rnbqkbnr/pppppppp/8/1PP2PP1/PPPPPPPP/")
    assert boards[1].split()[2] == "b"


def test_back_to_standard_chess_the_network_plays_again() -> None:
    lines = converse(
        "setoption name UCI_Variant value atomic", "setoption name UCI_Variant value chess",
        "position startpos moves e2e4",
    )  # fmt: skip
    assert lines[0].endswith(" for atomic")
    assert " for " not in lines[1]
    assert len(lines) == 2


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("atomik", "found 'atomik'; did you mean atomic?"),
        ("threecheck", "found 'threecheck'"),
        ("", "found ''"),
    ],
)
def test_an_unknown_variant_is_refused(value: str, answer: str) -> None:
    lines = converse(f"setoption name UCI_Variant value {value}", "d")
    assert lines[0].startswith("info string error: expected one of chess crazyhouse kingofthehill 3check")
    assert answer in lines[0]
    assert "Fen: rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1" in lines


def test_drops_are_read_and_written(session: Session) -> None:
    session.say("setoption name UCI_Variant value crazyhouse")
    session.say("position fen 6k1/5ppp/8/8/8/8/8/4K3[RP] w - - 0 1 moves P@e4 g8f8")
    assert "Fen: 5k2/5ppp/8/8/4P3/8/8/4K3/R" in session.ask("d", "Fen: ")[-1]
    assert session.ask("go depth 4", "bestmove")[-1].startswith("bestmove R@")
    assert "'P@e4' is not legal here" in session.ask("position startpos moves P@e4", "info string error")[-1]


def test_chess960_castling_of_a_variant(session: Session) -> None:
    session.say("setoption name UCI_Chess960 value true")
    session.say("setoption name UCI_Variant value atomic")
    session.say("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves e1h1")
    assert "Fen: 4k3/8/8/8/8/8/8/5RK1 b - - 1 1" in session.ask("d", "Fen: ")[-1]


@pytest.mark.parametrize(
    ("variant", "position", "score"),
    [
        ("antichess", "8/8/8/p7/8/8/P7/8 w - - 0 1 moves a2a3 a5a4", "mate 1"),     # White cannot move
        ("antichess", "8/8/8/8/3p4/2P5/8/8 w - - 0 1 moves c3d4", "mate 1"),        # Black has no piece left
        ("racingkings", "8/1K6/8/8/7k/8/8/8 w - - 0 1 moves b7b8", "mate 0"),
        ("racingkings", "8/8/1K5k/8/8/8/8/8 w - - 0 1 moves b6b7 h6h7 b7b8 h7g6", "mate 1"),
        ("racingkings", "8/1K5k/8/8/8/8/8/8 w - - 0 1 moves b7b8 h7h8", "cp 0"),
        ("atomic", "4k3/3p4/8/8/8/8/8/3QK3 w - - 0 1 moves d1d7", "mate 0"),
    ],
)
def test_a_game_that_is_over_is_won_for_the_right_side(variant: str, position: str, score: str) -> None:
    lines = converse(f"setoption name UCI_Variant value {variant}", f"position fen {position}", "go depth 3")
    assert lines[-2:] == [f"info depth 0 score {score}", "bestmove 0000"]


def test_a_search_among_dozens_of_queens_ends() -> None:
    """The look for a win by one move, which heard neither the clock nor `stop`, took minutes here."""
    fen = "2qq4/3kP3/qqq3qP/3PP1PP/q1P1P2K/2q1P2P/qPqqqPPq/q5q1[] b - - 99 1"
    lines = converse_with_process(
        "setoption name UCI_Variant value crazyhouse", f"position fen {fen}", "go nodes 100", "go infinite", "stop"
    )
    assert [line.split()[0] for line in lines].count("bestmove") == 2


def test_no_wdl_is_shown_in_variants_whose_draws_no_model_knows(session: Session) -> None:
    session.say("setoption name UCI_ShowWDL value true")
    for variant, is_shown in (("atomic", False), ("chess", True)):
        session.say(f"setoption name UCI_Variant value {variant}")
        lines = session.ask("go depth 2", "bestmove")
        assert any(" score cp " in line for line in lines)
        assert any(" wdl " in line for line in lines) == is_shown


def test_the_evaluation_of_a_variant_is_explained() -> None:
    position = "position fen 4k3/8/8/8/8/8/8/4K2R w K - 2+3 0 1"
    lines = converse("setoption name UCI_Variant value 3check", position, "eval")
    own = VALUES["threeCheck"]["own"]
    one_check_given = own[1][0] + own[16][0]           # the second: and no attack on the king
    assert any(line.startswith("the variant's own") and line.split()[3] == str(one_check_given) for line in lines)
