"""A new term needs three edits: its weight, its function and its place in the sum."""

import json
import shutil
from pathlib import Path

import engine
from tests.scripts import run_python

EDITS = {
    "weights.py": [('    "hanging": (1,', '    "trapped": (1, Group.PIECES),\n    "hanging": (1,')],
    "evaluate.py": [
        ("def threats(", 'def trapped():\n    return WEIGHTS[first_weight("trapped")]\n\n\ndef threats('),
        ("        + rooks(position, us)\n", "        + rooks(position, us) + (trapped() if us == WHITE else 0)\n"),
    ],
}
PROGRAM = """
import json
from engine.core.fen import STARTING_FEN, parse_fen
from engine.evaluation.evaluate import evaluate, use_values
from engine.evaluation.weights import COUNT, default_values
from engine.training.tuner import FitProgress, TunerSettings
position = parse_fen(STARTING_FEN)[0]
untuned = evaluate(position)
values = default_values()
begun = len(FitProgress.begin(TunerSettings(), 1.0, 1).start) - 2 * COUNT
use_values({**values, "trapped": [(40, 40)]})
print(json.dumps([values["trapped"], begun, evaluate(position) - untuned]))
"""


def test_a_new_term_starts_at_zero_until_it_is_tuned(tmp_path: Path) -> None:
    source = Path(engine.__file__).parent
    shutil.copytree(source, tmp_path / "engine", ignore=shutil.ignore_patterns("*.so", "*.c"))
    for name, edits in EDITS.items():
        path = tmp_path / "engine" / "evaluation" / name
        text = path.read_text()
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path.write_text(text)
    done = run_python(PROGRAM, ENGINE_PURE="1", PYTHONPATH=str(tmp_path))
    assert json.loads(done) == [[[0, 0]], 0, 40]
