"""A chess engine in Python, compiled with Cython in pure Python mode. Callers import `engine.facade`.

The same files run compiled and plain. Plain mode is slow and only ever chosen on purpose, by ENGINE_PURE=1.
"""

import os
import sys
from collections.abc import Sequence
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import find_spec, spec_from_file_location

_VECTOR_ROOMS = (f"{__name__}.network", f"{__name__}.tuning.float_net")


class _SourceOnly:
    """A finder that overlooks the compiled modules."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if path is None or not name.startswith(f"{__name__}."):
            return None
        return FileFinder(path[0], (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(name)


class _FastestVectors:
    """A finder that takes the builds of some rooms with AVX2 where the processor has it; see `_build.py`.

    ENGINE_PORTABLE=1 does without.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if path is None or name not in _VECTOR_ROOMS or os.environ.get("ENGINE_PORTABLE"):
            return None
        # A compiled room, hence not to be imported before the mode is chosen.
        from engine.processor import has_avx2

        if not has_avx2():
            return None
        build = FileFinder(path[0], (ExtensionFileLoader, EXTENSION_SUFFIXES)).find_spec(f"{name}_avx2")
        return spec_from_file_location(name, build.origin) if build is not None else None


def _choose_mode() -> None:
    """Compiled unless ENGINE_PURE is set; raises ImportError rather than run plain by accident."""
    if os.environ.get("ENGINE_PURE"):
        if find_spec("cython") is None:
            raise ImportError("ENGINE_PURE=1 runs the engine as plain Python, which needs: pip install cython")
        sys.meta_path.insert(0, _SourceOnly)
        return
    room = find_spec(f"{__name__}.bitboard")
    if room is None or room.origin is None or not room.origin.endswith(tuple(EXTENSION_SUFFIXES)):
        raise ImportError(
            "the chess engine is not compiled: run `pip install -e .` in the project's folder "
            "(or set ENGINE_PURE=1 to run it as slow plain Python on purpose)"
        )
    sys.meta_path.insert(0, _FastestVectors)


_choose_mode()
