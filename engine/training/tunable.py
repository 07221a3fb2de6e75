"""A build of the engine whose numbers (`params.py`) change while it runs, so that two sets of them can play each other.

Each compiled module of such a build has an array `engine_params`; see `variables` in `engine/_build.py`.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from engine.core import params

CHECKOUT = Path(__file__).parent.parent.parent
BUILD_FILES = ("pyproject.toml", "README.md", "LICENSE")
NOT_SOURCES = shutil.ignore_patterns("*.so", "__pycache__")
DEFAULTS = {name: value for name, value in vars(params).items() if name.isupper() and isinstance(value, int)}
NUMBER = re.compile(r"^(\w+) = (-?\d+) +#.*\bsane (-?\d+)\.\.(-?\d+)", re.MULTILINE)


class NotTunable(RuntimeError):
    """The engine of this process has fixed numbers, or no tunable one can be built."""


@dataclass(frozen=True)
class Parameter:
    """A number of `params.py` with the bounds of its comment."""

    name: str
    value: int
    low: int
    high: int

    @property
    def range(self) -> int:
        return self.high - self.low

    def clamped(self, value: float) -> float:
        """Return the value, or the bound that it exceeds."""
        return min(max(value, self.low), self.high)


def read_parameters(text: str) -> tuple[Parameter, ...]:
    """Return the numbers of the search that have bounds, in the order of `params.py`, whose text is given."""
    section = text.partition("# --- Search ")[2].partition("# --- ")[0]
    return tuple(
        Parameter(name, int(value), int(low), int(high)) for name, value, low, high in NUMBER.findall(section)
    )


def make_build(folder: Path) -> None:
    """Make a folder with a compiled, tunable copy of this checkout's engine: whole or not at all. Raises NotTunable."""
    missing = [name for name in BUILD_FILES if not (CHECKOUT / name).exists()]
    if missing:
        raise NotTunable(f"no {missing[0]} in {CHECKOUT}: a tunable engine is built from a checkout of the repository")
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(CHECKOUT / "engine", part / "engine", ignore=NOT_SOURCES)
    for name in BUILD_FILES:
        shutil.copy(CHECKOUT / name, part)
    environment = {**os.environ, "ENGINE_TUNABLE": "1"}
    if subprocess.run([sys.executable, part / "engine" / "_build.py"], env=environment, check=False).returncode:
        raise NotTunable(f"the tunable engine in {part} was not compiled")
    part.rename(folder)


class Numbers:
    """A set of values for all single numbers of `params.py`."""

    def __init__(self, changed: Mapping[str, int]) -> None:
        """Numbers that are not named in `changed` keep their value."""
        self._values = {**DEFAULTS, **changed}
        self._array = (ctypes.c_int * len(self._values))(*self._values.values())

    def use(self) -> None:
        """Search with these numbers from now on, in this process. Raises NotTunable."""
        if not arrays():
            raise NotTunable(f"the engine in {Path(params.__file__).parents[1]} has fixed numbers")
        for array in arrays():
            ctypes.memmove(array, self._array, ctypes.sizeof(self._array))
        vars(params).update(self._values)


@cache
def arrays() -> list[ctypes.Array[ctypes.c_int]]:
    """Return the array of each compiled module that has one: none, if this process runs another build."""
    # A module that is imported later would keep the values of its file.
    from engine.search import iterative_deepening  # noqa: F401

    found = []
    for name, module in list(sys.modules.items()):
        origin = getattr(getattr(module, "__spec__", None), "origin", None) or ""
        if name.startswith("engine.") and origin.endswith(tuple(EXTENSION_SUFFIXES)):
            with suppress(ValueError):
                found.append((ctypes.c_int * len(DEFAULTS)).in_dll(ctypes.CDLL(origin), "engine_params"))
    return found
