"""The compiled engine under the address and undefined-behaviour sanitizers of gcc: bounds checks are off in Cython."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SANITIZERS = "address,undefined"
PLANTED = """# cython: language_level=3, boundscheck=False
import cython
from cython.cimports.libc.stdlib import calloc, free

def freed(index: cython.Py_ssize_t) -> cython.int:
    numbers: cython.pointer[cython.int] = cython.cast(cython.pointer[cython.int], calloc(4, 4))
    free(numbers)
    return numbers[index]

def shifted(by: cython.int) -> cython.int:
    return cython.cast(cython.int, 1) << by
"""
STOPS = 400

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("gcc") is None or sys.platform != "linux", reason="needs gcc on Linux"),
]


def build(checkout: Path) -> None:
    environment = {**os.environ, "ENGINE_SANITIZE": SANITIZERS, "ENGINE_PURE": "", "CC": "gcc"}
    subprocess.run([sys.executable, "engine/_build.py"], cwd=checkout, env=environment, check=True, timeout=900)


def environment(checkout: Path) -> dict[str, str]:
    """Return the environment of a Python that runs the sanitized modules; the first finding ends the process."""
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1:exitcode=99",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(checkout),
        "ENGINE_PURE": "",
    }


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project whose engine is compiled with the sanitizers."""
    folder = tmp_path_factory.mktemp("sanitized")
    for name in ("engine", "lichessbot", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "config.example.yml"):
        shutil.copy(ROOT / name, folder / name)
    build(folder)
    return folder


@pytest.mark.parametrize(("call", "finding"), [("freed(1)", "heap-use-after-free"), ("shifted(40)", "shift exponent")])
def test_a_planted_fault_is_found(tmp_path: Path, call: str, finding: str) -> None:
    (tmp_path / "engine" / "core").mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", "engine/_build.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "engine" / "__init__.py").write_text('__version__ = "0"\n')
    for file in ("engine/core/__init__.py", "engine/core/params.py"):
        (tmp_path / file).touch()
    (tmp_path / "engine" / "core" / "planted.py").write_text(PLANTED)
    build(tmp_path)
    command = [sys.executable, "-P", "-c", f"from engine.core.planted import freed, shifted; {call}"]
    answer = subprocess.run(
        command, env=environment(tmp_path), capture_output=True, text=True, timeout=100, check=False
    )
    assert answer.returncode != 0
    assert finding in answer.stderr


def test_bench_finds_nothing_and_counts_the_same_nodes(checkout: Path) -> None:
    for evaluation in ([], ["none"]):
        arguments = ["-P", "-m", "engine", "bench", "11", *evaluation]
        sanitized = subprocess.run(
            [sys.executable, *arguments], env=environment(checkout), capture_output=True, text=True, timeout=600,
            check=True,
        )
        plain = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=600, check=True
        )
        assert sanitized.stdout.splitlines()[-1] == plain.stdout.splitlines()[-1]
        assert "Sanitizer" not in sanitized.stderr
        assert "runtime error" not in sanitized.stderr


def test_four_threads_survive_a_storm_of_stops(checkout: Path) -> None:
    rng = random.Random(11)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "engine"], env=environment(checkout), text=True, bufsize=1,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    print("setoption name Threads value 4\nsetoption name Hash value 1", file=process.stdin)
    for number in range(STOPS):
        moves = " moves e2e4 e7e5 g1f3" if number % 2 else ""
        hash_size = rng.choice(("", "setoption name Hash value 2\n", "ucinewgame\n", "setoption name Clear Hash\n"))
        print(f"{hash_size}position startpos{moves}\ngo {rng.choice(('infinite', 'ponder'))}", file=process.stdin)
        time.sleep(rng.choice((0, 0, 0.002, 0.03)))
        print(rng.choice(("stop", "stop\nstop")), file=process.stdin)
        while (line := process.stdout.readline()) and not line.startswith("bestmove"):
            pass
        assert line, process.stderr.read() if process.stderr else ""
    process.communicate("quit\n", timeout=100)
    assert process.returncode == 0


def test_the_tests_of_the_engine_find_nothing(checkout: Path) -> None:
    # One test bounds the seconds that a long text takes; the sanitizers take several times as long.
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/engine",
        "-k", "not no_text_takes_long_for_its_length",
    ]
    answer = subprocess.run(
        command, cwd=checkout, env=environment(checkout), capture_output=True, text=True, timeout=1800, check=False
    )
    assert answer.returncode == 0, answer.stdout[-5000:] + answer.stderr[-5000:]
    assert "Sanitizer" not in answer.stdout + answer.stderr
    assert "runtime error:" not in answer.stdout + answer.stderr
