"""The C that Cython writes holds none of the traps that no compiler reports and no other test sees."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import engine
from engine._build import BUILD, compiled_sources

SOURCES = Path(engine.__file__).parent
MODULES = [str(path.relative_to(SOURCES.parent)) for path in compiled_sources(SOURCES)]

# Functions that cannot raise but hold something that could: the error would be printed as "Exception ignored" and 0
# returned. Each with the reason why it never comes to that.
HARMLESS = {
    "engine.evaluation.endings.scaled_for_drawishness": "divides by SCALE_NORMAL, which is not 0",
    "engine.evaluation.evaluate.evaluate": "divides by SCALE_NORMAL, which is not 0",
    "engine.search.history.gravity": "divides by HISTORY_LIMIT, which is not 0",
    "engine.search.history.History.correction": "divides by CORRECTION_SCALE, which is not 0",
    "engine.search.history.History.update_correction": "divides by CORRECTION_WEIGHT, which is not 0",
    "engine.search.search_stack.faded": "divides by FIFTY_MOVES_FADING, which is not 0",
    "engine.evaluation.style_bonus.StyleBonus.bonus": "divides by FULLY_BEHIND, which is not 0",
    "engine.evaluation.style_bonus.StyleBonus.added_to": "divides by STYLE_FAR_BEHIND - STYLE_BEHIND, which is not 0",
    "engine.evaluation.network.Network.score": "divides by CLAMP and by OUTPUT_UNIT, which are not 0",
    "engine.search.move_picker.MovePicker.next_good_tactical": "divides by GOOD_CAPTURE_HISTORY, which is not 0",
    "engine.search.levels.vision.chance_by_victim": "divides by 300 and the value of a piece, which is not 0",
    "engine.search.pruning.fail_high_score": "divides by the depth and one, which is not 0",
    "engine.search.pruning.null_move_reduction": "divides by NULL_MOVE_SURPLUS, which is not 0",
    "engine.search.pruning.late_move_reduction": "divides by LATE_MOVE_HISTORY, which is not 0",
    "engine.training.float_net.adam_move": "divides by 1 - 0.9**count and a root plus TINY, which are not 0",
    "engine.training.features.expected": "divides by 1 + exp(x), which is not 0",
    "engine.training.features.target": "divides by the unit of the scores, which is not 0",
    "engine.training.samples.Samples.keep": "divides by the full phase, which is not 0",
    "engine.training.linear_samples.LinearSamples.target": "divides by the unit of the scores, which is not 0",
    "engine.search.search.Search.pv_node": "its assert counts in the plain mode only: asserts are compiled away",
    "engine.syzygy.table.Table.is_ready": "opens the file, which keeps its errors to itself",
    "engine.search.search.Search.begin_root_move": "calls the listener, whose errors have nowhere else to go",
}
# What a plain 1 is shifted by: never so far that an int of 32 bits would overflow.
SMALL_SHIFTS = {
    "right": "a castling right, 0 to 3",
    "shift": "the bits of a magic index, 12 at most",
    "PHASE_SHIFT": "a constant, 6",
    "block_bits": "the bytes of a block of an endgame table, 12 bits at most",
    "DIGIT": "a constant, times a digit: 10 at most",
}


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], str]:
    """The C text of each module, and what Cython said: what the build left, unless a source was edited since."""
    folder, said = SOURCES.parent / BUILD, ""
    if engine.edited_sources() or not all((folder / name).with_suffix(".c").exists() for name in MODULES):
        folder = tmp_path_factory.mktemp("generated")
        shutil.copytree(SOURCES, folder / "engine", ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__"))
        command = [sys.executable, "-m", "cython", *MODULES]
        answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800, check=False)
        assert answer.returncode == 0, answer.stderr
        said = answer.stdout + answer.stderr
    return {name: (folder / name).with_suffix(".c").read_text() for name in MODULES}, said


def test_no_call_takes_the_interpreter_lock_to_look_for_an_error(generated: tuple[dict[str, str], str]) -> None:
    """Without `noexcept` in the .pxd a call costs 27 ns instead of 1.6, and threads wait for each other."""
    texts, said = generated
    for name, text in texts.items():
        assert not re.findall(r"__pyx_f_.*ErrOccurredWithGIL\(\)", text), name
    assert "always require the GIL" not in said


def test_only_known_functions_could_swallow_an_error(generated: tuple[dict[str, str], str]) -> None:
    """A division or an index that may fail in a function that cannot raise loses its error."""
    texts, _ = generated
    found = {name for text in texts.values() for name in re.findall(r'  __Pyx_WriteUnraisable\("([\w.]+)"', text)}
    assert found == set(HARMLESS)


def test_a_plain_one_is_shifted_by_little(generated: tuple[dict[str, str], str]) -> None:
    """`1 << square` is an int in C: from square 31 on it is the wrong bit, where plain Python has the right one."""
    texts, _ = generated
    plain_one = re.compile(r"\(1 << (?:[^;\n]{0,20}?__pyx_v_|(?=[A-Z]))(\w+)")
    shifts = {name for text in texts.values() for name in plain_one.findall(text)}
    assert {re.sub(r"^(6engine_[a-z0-9_]*_)(?=[A-Z])", "", name) for name in shifts} == set(SMALL_SHIFTS)


def test_every_compiled_class_is_declared_in_its_pxd() -> None:
    """Without `cdef class` its methods are Python's, and C code that has the base class calls those of the base."""
    found = []
    for source in SOURCES.glob("**/*.py"):
        compiled = re.findall(r"^@cython\.cclass\nclass (\w+)", source.read_text(), re.M)
        layout = source.with_suffix(".pxd")
        declared = re.findall(r"^cdef class (\w+)", layout.read_text(), re.M) if layout.exists() else []
        assert set(compiled) <= set(declared), source
        found += compiled
    assert {"Position", "Search"} <= set(found)


def test_division_rounds_as_in_python() -> None:
    """With `cdivision` -7 // 2 would be -3 compiled and -4 plain."""
    for source in (*SOURCES.glob("**/*.py"), *SOURCES.glob("**/*.pxd")):
        assert "cdivision" not in source.read_text(), source
