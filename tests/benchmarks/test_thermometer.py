"""What a suite's lines mean, and that the engine is really asked."""

from pathlib import Path

import chess
import chess.engine
import pytest

from tests.benchmarks.thermometer import OURS, Question, questions, read

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


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    suite = tmp_path / "suite.epd"
    suite.write_text(f"{MATE}\n6k1/5ppp/8/8/8/8/8/K3R3 w - - bm Qa8;\n")
    with pytest.raises(ValueError, match=r"suite\.epd:2: "):
        list(questions(suite))


def test_the_engine_is_asked_about_every_position(tmp_path: Path) -> None:
    suite = tmp_path / "suite.epd"
    suite.write_text(f"# two mates in one, and a rook to be lost\n{MATE}\n{POINTS}\n{BLUNDER}\n")
    with chess.engine.SimpleEngine.popen_uci(OURS.split(), timeout=100) as engine:
        reading = read(suite, engine, nodes=500)
    assert str(reading) == "3 of 3 solved, 12 of 12 points (100.0 %)"
