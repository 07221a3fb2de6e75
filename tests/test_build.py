"""Installing: a compiler that fails is named in one line, with the cure."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a build needs, without anything built; one room stands for all."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    project = tmp_path / "pyproject.toml"
    _, *others = re.findall(r"^ *\{ name = \"engine\..*\n", project.read_text(), re.MULTILINE)
    assert others
    project.write_text(re.sub("|".join(map(re.escape, others)), "", project.read_text()))
    for package in ("engine", "lichessbot"):
        for source in [*(ROOT / package).rglob("*.py"), *(ROOT / package).rglob("*.pxd")]:
            target = tmp_path / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    return tmp_path


@pytest.mark.parametrize("compiler", ["false", "no-such-compiler"])
def test_a_failed_compile_fails_the_build_and_names_the_cure(checkout: Path, compiler: str) -> None:
    build = [sys.executable, "-W", "ignore", "-c", "from setuptools import setup; setup()", "build_ext", "--inplace"]
    environment = {**os.environ, "CC": compiler, "ENGINE_PURE": ""}
    answer = subprocess.run(
        build, cwd=checkout, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert answer.returncode != 0
    last = answer.stderr.splitlines()[-1]
    assert last.startswith("error: the chess engine could not be compiled")
    assert "apt install gcc python3-dev" in last
    assert not list((checkout / "engine").rglob("*.so"))
