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


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a build needs, without anything built; a few small modules stand for all."""
    (tmp_path / "engine" / "core").mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", "engine/_build.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "engine" / "__init__.py").write_text('__version__ = "0"\n')
    (tmp_path / "engine" / "core" / "__init__.py").touch()
    for name, text in MODULES.items():
        (tmp_path / "engine" / "core" / name).write_text(text)
    return tmp_path


def build(checkout: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ENGINE_PURE": ""}
    command = [sys.executable, "engine/_build.py"]
    return subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def compiled_by_an_edit(checkout: Path, name: str, text: str) -> list[str]:
    """Return the modules that are compiled after the file has changed."""
    before = {path: path.stat().st_mtime_ns for path in (checkout / BUILD / "lib").rglob("*.so")}
    (checkout / "engine" / "core" / name).write_text(text)
    assert engine.edited_sources(checkout) == [f"engine/core/{name}"]
    assert build(checkout).returncode == 0
    assert engine.edited_sources(checkout) == []
    return sorted(path.name.split(".")[0] for path, time in before.items() if path.stat().st_mtime_ns != time)


@pytest.mark.parametrize("compiler", ["false", "no-such-compiler"])
def test_a_failed_compile_fails_the_build_and_names_the_cure(
    checkout: Path, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", compiler)
    answer = build(checkout)
    assert answer.returncode != 0
    last = answer.stderr.splitlines()[-1]
    assert last.startswith("error: the chess engine could not be compiled")
    assert "apt install gcc python3-dev" in last
    assert not list((checkout / "engine").rglob("*.so"))


def test_an_edit_compiles_the_file_and_its_dependents_only(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / "quick-cc").write_text(QUICK_COMPILER)
    (checkout / "quick-cc").chmod(0o755)
    monkeypatch.setenv("CC", str(checkout / "quick-cc"))
    assert build(checkout).returncode == 0
    built = {path.name.split(".")[0] for path in (checkout / "engine").rglob("*.so")}
    assert built == {"_cyutility", "leaf", "user", "tuned"}
    assert compiled_by_an_edit(checkout, "user.py", MODULES["user.py"] + "\n") == ["user"]
    assert compiled_by_an_edit(checkout, "leaf.py", MODULES["leaf.py"] + "\n") == ["leaf"]
    assert compiled_by_an_edit(checkout, "leaf.pxd", MODULES["leaf.pxd"] + "\n") == ["leaf", "user"]
    assert compiled_by_an_edit(checkout, "params.py", "MARGIN = 6\n") == ["tuned"]
    (checkout / "engine" / "core" / "user.py").touch()
    assert engine.edited_sources(checkout) == []
    (checkout / "engine" / "core" / "user.py").unlink()
    assert engine.edited_sources(checkout) == ["engine/core/user.py"]
    assert build(checkout).returncode == 0
    assert not list((checkout / "engine").rglob("user.*.so"))


def test_an_installed_engine_looks_for_no_edits(tmp_path: Path) -> None:
    assert engine.edited_sources(tmp_path) == []
