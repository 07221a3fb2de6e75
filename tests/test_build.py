"""Compiling: a compiler that fails is named in one line, with the cure; an edit compiles what depends on it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import engine
from engine._build import BUILD

ROOT = Path(__file__).parent.parent
FAILING_COMPILER = "#!/bin/sh\nexit 1\n"
HEADER = "# cython: language_level=3\n"
# What is tested is which files are compiled, not how: a compiler that writes an empty file takes no time.
QUICK_COMPILER = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
: >"$2"
"""
MODULES = {
    "leaf.py": f"{HEADER}VALUE = 1\n",
    "leaf.pxd": "cdef int VALUE\n",
    "user.py": f"{HEADER}from cython.cimports.engine.core.leaf import VALUE\n",
    "tuned.py": f"{HEADER}from cython.cimports.engine.core.params import MARGIN\nprint(MARGIN)\n",
    "params.py": "MARGIN = 5\n",
    "params.pxd": 'cdef extern from "params.h":\n    const int MARGIN\n',
    "plain.py": "VALUE = 2\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a build needs; a few small modules stand for all."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "engine" / "core").mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", "engine/_build.py"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "engine" / "__init__.py").write_text('__version__ = "0"\n')
    (folder / "engine" / "core" / "__init__.py").touch()
    for name, text in MODULES.items():
        (folder / "engine" / "core" / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def failures(folder: Path) -> list[tuple[str, list[str]]]:
    """What two builds say, the first with a compiler that fails and the second without one; and what each leaves."""
    found = []
    for compiler in (FAILING_COMPILER, None):
        answer = build(folder, compiler)
        assert answer.returncode != 0
        made = sorted(path.name for suffix in ("c", "so") for path in folder.rglob(f"*.{suffix}"))
        found.append((answer.stderr.splitlines()[-1], made))
    return found


@pytest.fixture(scope="module")
def built(folder: Path, failures: list[tuple[str, list[str]]]) -> Path:
    """The folder after those and a build that succeeds, which need to translate its modules only once."""
    assert failures
    assert build(folder, QUICK_COMPILER).returncode == 0
    return folder


@pytest.fixture
def checkout(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "checkout")


def build(checkout: Path, compiler: str | None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Build with this script in place of gcc. Its name stays, as another one would have all translated again."""
    script = checkout / "cc"
    script.unlink(missing_ok=True)
    if compiler is not None:
        script.write_text(compiler)
        script.chmod(0o755)
    environment = {**os.environ, "ENGINE_PURE": "", "CC": "./cc", **variables}
    command = [sys.executable, "engine/_build.py"]
    return subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def compiled_by_edits(checkout: Path, edits: dict[str, str], *removed: str) -> list[str]:
    """Return the modules that are compiled after these files have changed, and others were removed."""
    before = {path: path.stat().st_mtime_ns for path in (checkout / BUILD / "lib").rglob("*.so")}
    for name, text in edits.items():
        (checkout / "engine" / "core" / name).write_text(text)
    assert sorted(engine.edited_sources(checkout)) == sorted(f"engine/core/{it}" for it in (*removed, *edits))
    assert build(checkout, QUICK_COMPILER).returncode == 0
    assert engine.edited_sources(checkout) == []
    return sorted(path.name.split(".")[0] for path, time in before.items() if path.stat().st_mtime_ns != time)


def test_a_compiler_that_fails_or_is_missing_fails_the_build_which_names_the_cure(
    failures: list[tuple[str, list[str]]]
) -> None:
    for last, made in failures:
        assert last.startswith("error: the chess engine could not be compiled")
        assert "apt install gcc python3-dev" in last
        assert not [name for name in made if name.endswith(".so")]
    assert "leaf.c" not in failures[0][1], "it fails before the translation, which takes a minute"


def test_an_error_in_a_source_is_the_last_that_the_build_says(checkout: Path) -> None:
    source = checkout / "engine" / "core" / "user.py"
    source.write_text(f"{HEADER}from cython.cimports.engine.core.params import NO\n")
    answer = build(checkout, QUICK_COMPILER)
    assert answer.returncode != 0
    assert "user.py:2:0: 'engine/core/params/NO.pxd' not found" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert answer.stderr.splitlines()[-1].startswith("error: Cython found the errors above")


def test_an_edit_compiles_the_file_and_its_dependents_only(checkout: Path) -> None:
    modules = {path.name.split(".")[0] for path in (checkout / "engine").rglob("*.so")}
    assert modules == {"_cyutility", "leaf", "user", "tuned"}
    edits = {"leaf.py": MODULES["leaf.py"] + "\n", "params.py": "MARGIN = 6\n"}
    assert compiled_by_edits(checkout, edits) == ["leaf", "tuned"]
    (checkout / "engine" / "core" / "user.py").touch()
    assert engine.edited_sources(checkout) == []
    (checkout / "engine" / "core" / "tuned.py").unlink()
    assert engine.edited_sources(checkout) == ["engine/core/tuned.py"]
    assert compiled_by_edits(checkout, {"leaf.pxd": MODULES["leaf.pxd"] + "\n"}, "tuned.py") == ["leaf", "user"]
    assert not list((checkout / "engine").rglob("tuned.*.so"))


def test_the_locale_does_not_say_how_sources_are_read(checkout: Path) -> None:
    (checkout / "engine" / "core" / "plain.py").write_text("# ½\n", encoding="utf-8")
    answer = build(checkout, QUICK_COMPILER, LC_ALL="POSIX", PYTHONUTF8="0")
    assert answer.returncode == 0, answer.stderr


def test_an_installed_engine_looks_for_no_edits(tmp_path: Path) -> None:
    assert engine.edited_sources(tmp_path) == []
