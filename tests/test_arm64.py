"""The engine compiled for arm64, run by an emulated processor where the host has none: the same nodes, with NEON."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.systemd.boot import apt_options, apt_sources

ROOT = Path(__file__).parent.parent
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64-static"
TOOLS = ("mmdebstrap", COMPILER, EMULATOR)
MISSING = [tool for tool in TOOLS if not shutil.which(tool)]
NODES = dict(line.rsplit(maxsplit=1) for line in (ROOT / "tests/data/bench.txt").read_text().splitlines()[1:])

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)} (gcc-aarch64-linux-gnu, qemu-user-static)"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for mmdebstrap"),
]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the command of a Python for arm64, out of Debian's packages."""
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    root = tmp_path_factory.mktemp("arm64") / "root"
    subprocess.run(
        ["mmdebstrap", "--quiet", "--mode=root", "--variant=extract", "--arch=arm64", "--include=libc6,python3",
         *(f"--aptopt={option}" for option in apt_options()), release, str(root), "-"],
        input=apt_sources(release), text=True, check=True, capture_output=True,
    )  # fmt: skip
    (program,) = (path for path in (root / "usr/bin").glob("python3.[0-9]*") if path.name[-1].isdecimal())
    return [EMULATOR, "-L", str(root), str(program)]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project whose engine is compiled for arm64."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "engine", folder / "engine", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    environment = {
        **os.environ,
        "_PYTHON_HOST_PLATFORM": "linux-aarch64",
        "CC": COMPILER,
        "LDSHARED": f"{COMPILER} -shared",
        "ENGINE_PURE": "",
        "ENGINE_MARCH": "",
    }
    subprocess.run([sys.executable, "engine/_build.py"], cwd=folder, env=environment, check=True, timeout=1800)
    return folder


@pytest.mark.parametrize("evaluation", NODES)
def test_the_engine_visits_the_same_nodes_on_arm64(python: list[str], checkout: Path, evaluation: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1", "ENGINE_PURE": ""}
    text = subprocess.run(
        [*python, "-c", f"from engine.bench import bench; bench(12, {evaluation!r})"],     # there is no click
        cwd=checkout, env=environment, text=True, check=True, capture_output=True, timeout=1800,
    ).stdout  # fmt: skip
    summary, _, nodes = text.splitlines()[-3:]
    assert summary.startswith("engine compiled")
    assert ", NEON" in summary or evaluation == "none"
    assert nodes == f"Nodes searched: {NODES[evaluation]}"
