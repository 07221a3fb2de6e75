"""Where the tests get Syzygy files from: the project contains none.

A folder named by SYZYGY_TABLES, or the source archive of python-chess, with all endgames of three and four pieces
and is fetched once into pytest's cache.
"""

import fcntl
import os
import subprocess
import sys
import tarfile
from pathlib import Path

VARIABLE = "SYZYGY_TABLES"
ARCHIVE = "chess==1.11.2"
ENDINGS = 35
INSIDE = "/data/syzygy/regular/"


class NoTables(Exception):
    """Neither way worked; the message says why."""


def find_tables(cache: Path) -> Path:
    """A folder with all endings of three and four pieces. Raises NoTables."""
    folder = Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else cache
    with (cache / "lock").open("w") as lock:           # test processes side by side fetch it once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder == cache and not is_complete(folder):
            _fetch(cache)
    if not is_complete(folder):
        raise NoTables(f"{folder} lacks Syzygy files of three and four pieces")
    return folder


def is_complete(folder: Path) -> bool:
    return all(len(list(folder.glob(f"*{suffix}"))) >= ENDINGS for suffix in (".rtbw", ".rtbz"))


def _fetch(cache: Path) -> None:
    source = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--dest", str(cache), ARCHIVE]
    command = [sys.executable, "-m", "pip", "download", "-q", "--retries", "0", "--timeout", "10", *source]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    except subprocess.TimeoutExpired:
        raise NoTables(f"{ARCHIVE} cannot be fetched in time; set {VARIABLE} to a folder of Syzygy files") from None
    if answer.returncode != 0:
        last = (answer.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise NoTables(f"{ARCHIVE} cannot be fetched ({last}); set {VARIABLE} to a folder of Syzygy files")
    (archive,) = cache.glob("chess-*.tar.gz")
    with tarfile.open(archive) as members:
        for member in members:
            content = members.extractfile(member) if INSIDE in member.name and ".rtb" in member.name else None
            if content is not None:
                (cache / Path(member.name).name).write_bytes(content.read())
    archive.unlink()
