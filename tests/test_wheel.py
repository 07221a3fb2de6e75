"""The source distribution and the wheel built from it, installed in a clean environment outside the checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tarfile import open as open_tar

import click
import pytest

from engine import __version__
from engine.facade import build_mode
from lichessbot.cli.main import cli
from tests.systemd.wheels import pack_requirements

ROOT = Path(__file__).parent.parent
NODES = dict(line.rsplit(maxsplit=1) for line in (ROOT / "tests/data/bench.txt").read_text().splitlines()[1:])
# Neither belongs to what a packager needs.
NOT_IN_SDIST = {".gitignore"}

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="needs a git checkout"),
]


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Return what a command prints. It sees nothing of the checkout and of our own environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ENGINE_", "PIP_"))}
    done = subprocess.run(
        command, cwd=cwd, env={**kept, **environment}, capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def tracked() -> list[str]:
    return run("git", "ls-files", cwd=ROOT).splitlines()


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the source distribution of the tracked files."""
    checkout, out = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("sdist")
    for name in tracked():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name, follow_symlinks=False)
    code = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    run(sys.executable, "-c", code, out, cwd=checkout)
    (archive,) = out.iterdir()
    return archive


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel built from the source distribution."""
    out = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    run(*pip, "--wheel-dir", out, sdist, cwd=out)
    (archive,) = out.iterdir()
    return archive


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the folder of the commands that the wheel installs into a clean environment."""
    wheels, venv = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("with spaces") / "venv"
    pack_requirements(wheels)
    run(sys.executable, "-m", "venv", venv, cwd=wheels)
    run(venv / "bin" / "pip", "install", "--quiet", "--no-index", "--find-links", wheels, wheel, cwd=wheels)
    yield venv / "bin"
    shutil.rmtree(venv)


def test_the_source_distribution_has_every_tracked_file(sdist: Path) -> None:
    with open_tar(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert set(tracked()) - names == NOT_IN_SDIST


def test_one_wheel_serves_every_python(wheel: Path) -> None:
    assert wheel.name.startswith(f"lichessbot_daemon-{__version__}-cp311-abi3-")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    modules = [name for name in names if name.endswith(".so")]
    assert modules
    assert all(name.endswith(".abi3.so") for name in modules)
    tops = {name.split("/")[0] for name in names}
    assert tops == {"engine", "lichessbot", f"lichessbot_daemon-{__version__}.dist-info"}
    assert {name for name in tracked() if name.startswith("lichessbot/static/")} <= set(names)


def test_the_installed_commands_know_their_version(commands: Path, tmp_path: Path) -> None:
    assert run(commands / "lichessbot", "--version", cwd=tmp_path) == f"lichessbot {__version__}\n"
    assert run(commands / "lichessbot-engine", "--version", cwd=tmp_path) == f"lichessbot-engine {__version__}\n"


@pytest.mark.parametrize("name", cli.list_commands(click.Context(cli)))
def test_each_installed_command_finds_all_it_imports(commands: Path, tmp_path: Path, name: str) -> None:
    assert run(commands / "lichessbot", name, "--help", cwd=tmp_path).startswith(f"Usage: lichessbot {name}")


@pytest.mark.parametrize("portable", ["", "1"])
def test_the_installed_engine_visits_the_same_nodes_on_old_and_new_processors(
    commands: Path, tmp_path: Path, portable: str
) -> None:
    lines = run(commands / "lichessbot-engine", "bench", cwd=tmp_path, ENGINE_PORTABLE=portable).splitlines()
    assert lines[-1] == f"Nodes searched: {NODES['<shipped>']}"
    assert lines[-3].startswith("engine compiled")
    assert not (portable and "AVX" in lines[-3])


def test_the_installed_bot_plays_a_rehearsal(commands: Path, tmp_path: Path) -> None:
    text = run(commands / "lichessbot", "rehearse", cwd=tmp_path)
    assert text.splitlines()[-1] == f"2 games: 2 won, 0 drawn, 0 lost, 0 failed; engine: {build_mode()}"


def test_the_installed_example_is_the_shipped_one(commands: Path, tmp_path: Path) -> None:
    assert run(commands / "lichessbot", "config", "example", cwd=tmp_path) == (ROOT / "config.example.yml").read_text()
