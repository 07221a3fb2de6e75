"""The C that Cython makes of the rooms holds none of the traps that no compiler reports and no other test sees."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import engine

SOURCES = Path(engine.__file__).parent
PROJECT = SOURCES.parent / "pyproject.toml"

# Functions that cannot raise but hold something that could: the error would be printed as "Exception ignored" and 0
# returned. Each with the reason why it never comes to that.
HARMLESS = {
    "engine.history.nudged": "divides by HISTORY_LIMIT, which is not 0",
    "engine.history.History.correction": "divides by CORRECTION_SCALE, which is not 0",
    "engine.history.History.learn_error": "divides by CORRECTION_WEIGHT, which is not 0",
    "engine.network.Accumulators.score": "divides by CLAMP and by OUTPUT_UNIT, which are not 0",
    "engine.pruning.null_move_reduction": "divides by NULL_MOVE_DIVISOR, which is not 0",
    "engine.pruning.late_move_reduction": "divides by LATE_MOVE_HISTORY, which is not 0",
    "engine.tuning.features.expected": "divides by 1 + exp(x), which is not 0",
    "engine.tuning.features.target": "divides by the unit of the scores, which is not 0",
    "engine.tuning.float_net.FloatNet.add_record": "divides by the men of a bucket, which are not 0",
    "engine.tuning.samples.Samples.keep": "divides by the full phase, which is not 0",
    "engine.tuning.samples.Samples.target": "divides by the unit of the scores, which is not 0",
    "engine.tuning.samples.expected": "divides by 1 + exp(x), which is not 0",
    "engine.search.Search.pv_node": "its assert counts in the plain mode only: asserts are compiled away",
    "engine.syzygy_codes.Codes.__del__": "closes a file that was only read",
    "engine.syzygy_table.Table.is_ready": "opens the file, which keeps its errors to itself",
    "engine.search.Search.begin_root_move": "calls the listener, whose errors have nowhere else to go",
}
# What a plain 1 is shifted by: never so far that an int of 32 bits would overflow.
SMALL_SHIFTS = {
    "right": "a castling right, 0 to 3",
    "shift": "the bits of a magic index, 12 at most",
    "PHASE_SHIFT": "a constant, 6",
    "block_bits": "the bytes of a block in a table of endings, 12 bits at most",
    "DIGIT": "a constant, times a digit: 10 at most",
}


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], str]:
    """The C text of each room, and what Cython said."""
    place = tmp_path_factory.mktemp("generated")
    shutil.copytree(SOURCES, place / "engine", ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__"))
    rooms = [room["sources"][0] for room in tomllib.loads(PROJECT.read_text())["tool"]["setuptools"]["ext-modules"]]
    answer = subprocess.run(
        [sys.executable, "-m", "cython", *rooms], cwd=place, capture_output=True, text=True, timeout=300, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return {room: (place / room).with_suffix(".c").read_text() for room in rooms}, answer.stdout + answer.stderr


def test_no_call_takes_the_interpreter_lock_to_look_for_an_error(generated: tuple[dict[str, str], str]) -> None:
    """Without `noexcept` in the .pxd a call costs 27 ns instead of 1.6, and threads wait for each other."""
    texts, said = generated
    for room, text in texts.items():
        assert not re.findall(r"__pyx_f_.*ErrOccurredWithGIL\(\)", text), room
    assert "always require the GIL" not in said


def test_only_known_functions_could_swallow_an_error(generated: tuple[dict[str, str], str]) -> None:
    """A division or an index that may fail in a function that cannot raise loses its error."""
    texts, _ = generated
    found = {name for text in texts.values() for name in re.findall(r'  __Pyx_WriteUnraisable\("([\w.]+)"', text)}
    assert found == set(HARMLESS)


def test_a_plain_one_is_shifted_by_little(generated: tuple[dict[str, str], str]) -> None:
    """`1 << square` is an int in C: from square 31 on it is the wrong bit, where plain Python has the right one."""
    texts, _ = generated
    shifts = {name for text in texts.values() for name in re.findall(r"\(1 << [^;\n]{0,20}?__pyx_v_(\w+)", text)}
    assert {re.sub(r"^(6engine_[a-z0-9_]*_)(?=[A-Z])", "", name) for name in shifts} == set(SMALL_SHIFTS)


def test_division_rounds_as_in_python() -> None:
    """With `cdivision` -7 // 2 would be -3 compiled and -4 plain."""
    for source in (*SOURCES.glob("*.py"), *SOURCES.glob("*.pxd")):
        assert "cdivision" not in source.read_text(), source
