"""How the engine is compiled. Loaded at build time only; imports nothing from the engine.

ENGINE_PURE=1 installs no compiled rooms (tests and debugging); ENGINE_MARCH=native lets gcc use this machine's
own instructions (the portable build is the default, and as fast for everything but neural inference).

The rooms whose loops are vectors, inference and the training of nets, are compiled a second time for processors with
AVX2, from the same C text; `engine/__init__.py` chooses between the two when the engine starts.

The numbers of `params.py` become constants of C, so that the compiler can reckon with them.
"""

import copy
import os
import platform
import runpy
from pathlib import Path

from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

CURE = (
    "the chess engine could not be compiled. It needs a C compiler and Python's headers: "
    "apt install gcc python3-dev (Debian, Ubuntu), dnf install gcc python3-devel (Fedora), "
    "xcode-select --install (macOS); then run the same pip command again"
)
# setuptools drops its own flags when CFLAGS is set, so all that matter are listed. -fwrapv: integer overflow wraps,
# as the hash arithmetic expects. Asserts belong to the plain mode: in a compiled function that cannot raise they
# would print and return 0.
FLAGS = ["-O3", "-fwrapv", "-DNDEBUG", "-DCYTHON_WITHOUT_ASSERTIONS", "-g0"]

# Every x86-64 processor since 2008 counts bits in one instruction, but gcc must be told.
IS_X86 = platform.machine() in ("x86_64", "AMD64")
if IS_X86:
    FLAGS.append("-mpopcnt")

VECTOR_ROOMS = ("engine.nnue.network", "engine.training.float_net")
PARAMS = Path(__file__).parent / "core" / "params.py"


class BuildExt(build_ext):
    """Compiles every room with our flags, or fails the install with one line that names the cure."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if os.environ.get("ENGINE_PURE"):
            self.extensions = []

    def build_extensions(self) -> None:
        for leftover in PARAMS.parent.glob("params.*.so"):
            leftover.unlink()          # an older build of this checkout compiled the room: that would hide its text
        header = Path(self.build_temp, "engine", "params.h")
        write_if_changed(header, constants(runpy.run_path(str(PARAMS))))
        for extension in self.extensions:
            extension.include_dirs.append(str(header.parent))
            extension.depends.append(str(header))
        is_unix = self.compiler.compiler_type == "unix"
        if is_unix:
            march = os.environ.get("ENGINE_MARCH")
            for extension in self.extensions:
                extension.extra_compile_args += FLAGS + ([f"-march={march}"] if march else [])
                extension.extra_link_args += ["-s"]
        try:
            super().build_extensions()
        except (BaseError, CCompilerError, OSError) as error:
            raise SystemExit(f"error: {CURE} (the compiler said: {str(error).splitlines()[0]})") from None
        if is_unix and IS_X86:
            self._build_for_avx2()

    def _build_for_avx2(self) -> None:
        """The rooms of vectors once more, from the C text just made of them; not worth failing the install for."""
        for room in [room for room in self.extensions if room.name in VECTOR_ROOMS]:
            variant = copy.copy(room)
            variant.name = variant._full_name = f"{room.name}_avx2"
            variant.extra_compile_args = [*room.extra_compile_args, "-mavx2"]
            try:
                self.build_extension(variant)
            except (BaseError, CCompilerError) as error:
                self.warn(f"no {room.name} for AVX2, the portable one will do (the compiler said: {error})")
            else:
                self.extensions.append(variant)


def constants(numbers: dict[str, object]) -> str:
    """C text for all that are numbers or rows of numbers; other values are left out."""
    lines = []
    for name, value in numbers.items():
        if isinstance(value, int):
            lines.append(f"enum {{ {name} = {value} }};")
        elif isinstance(value, list | tuple):
            lines.append(f"static const int {name}[] = {{ {', '.join(map(str, value))} }};")
    return "\n".join(lines) + "\n"


def write_if_changed(path: Path, text: str) -> None:
    """A file that looks newer than it is would have everything compiled again."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
