"""A chess engine in Python, compiled with Cython in pure Python mode. Callers import `engine.facade`.

The same files run compiled and as plain Python. Plain mode is slow: ENGINE_PURE=1 chooses it, for tests and debugging.
In a checkout, `python engine/_build.py` compiles again what has changed; a line on stderr says when that is needed.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from zlib import crc32

__version__ = "0.1.0"              # also of the daemon and of the wheels; see pyproject.toml

_AVX2_MODULES = (f"{__name__}.nnue.network", f"{__name__}.training.float_net")
_CIMPORTS = "cython.cimports"


class _SourceOnly:
    """A finder that ignores the compiled modules."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if path is None or not name.startswith(f"{__name__}."):
            return None
        return FileFinder(path[0], (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(name)


class _PlainCImports(MetaPathFinder, Loader):
    """A finder for plain mode, in which `cython.cimports.engine.X` means the ordinary module `engine.X`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == f"{_CIMPORTS}.{__name__}" or name.startswith(f"{_CIMPORTS}.{__name__}."):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(module.__name__.removeprefix(f"{_CIMPORTS}."))


class _FastestBuild:
    """A finder that loads the AVX2 build of a module where the processor supports it; see `_build.py`.

    ENGINE_PORTABLE=1 turns it off.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if path is None or name not in _AVX2_MODULES or os.environ.get("ENGINE_PORTABLE"):
            return None
        # A compiled module, so it can be imported only after the mode is chosen.
        from engine.nnue.processor import has_avx2

        if not has_avx2():
            return None
        build = FileFinder(path[0], (ExtensionFileLoader, EXTENSION_SUFFIXES)).find_spec(f"{name}_avx2")
        return spec_from_file_location(name, build.origin) if build is not None else None


def edited_sources(checkout: Path = Path(__file__).parent.parent) -> list[str]:
    """Return the sources that were edited after the engine was compiled in this checkout; see `_build.py`.

    A file with a new time and the same text is not edited. An installed engine has no record, and the answer is empty.
    """
    try:
        record = (checkout / "build" / f"engine-{sys.implementation.cache_tag}" / "compiled").read_text()
    except OSError:
        return []
    edited = []
    for line in record.splitlines():
        name, time, checksum = line.rsplit(" ", 2)
        path = f"{checkout}/{name}"
        try:
            if os.stat(path).st_mtime_ns != int(time) and crc32(Path(path).read_bytes()) != int(checksum):
                edited.append(name)
        except OSError:
            edited.append(name)
    return edited


def _choose_mode() -> None:
    """Run compiled unless ENGINE_PURE is set. Raises ImportError rather than run plain by accident."""
    if os.environ.get("ENGINE_PURE"):
        if find_spec("cython") is None:
            raise ImportError("ENGINE_PURE=1 runs the engine as plain Python, which needs: pip install cython")
        import_module("cython")
        # Cython's stand-in has no spec, and the import system asks for one.
        sys.modules[_CIMPORTS].__spec__ = None
        sys.meta_path[:0] = [_SourceOnly, _PlainCImports()]
        return
    bitboard = os.path.join(os.path.dirname(__file__), "core", "bitboard")
    if not any(os.path.exists(bitboard + suffix) for suffix in EXTENSION_SUFFIXES):
        raise ImportError(
            "the chess engine is not compiled: run `pip install -e .` in the project's folder "
            "(or set ENGINE_PURE=1 to run it as slow plain Python on purpose)"
        )
    sys.meta_path.insert(0, _FastestBuild)
    if edited := edited_sources():
        print(
            f"the chess engine runs as it was compiled, without later edits of {', '.join(edited)}: "
            "run `python engine/_build.py` (or `pip install -e .`)",
            file=sys.stderr,
        )


_choose_mode()
