"""Compiled and plain: the same answers, and never plain by accident."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import engine
from engine.facade import build_mode
from tests.engine.positions import OWN_PERFT, read_suite

# By the hand-written evaluation, and a few by the network.
PROBE = """
import json
from engine.facade import Board, Engine, Limits, build_mode, perft
from engine.bench import POSITIONS
answers = []
searches = [(fen, depth, "none") for fen, depth in zip(POSITIONS[::6], (3, 3, 4, 4, 4, 5, 5, 5, 5), strict=True)]
for fen, depth, evaluation in searches + [(fen, 2, "<shipped>") for fen in POSITIONS[::12]]:
    board = Board(fen)
    engine = Engine(hash_mb=1)
    engine.set_evaluation(evaluation)
    engine.set_position(board)
    result = engine.go(Limits(depth=depth))
    answers.append((fen, result.best_move, result.report.score_cp, result.report.mate_in, result.report.nodes,
                    result.report.pv, board.evaluate(), perft(board.position, 2)))
print(json.dumps([build_mode(), answers]))
"""


# Random games and perft of our own positions, Chess960 too: every key is compared with that of a fresh set-up.
WALK = """
import json, random, sys
from engine.facade import Board, build_mode, perft
rng = random.Random(7)
counts, keys = [], []
for line in open(sys.argv[1]):
    if not line.startswith("#"):
        board = Board(line.split(";")[0].strip(), chess960=True)
        counts.append(perft(board.position, 2))
        for _ in range(12):
            moves = board.legal_moves()
            if not moves:
                break
            board.push(rng.choice(moves))
            assert board.key() == Board(board.fen(), chess960=True).key(), board.fen()
            keys.append(board.key())
print(json.dumps([build_mode(), counts, keys]))
"""

# The textbook's searches, by our own evaluation and by the articles' terms.
LESSONS = """
import json
from engine.facade import Board, build_mode
from engine.lessons.methods import Method, search
from engine.lessons.styles import STYLES
board = Board("r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 8")
outcomes = [search(board, method, 2, style) for method in list(Method)[:6] for style in (None, STYLES["cce"])]
print(json.dumps([build_mode(), [(outcome.nodes, str(outcome.judgement), outcome.line) for outcome in outcomes]]))
"""


def run_probe(pure: str, program: str = PROBE, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ENGINE_PURE": pure}
    command = [sys.executable, "-P", "-c", program, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.skipif(build_mode() == "plain", reason="the engine runs as plain Python")
def test_compiled_and_plain_find_the_same_move_score_and_nodes() -> None:
    compiled, plain = run_probe(""), run_probe("1")
    assert compiled.stderr == plain.stderr == ""
    compiled_mode, compiled_answers = json.loads(compiled.stdout)
    plain_mode, plain_answers = json.loads(plain.stdout)
    assert (compiled_mode, plain_mode) == ("compiled", "plain")
    assert compiled_answers == plain_answers


@pytest.mark.skipif(build_mode() == "plain", reason="the engine runs as plain Python")
def test_asserts_hold_in_plain_walks_and_both_modes_count_the_same() -> None:
    compiled, plain = run_probe("", WALK, str(OWN_PERFT)), run_probe("1", WALK, str(OWN_PERFT))
    assert compiled.stderr == plain.stderr == ""
    compiled_mode, *compiled_answers = json.loads(compiled.stdout)
    plain_mode, *plain_answers = json.loads(plain.stdout)
    assert (compiled_mode, plain_mode) == ("compiled", "plain")
    assert compiled_answers == plain_answers
    known = [counts[2] for _, counts in read_suite(OWN_PERFT)]
    assert compiled_answers[0] == known


@pytest.mark.skipif(build_mode() == "plain", reason="the engine runs as plain Python")
def test_the_textbooks_searches_find_the_same_in_both_modes() -> None:
    compiled, plain = run_probe("", LESSONS), run_probe("1", LESSONS)
    assert compiled.stderr == plain.stderr == ""
    compiled_mode, compiled_outcomes = json.loads(compiled.stdout)
    plain_mode, plain_outcomes = json.loads(plain.stdout)
    assert (compiled_mode, plain_mode) == ("compiled", "plain")
    assert compiled_outcomes == plain_outcomes


def test_an_engine_that_is_not_compiled_refuses_to_run_plain_by_accident(tmp_path: Path) -> None:
    copy = tmp_path / "engine"
    copy.mkdir()
    for source in Path(engine.__file__).parent.rglob("*.py"):
        (copy / source.relative_to(Path(engine.__file__).parent)).parent.mkdir(parents=True, exist_ok=True)
        (copy / source.relative_to(Path(engine.__file__).parent)).write_bytes(source.read_bytes())
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import engine.facade"
    refused = run_probe("", program)
    assert refused.returncode != 0
    assert "pip install" in refused.stderr.splitlines()[-1]
