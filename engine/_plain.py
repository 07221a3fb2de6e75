"""Finders for plain mode: the engine's files run as ordinary Python. Only `engine` imports this."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType

_CIMPORTS = "cython.cimports"


class _SourceOnly:
    """A finder that ignores the compiled modules."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if path is None or not name.startswith("engine."):
            return None
        return FileFinder(path[0], (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(name)


class _PlainCImports(MetaPathFinder, Loader):
    """A finder for plain mode, in which `cython.cimports.engine.X` means the ordinary module `engine.X`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == f"{_CIMPORTS}.engine" or name.startswith(f"{_CIMPORTS}.engine."):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(module.__name__.removeprefix(f"{_CIMPORTS}."))


def install() -> None:
    """Have the import system load sources, and let them cimport each other."""
    import_module("cython")
    # Cython's stand-in has no spec, and the import system asks for one.
    sys.modules[_CIMPORTS].__spec__ = None
    sys.meta_path[:0] = [_SourceOnly, _PlainCImports()]
