"""Benchmarks are run by hand; their imports are tested, so that a changed name is noticed."""

from importlib import import_module
from pathlib import Path

import pytest

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith(("test_", "__")))


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_finds_what_it_imports(name: str) -> None:
    import_module(f"tests.benchmarks.{name}")
