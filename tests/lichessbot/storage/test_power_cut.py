"""A power cut at any moment loses no acknowledged row.

A writer runs under strace, which shows the order of its writes, syncs and acknowledgements. From that the test builds
the disk as it may look after the cut: everything synced, and any of the later writes, in any order, each perhaps torn
between two sectors.
"""

import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lichessbot.storage.database import FILE_NAME, Database

ROWS = 400                      # enough for the log of the database to be written back, which happens at 1,000 pages
CUTS = 75
SECTOR = 512
FILES = (FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-journal")
WRITER = f"""
import os, sys
from pathlib import Path
from lichessbot.storage.database import Database
file = Database(Path(sys.argv[1]))
for number in range({ROWS}):
    file.write([("INSERT INTO answers (challenge_id, answered_at) VALUES (?, ?)", [(str(number) + "x" * 3000, 0.0)])])
    os.write(1, b"safe %d " % number)
"""
CALLS = "openat,close,pwrite64,write,ftruncate,fdatasync,fsync,unlink"
CALL = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+)")


@dataclass
class Write:
    """Bytes written but not synced; None: the file is truncated there."""

    offset: int
    data: bytes | None


@dataclass
class File:
    synced: bytearray = field(default_factory=bytearray)
    pending: list[Write] = field(default_factory=list)

    def sync(self) -> None:
        for write in self.pending:
            put(self.synced, write)
        self.pending = []

    def after_a_cut(self, rng: random.Random) -> bytes:
        """Return one possible content after a power cut."""
        content = bytearray(self.synced)
        arrived = [write for write in self.pending if rng.random() < 0.5]
        rng.shuffle(arrived)
        for write in arrived:
            torn = write.data is not None and rng.random() < 0.5
            kept = write.data[: SECTOR * rng.randrange(len(write.data) // SECTOR + 1)] if torn else write.data
            put(content, Write(write.offset, kept))
        return bytes(content)


def put(content: bytearray, write: Write) -> None:
    if write.data is None:
        del content[write.offset :]
    content.extend(bytes(max(0, write.offset - len(content))))
    if write.data is not None:
        content[write.offset : write.offset + len(write.data)] = write.data


class Disk:
    """The files of the database after the system calls of a process."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.safe = 0
        self._open: dict[int, str] = {}

    def hear(self, call: str, arguments: str, result: int) -> None:
        handle = int(arguments.split(",")[0]) if arguments[:1].isdigit() else -1
        file = self.files.get(self._open.get(handle, ""))
        match call:
            case "openat" if result >= 0:
                self._open[result] = name = Path(text_of(arguments)[0].decode()).name
                if name in FILES:
                    self.files.setdefault(name, File())
            case "close":
                self._open.pop(handle, None)
            case "unlink":
                self.files.pop(Path(text_of(arguments)[0].decode()).name, None)
            case "write" if handle == 1:
                self.safe += 1
            case "pwrite64" if file is not None:
                data, rest = text_of(arguments)
                file.pending.append(Write(int(rest.split(",")[-1]), data[:result]))
            case "ftruncate" if file is not None:
                file.pending.append(Write(int(arguments.split(",")[1]), None))
            case "fdatasync" | "fsync" if file is not None:
                file.sync()


def text_of(arguments: str) -> tuple[bytes, str]:
    """Return the quoted bytes among the arguments, and the rest."""
    _, quoted, rest = arguments.split('"')
    return bytes.fromhex(quoted.replace("\\x", "")), rest


def calls(log: Path) -> Iterator[tuple[str, str, int]]:
    """Yield name, arguments and result of every call, in the order in which they ended."""
    begun: dict[str, str] = {}
    for line in log.read_text().splitlines():
        process, text = line.split(maxsplit=1)
        if text.endswith("<unfinished ...>"):
            begun[process] = text.removesuffix("<unfinished ...>")
            continue
        if text.startswith("<..."):
            text = begun.pop(process) + text.split("resumed>", 1)[1]
        if found := CALL.match(text):
            yield found[1], found[2], int(found[3])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The system calls of the writer."""
    if (strace := shutil.which("strace")) is None:
        pytest.skip("no strace here")
    path = tmp_path / "log"
    command = [strace, "-f", "-qq", "-xx", "-s", "100000", "-e", f"trace={CALLS}", "-o", str(path)]
    done = subprocess.run([*command, sys.executable, "-P", "-c", WRITER, str(tmp_path / "state")], capture_output=True)
    if done.returncode != 0 and b"PTRACE" in done.stderr:
        pytest.skip("no process may be traced here")
    assert done.stdout.split()[-1] == str(ROWS - 1).encode(), done.stderr
    return path


def test_a_power_cut_loses_no_acknowledged_row(log: Path, tmp_path: Path) -> None:
    rng, disk, heard = random.Random(1), Disk(), list(calls(log))
    begins = next(number for number, (call, *_) in enumerate(heard) if call == "pwrite64")
    cuts = set(rng.sample(range(begins, len(heard)), CUTS))
    lost = 0
    for number, (call, arguments, result) in enumerate(heard):
        disk.hear(call, arguments, result)
        if number in cuts:
            folder = tmp_path / f"cut{number}"
            folder.mkdir()
            for name, file in disk.files.items():
                (folder / name).write_bytes(file.after_a_cut(rng))
                lost += len(file.pending)
            check(folder, disk.safe)
            shutil.rmtree(folder)
    assert disk.safe == ROWS
    assert len(disk.files[FILE_NAME].synced) > ROWS * 1000, "the log was written back on the way"
    assert lost > CUTS, "the cuts came when something was on its way"


def check(folder: Path, safe: int) -> None:
    """Check that the next daemon finds every acknowledged row, and at most one more."""
    file = Database(folder)
    found = [row[0].rstrip("x") for row in file.read("SELECT challenge_id FROM answers ORDER BY rowid")]
    file.close()
    assert not list(folder.glob("*.damaged")), f"after {safe} rows the file was damaged"
    assert found in ([str(number) for number in range(count)] for count in (safe, safe + 1))
