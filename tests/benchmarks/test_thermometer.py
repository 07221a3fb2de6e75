"""What a suite's lines mean, and that the engine is really asked."""

from pathlib import Path

import chess
import chess.engine
import pytest

from tests.benchmarks.arguments import OURS, running
from tests.benchmarks.children import ChildFailed
from tests.benchmarks.thermometer import Question, main, questions, read

MATE = '6k1/5ppp/8/8/8/8/8/K3R3 w - - bm Re8#; id "back rank";'
BLUNDER = '6k1/5ppp/8/8/8/8/8/K3R3 w - - am Re7;'
POINTS = '6k1/5ppp/8/8/8/8/8/K3R3 w - - bm Re8#; c8 "10 3"; c9 "e1e8 e1d1";'


@pytest.mark.parametrize(
    ("line", "move", "worth"),
    [
        (MATE, "e1e8", 1),
        (MATE, "e1e7", 0),
        (BLUNDER, "e1e7", 0),
        (BLUNDER, "e1e8", 1),
        (POINTS, "e1e8", 10),
        (POINTS, "e1d1", 3),
        (POINTS, "e1c1", 0),
    ],
)
def test_a_move_scores_as_the_line_says(line: str, move: str, worth: int) -> None:
    assert Question.of_epd(line).worth(chess.Move.from_uci(move)) == worth


def test_a_line_without_moves_is_refused() -> None:
    with pytest.raises(ValueError, match="neither bm nor am"):
        Question.of_epd("6k1/5ppp/8/8/8/8/8/K3R3 w - - ce 20;")


@pytest.mark.parametrize(
    ("c8", "c9", "found"), [("10", "e1e8 e1d1", "1 for 2"), ("10 3", "e1e8", "2 for 1"), (" ", " ", "0 for 0")]
)
def test_points_without_moves_are_refused(c8: str, c9: str, found: str) -> None:
    with pytest.raises(ValueError, match=f"expected a number in c8 for each move in c9, found {found}"):
        Question.of_epd(f'6k1/5ppp/8/8/8/8/8/K3R3 w - - c8 "{c8}"; c9 "{c9}";')


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--nodes 0", "--nodes: expected a whole number from 1 on, found '0'"),
        ("--nodes -5", "--nodes: expected a whole number from 1 on, found '-5'"),
        ("--engine=", "--engine: expected a command, found ''"),
        ("--engine='", '--engine: No closing quotation: "\'"'),
        ("--engine false", "error: false: engine process d"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    options: str, complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["thermometer", "suite.epd", *options.split()])
    with pytest.raises(SystemExit):
        main()
    assert complaint in capsys.readouterr().err


def test_a_program_that_says_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object, **options: object) -> chess.engine.SimpleEngine:
        raise TimeoutError

    monkeypatch.setattr(chess.engine.SimpleEngine, "popen_uci", silent)
    with pytest.raises(ChildFailed, match="cat did not answer in time"), running("cat"):
        pass


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    suite = tmp_path / "suite.epd"
    suite.write_text(f"{MATE}\n6k1/5ppp/8/8/8/8/8/K3R3 w - - bm Qa8;\n")
    with pytest.raises(ValueError, match=r"suite\.epd:2: "):
        list(questions(suite))


def test_the_engine_is_asked_about_every_position(tmp_path: Path) -> None:
    suite = tmp_path / "suite.epd"
    suite.write_text(f"# two mates in one, and a rook to be lost\n{MATE}\n{POINTS}\n{BLUNDER}\n")
    with running(OURS, 100) as engine:
        reading = read(suite, engine, nodes=500)
    assert str(reading) == "3 of 3 solved, 12 of 12 points (100.0 %)"
