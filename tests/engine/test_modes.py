"""Compiled and plain mode give the same answers, and plain mode is never used by accident."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.facade import build_mode
from tests.engine.positions import OWN_PERFT, read_suite
from tests.scripts import run_python

# With the hand-written evaluation, and a few with the network. Engines are few, as plain Python needs long to make one.
SEARCHES = """
import json
from engine.facade import NAMED_STYLES, Board, Engine, Limits, build_mode, perft
from engine.bench import POSITIONS
answers = []
engine = Engine(hash_mb=1)
searches = [(fen, depth, "none") for fen, depth in zip(POSITIONS[18::6], (4, 4, 4, 4, 5, 5), strict=True)]
searches += [(fen, depth, "<shipped>") for fen, depth in zip(POSITIONS[::24], (1, 2, 2), strict=True)]
for fen, depth, evaluation in searches:
    board = Board(fen)
    engine.set_evaluation(evaluation)
    engine.set_position(board)
    result = engine.go(Limits(depth=depth))
    answers.append((fen, result.best_move, result.report.score_cp, result.report.mate_in, result.report.nodes,
                    result.report.pv, board.evaluate(), perft(board.position, 2)))
engine.set_evaluation("none")
for style in NAMED_STYLES:
    engine.set_named_style(style)
    engine.set_position(Board(POSITIONS[12]))
    report = engine.go(Limits(depth=2)).report
    answers.append((style, report.score_cp, report.nodes, report.pv))
print(json.dumps([build_mode(), answers]))
"""


# Random games and perft from our own positions, Chess960 included; every key must equal that of a fresh set-up.
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

# Random games of the variants, with some searches; every key must equal that of a fresh set-up.
VARIANTS = """
import json, random
from engine.facade import Board, Engine, Limits, build_mode
rng = random.Random(7)
answers = []
engine = Engine(hash_mb=1)
variants = ("crazyhouse", "kingOfTheHill", "threeCheck", "antichess", "atomic", "horde", "racingKings")
engine.set_evaluation("<shipped>")
for variant in variants:
    board = Board(variant=variant)
    engine.set_position(board)
    learnt = engine.go(Limits(nodes=20)).report
    answers.append((learnt.score_cp, learnt.nodes, learnt.pv, engine.network_score_cp(board)))
engine.set_evaluation("none")
for variant in variants:
    board = Board(variant=variant)
    for ply in range(40):
        moves = board.legal_moves()
        if not moves:
            break
        if ply % 13 == 6:
            engine.set_position(board)
            result = engine.go(Limits(depth=3, nodes=600))
            found = result.report
            answers.append((result.best_move, found and (found.score_cp, found.mate_in, found.nodes, found.pv)))
            answers.append(board.evaluate())
        takes = [move for move in moves if board.piece_at(move[2:4])]
        board.push(rng.choice(takes or moves))
        assert board.key() == Board(board.fen(), variant=variant).key(), board.fen()
        answers.append((board.fen(), board.key(), moves, str(board.outcome())))
        answers.append([board.has_insufficient_material(side) for side in ("white", "black")])
    answers.append(sum(board.perft(2)))
print(json.dumps([build_mode(), answers]))
"""

# The textbook searches with our own evaluation and with the articles' terms.
LESSONS = """
import json
from engine.facade import Board, build_mode
from engine.lessons.methods import Method, search
from engine.lessons.styles import STYLES
board = Board("1k1rr3/1b3p2/p1p5/P2p4/2PPp1p1/4P1P1/5PB1/3RR1K1 w - - 0 21")
outcomes = [search(board, method, 2, style) for method in list(Method)[:6] for style in (None, STYLES["cce"])]
print(json.dumps([build_mode(), [(outcome.nodes, str(outcome.white_score), outcome.line) for outcome in outcomes]]))
"""

# Limited strength: the small search and the full one.
LEVELS = """
import json
from engine.facade import Board, Engine, Limits, build_mode
from engine.bench import POSITIONS
answers = []
engine = Engine(hash_mb=1)
engine.set_evaluation("none")
for number, (fen, rating) in enumerate(zip(POSITIONS[::7], (600, 900, 1200, 1500, 1700, 2300, 2850, 1000))):
    engine.limit_strength(rating, seed=number)
    engine.set_position(Board(fen))
    result = engine.go(Limits(nodes=300))
    answers.append((rating, result.best_move, result.report.score_cp, result.report.nodes, result.report.pv))
print(json.dumps([build_mode(), answers]))
"""


# Positions of a search tree, as self-play keeps them.
TREES = """
import json
from engine.facade import Board, build_mode
from engine.selfplay.games import FixedNodesPlayer
player, board = FixedNodesPlayer("none", 400), Board("4k3/pp3ppp/8/8/8/8/PPP2PPP/4K3 w - - 0 1")
player.search(board)
print(json.dumps([build_mode(), [record.hex() for record in player.tree_records(board, 3, 100)]]))
"""

# All plain constants and the compiled ones.
CONSTANTS = """
import re, sys
from pathlib import Path
import engine.lessons.plain, engine.search.search, engine.search.levels.level_search
modules = {name: vars(module) for name, module in sys.modules.items() if name.startswith("engine.")}
for module in modules.values():
    layout = Path(module["__file__"]).with_suffix(".pxd")
    for constant, value in re.findall(r"^    ([A-Z]\\w+) = (.+)", layout.read_text(), re.M) if layout.exists() else ():
        print(constant, module[constant], eval(value, module))
"""


PROGRAMS = {
    "searches": SEARCHES, "walks": WALK, "variants": VARIANTS, "textbook searches": LESSONS, "levels": LEVELS,
    "search trees": TREES,
}


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[Any, Any]]:
    """Return what all programs answer, compiled and plain, one after the other in one process of each mode."""
    if build_mode() == "plain":
        pytest.skip("the engine runs as plain Python")
    outputs = (run_python("".join(PROGRAMS.values()), str(OWN_PERFT), ENGINE_PURE=pure) for pure in ("", "1"))
    compiled, plain = (map(json.loads, output.splitlines()) for output in outputs)
    return dict(zip(PROGRAMS, zip(compiled, plain, strict=True), strict=True))


@pytest.mark.parametrize("program", PROGRAMS)
def test_compiled_and_plain_give_the_same_answers(program: str, answers: dict[str, tuple[Any, Any]]) -> None:
    (compiled_mode, *compiled_answers), (plain_mode, *plain_answers) = answers[program]
    assert (compiled_mode, plain_mode) == ("compiled", "plain")
    assert compiled_answers == plain_answers
    if program == "walks":
        assert compiled_answers[0] == [counts[2] for _, counts in read_suite(OWN_PERFT)]


def test_constants_of_plain_mode_are_those_of_compiled_code() -> None:
    constants = [line.split() for line in run_python(CONSTANTS, ENGINE_PURE="1").splitlines()]
    assert len(constants) > 20
    assert [found for found in constants if found[1] != found[2]] == []


def test_objects_of_plain_mode_have_the_fields_of_compiled_code() -> None:
    """An index beyond the end raises IndexError in plain mode only."""
    code = (
        "from engine.facade import Board\n"
        "position = Board(variant='crazyhouse').position\n"
        "print(len(position.board), len(position.undo_key), len(position.undo_variant), len(position.undo_fen_clock))\n"
        "print(position.fen_clock, position.extra)"
    )
    assert run_python(code, ENGINE_PURE="1").split() == ["64", "1024", "2048", "1024", "0", "0"]


def test_an_engine_that_is_not_compiled_refuses_to_run_plain_by_accident(tmp_path: Path) -> None:
    copy = tmp_path / "engine"
    shutil.copytree(Path(engine.__file__).parent, copy, ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__"))
    command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import engine.facade"]
    environment = {**os.environ, "ENGINE_PURE": ""}
    refused = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert refused.returncode != 0
    assert "pip install" in refused.stderr.splitlines()[-1]
