"""Compile the engine: pip runs `BuildExt`, and developers run `python engine/_build.py` after an edit.

Every `engine/**/*.py` that starts with `# cython:` becomes an extension module. ENGINE_PURE=1 compiles nothing (for
tests and debugging). ENGINE_MARCH=native uses all instructions of this machine's processor; the portable build is as
fast for everything but the network. ENGINE_SANITIZE=address,undefined adds the checks of these sanitizers, for
`tests/test_sanitizers.py`. ENGINE_TUNABLE=1 compiles the numbers of `params.py` as variables, see
`engine/training/tunable.py`. This file imports no engine module.

C text and objects are kept in `build/`, so that a later build compiles only what an edit has changed.
"""

import os
import runpy
import sys
import sysconfig
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from Cython.Build import cythonize
from Cython.Compiler.Errors import CompileError
from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

CURE = (
    "the chess engine could not be compiled. It needs a C compiler and Python's headers: "
    "apt install gcc python3-dev (Debian, Ubuntu), dnf install gcc python3-devel (Fedora), "
    "xcode-select --install (macOS); then try again"
)
# setuptools drops its own flags when CFLAGS is set, so every flag that matters is listed. -fwrapv: integers wrap on
# overflow, as the hash keys need. Asserts are for plain mode only: in a compiled function that cannot raise, a failed
# assert would be printed and 0 returned.
# -Wno-unused: with the stable ABI, Cython leaves texts and functions unused.
FLAGS = ["-O2", "-fwrapv", "-DNDEBUG", "-DCYTHON_WITHOUT_ASSERTIONS", "-g0", "-Wno-unused"]
# Modules for the stable ABI of Python 3.11 run in every later Python too, and `bench` is no slower with them. A Python
# without a global lock has no stable ABI.
ABI = None if sysconfig.get_config_var("Py_GIL_DISABLED") else "cp311"
ABI_MACROS = [("Py_LIMITED_API", "0x030b0000")]
# Every x86-64 processor since 2008 counts bits in one instruction, but gcc must be told. (Only `get_platform` names the
# target of a cross-compile.)
IS_X86 = sysconfig.get_platform().endswith(("x86_64", "amd64"))
if IS_X86:
    FLAGS.append("-mpopcnt")
# -O3 takes a third more time to compile than -O2, and pays only where the search spends its time.
HOT_PACKAGES = ("engine.core.", "engine.evaluation.", "engine.search.")
# Adding floats in any order, several at a time, makes training three times as fast.
EXTRA_FLAGS = {"engine.training.float_net": ["-O3", "-ffast-math"]}
# These modules are compiled a second time, for AVX2; `engine/__init__.py` loads the build that suits the processor.
AVX2_MODULES = ("engine.evaluation.network", "engine.training.float_net")
# Cython's own code for memory views, shared by all modules: a copy in each would double the time of the build.
SHARED_MODULE = "engine._cyutility"

BUILD = Path("build", f"engine-{sys.implementation.cache_tag}")
PARAMS = Path("engine", "core", "params.py")


class BuildExt(build_ext):
    """Build the extension modules, or fail the install with one line that says what to install."""

    def finalize_options(self) -> None:
        declared = self.distribution.ext_modules
        modules = found_modules() if any("*" in module.sources[0] for module in declared) else declared
        self.variants = avx2_variants(modules) if IS_X86 else {}
        self.distribution.ext_modules = [] if os.environ.get("ENGINE_PURE") else [*modules, *self.variants.values()]
        # pip builds in a temporary folder, which would leave nothing for the next build.
        if self.editable_mode or self.inplace:
            self.build_temp, self.build_lib = str(BUILD), str(BUILD / "lib")
        self.parallel = self.parallel or cores()
        super().finalize_options()
        self.distribution.ext_modules = declared      # pip finalizes this command twice

    def build_extensions(self) -> None:
        self.compiled = fingerprints()
        march = os.environ.get("ENGINE_MARCH")
        flags = FLAGS + ([f"-march={march}"] if march else [])
        sanitizers = os.environ.get("ENGINE_SANITIZE")
        if sanitizers:
            flags += [f"-fsanitize={sanitizers}", "-fno-omit-frame-pointer", "-g1"]
        settings = Path(self.build_temp, "settings")
        text = f"{self.compiler.compiler_so} {flags} {Path(__file__).read_text()}"
        settings_changed = write_if_changed(settings, text)
        if settings_changed:
            self._try_compiler()
        numbers = runpy.run_path(str(PARAMS))
        write_if_changed(
            Path(self.build_temp, "params.h"),
            variables(numbers) if os.environ.get("ENGINE_TUNABLE") else constants(numbers),
        )
        for module in self.extensions:
            module.include_dirs.append(self.build_temp)
            if ABI:
                module.py_limited_api = True
                module.define_macros += ABI_MACROS
        self._write_c(settings_changed)
        for module in self.extensions:
            module.depends.append(str(settings))
            if self.compiler.compiler_type == "unix":
                module.extra_compile_args = flags + module.extra_compile_args
                module.extra_link_args.append(f"-fsanitize={sanitizers}" if sanitizers else "-s")
        # The longest compile first: started last, it would keep one core busy after the others are done.
        self.extensions.sort(key=lambda module: -max(Path(f).stat().st_size for f in module.sources + module.depends))
        with naming_the_cure():
            super().build_extensions()
        self.extensions = [module for module in self.extensions if Path(self.get_ext_fullpath(module.name)).exists()]

    def _try_compiler(self) -> None:
        """Fail at once without a compiler or Python's headers, not after the translation, which takes a minute."""
        source = Path(self.build_temp, "try.c")
        write_if_changed(source, "#include <Python.h>\n")
        with naming_the_cure():
            self.compiler.compile([str(source)], output_dir=self.build_temp)

    def _write_c(self, force: bool) -> None:
        """Translate the changed modules and their dependents to C, in processes: Cython holds the interpreter lock."""
        modules = [module for module in self.extensions if module.name not in self.variants]
        try:
            translated = cythonize(
                modules,
                nthreads=int(self.parallel),
                force=force,
                quiet=not self.verbose,
                build_dir=self.build_temp,
                shared_utility_qualified_name=SHARED_MODULE,
                compiler_directives={"auto_pickle": False},
            )
        except CompileError:
            raise SystemExit("error: Cython found the errors above, each with its file and line") from None
        for module, result in zip(modules, translated, strict=True):
            module.sources, module.depends = result.sources, result.depends
            if variant := self.variants.get(f"{module.name}_avx2"):
                source = Path(self.build_temp, f"{variant.name}.c")
                write_if_changed(source, f'#include "{os.path.relpath(module.sources[0], source.parent)}"\n')
                variant.sources, variant.depends = [str(source)], module.sources + module.depends

    def copy_extensions_to_source(self) -> None:
        """Replace the modules in the checkout, also those without a source, and record what was compiled."""
        for suffix in EXTENSION_SUFFIXES:
            for file in Path("engine").rglob(f"*{suffix}"):
                file.unlink()
        super().copy_extensions_to_source()
        write_if_changed(BUILD / "compiled", self.compiled)


class BdistWheel(bdist_wheel):
    """Name the wheel after the stable ABI, if its modules keep to it."""

    def finalize_options(self) -> None:
        if ABI and not os.environ.get("ENGINE_PURE"):
            self.py_limited_api = ABI
        super().finalize_options()


@contextmanager
def naming_the_cure() -> Iterator[None]:
    try:
        yield
    except (BaseError, CCompilerError, OSError) as error:
        raise SystemExit(f"error: {CURE} (the compiler said: {str(error).splitlines()[0]})") from None


def found_modules() -> list[Extension]:
    """Return an extension module for each file that starts with `# cython:`, and the one that they share."""
    modules = [Extension(SHARED_MODULE, [SHARED_MODULE.replace(".", "/") + ".c"])]
    for path in compiled_sources():
        name = ".".join(path.with_suffix("").parts)
        extra_flags = ["-O3"] if name.startswith(HOT_PACKAGES) else EXTRA_FLAGS.get(name, [])
        modules.append(Extension(name, [str(path)], extra_compile_args=extra_flags))
    return modules


def compiled_sources(folder: Path = Path("engine")) -> list[Path]:
    return [path for path in sorted(folder.glob("**/*.py")) if path.read_bytes().startswith(b"# cython:")]


def avx2_variants(modules: list[Extension]) -> dict[str, Extension]:
    """Return, by name, the same modules compiled for AVX2. They are optional: an old compiler does not know AVX2."""
    return {
        f"{module.name}_avx2": Extension(
            f"{module.name}_avx2", [], optional=True, extra_compile_args=[*module.extra_compile_args, "-mavx2"]
        )
        for module in modules
        if module.name in AVX2_MODULES
    }


def fingerprints() -> str:
    """Return a line for each source: path, time of the last change, checksum. `engine/__init__.py` compares them."""
    paths = [*compiled_sources(), *sorted(Path("engine").glob("**/*.pxd")), PARAMS]
    return "".join(f"{path} {path.stat().st_mtime_ns} {zlib.crc32(path.read_bytes())}\n" for path in paths)


def constants(numbers: dict[str, object]) -> str:
    """Return `params.py` as C text, so that the compiler sees constants. Only numbers and rows of numbers are kept."""
    lines = []
    for name, value in numbers.items():
        if isinstance(value, int):
            lines.append(f"enum {{ {name} = {value} }};")
        elif isinstance(value, list | tuple):
            lines.append(f"static const int {name}[] = {{ {', '.join(map(str, value))} }};")
    return "\n".join(lines) + "\n"


def variables(numbers: dict[str, object]) -> str:
    """Return `params.py` as C text in which each single number is an entry of an array `engine_params`, in order.

    Every module has an array of its own, which `engine/training/tunable.py` finds by its name.
    """
    single = {name: value for name, value in numbers.items() if isinstance(value, int)}
    lines = [
        f"__attribute__((used)) int engine_params[] = {{ {', '.join(map(str, single.values()))} }};",
        *(f"#define {name} (engine_params[{index}])" for index, name in enumerate(single)),
        constants({name: value for name, value in numbers.items() if name not in single}),
    ]
    return "\n".join(lines)


def write_if_changed(path: Path, text: str) -> bool:
    """Write the text and return True, unless the file holds it already: a newer file is compiled again."""
    if path.exists() and path.read_text() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return True


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    os.chdir(Path(__file__).parent.parent)
    warnings.simplefilter("ignore")  # setuptools calls ext-modules experimental
    setup(script_args=["--quiet", "build_ext", "--inplace"])
