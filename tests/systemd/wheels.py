"""Wheels of what is installed here: the daemon as it stands in the checkout, and all it depends on.

Offline and without compiling, unlike `pip wheel`; good for the same release of Python only.
"""

import re
import zipfile
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
_OURS = "lichessbot-daemon"


def pack_all(folder: Path) -> None:
    """The daemon and everything it needs to run."""
    pack(_OURS, folder)
    pack_requirements(folder)


def pack_requirements(folder: Path) -> None:
    """Everything that the daemon needs to run."""
    wanted, packed = _requirements(_OURS), set()
    while wanted:
        name = wanted.pop()
        if name not in packed:
            packed.add(name)
            wanted += _requirements(name)
            pack(name, folder)


def pack(name: str, folder: Path, extra_version: str = "") -> Path:
    """One wheel; `extra_version` makes another version of the same files."""
    installed = metadata.distribution(name)
    version = installed.version + extra_version
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    tag = _tag(installed)
    wheel = folder / f"{name.replace('-', '_')}-{version}-{tag}.whl"
    metadata_text = installed.read_text("METADATA") or installed.read_text("PKG-INFO") or ""
    documents = {
        "METADATA": metadata_text.replace(f"\nVersion: {installed.version}\n", f"\nVersion: {version}\n", 1),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
        "entry_points.txt": installed.read_text("entry_points.txt") or "",
    }
    files = _our_files() if name == _OURS else _files(installed)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as archive:
        for inside, path in files.items():
            archive.write(path, inside)
        for document, text in documents.items():
            archive.writestr(f"{info}/{document}", text)
        listed = [*archive.namelist(), f"{info}/RECORD"]
        archive.writestr(f"{info}/RECORD", "".join(f"{entry},,\n" for entry in listed))
    return wheel


def _requirements(name: str) -> list[str]:
    """Without those of extras; environment markers only ever add what is not installed."""
    required = [line for line in metadata.requires(name) or () if "extra ==" not in line]
    names = [re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in required]
    return [name for name in names if _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _files(installed: metadata.Distribution) -> dict[str, Path]:
    """Return the files by their place in the wheel; scripts are generated at installation."""
    return {
        str(file): Path(str(file.locate()))
        for file in installed.files or ()
        if ".." not in file.parts and "__pycache__" not in file.parts and not file.parts[0].endswith(".dist-info")
    }


def _our_files() -> dict[str, Path]:
    suffixes = (".py", ".pxd", ".bin", ".gz", ".json", ".net", ".yml", ".abi3.so", "py.typed")
    return {
        str(path.relative_to(ROOT)): path
        for package in ("engine", "lichessbot")
        for path in sorted((ROOT / package).rglob("*"))
        if path.is_file() and (path.name.endswith(suffixes) or "static" in path.parts)
    }


def _tag(installed: metadata.Distribution) -> str:
    tags = re.findall(r"^Tag: (\S+)$", installed.read_text("WHEEL") or "", re.MULTILINE)
    return tags[-1] if tags else "py3-none-any"  # py2 stands before py3
