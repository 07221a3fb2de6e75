"""Facts about other processes, read from /proc."""

import os
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):     # the second if it ends while it is read
        return False


def descendants(pid: int) -> list[int]:
    """The children of a process, and theirs."""
    found: list[int] = []
    try:
        listings = list(Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:    # the process has just ended
        return found
    for listing in listings:
        try:
            children = [int(child) for child in listing.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


def resident_kib(pid: int) -> int | None:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), None)


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def threads_and_files(pid: int) -> tuple[int, int]:
    """How many the process has at this moment."""
    folder = Path(f"/proc/{pid}")
    return len(list((folder / "task").iterdir())), len(list((folder / "fd").iterdir()))


def marked(mark: str) -> list[int]:
    """Return the processes whose environment contains the text `mark`, without this one."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:     # it has ended, or belongs to another user
            continue
        if mark.encode() in environment and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found
