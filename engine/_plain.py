"""Plain mode: the engine's files run as ordinary Python. Only `engine` imports this."""

import re
import sys
from collections import ChainMap
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

_CIMPORTS = "cython.cimports"
_FIELD = re.compile(r"^    cdef [\w *]*?(\w+)(?:\[(.+)\])?(?: +#.*)?$", re.M)


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


def _with_fields(kind: Any) -> Any:
    """Give a class the fields that its `.pxd` declares, 0 as in C, with a list in place of each array."""
    module = sys.modules[kind.__module__]
    layout = Path(str(module.__file__)).with_suffix(".pxd").read_text()
    declared = re.search(rf"^cdef class {kind.__name__}\b.*\n((?:    .*\n|\n)*)", layout, re.M)
    names = ChainMap(*(vars(sys.modules[base.__module__]) for base in kind.__mro__))
    fields = {name: eval(size or "0", {}, names) for name, size in _FIELD.findall(declared[1] if declared else "")}
    arrays = {name: size for name, size in fields.items() if size}
    for name in fields.keys() - arrays.keys():
        setattr(kind, name, 0)

    def create(cls: Any, *arguments: object, **named: object) -> Any:
        made = super(kind, cls).__new__(cls)
        for name, size in arrays.items():
            setattr(made, name, [0] * size)
        return made

    kind.__new__ = create
    return kind


def install() -> None:
    """Have the import system load sources, let them cimport each other, and give their classes C's fields."""
    vars(import_module("cython"))["cclass"] = _with_fields
    # Cython's stand-in has no spec, and the import system asks for one.
    sys.modules[_CIMPORTS].__spec__ = None
    sys.meta_path[:0] = [_SourceOnly, _PlainCImports()]
