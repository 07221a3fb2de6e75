"""A chess engine in Python, compiled with Cython in pure Python mode. Callers import `engine.facade`.

The same files run compiled and as plain Python. Plain mode is slow: ENGINE_PURE=1 chooses it, for tests and debugging.
In a checkout, `python engine/_build.py` compiles again what has changed; a line on stderr says when that is needed.
"""

import os
import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder, ModuleSpec
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from zlib import crc32

__version__ = "0.1.0"              # also of the daemon and of the wheels; see pyproject.toml

_AVX2_MODULES = (f"{__name__}.evaluation.network", f"{__name__}.training.float_net")


class _FastestBuild:
    """A finder that loads the AVX2 build of a module where the processor supports it; see `_build.py`.

    ENGINE_PORTABLE=1 turns it off.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if path is None or name not in _AVX2_MODULES or os.environ.get("ENGINE_PORTABLE"):
            return None
        # A compiled module, so it can be imported only after the mode is chosen.
        from engine.evaluation.processor import has_avx2

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
        from engine import _plain  # its imports would slow down the start of a compiled engine

        _plain.install()
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
