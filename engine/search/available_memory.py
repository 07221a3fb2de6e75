"""The memory this process may still allocate, by the machine's free memory and the limits of its cgroups."""

from collections.abc import Iterator
from pathlib import Path

CACHED = ("active", "inactive")    # files that the kernel keeps in memory: read often, and not
NO_LIMIT = 1 << 60                 # bytes; "unlimited" in control groups is a number near 2^63


def available_mb(root: Path = Path("/")) -> int | None:
    """Return the available memory in MiB, or None if unknown. `root` is the folder that holds proc and sys."""
    bounds = [*_machine_bytes(root), *_control_group_bytes(root)]
    return min(bounds) >> 20 if bounds else None


def _machine_bytes(root: Path) -> Iterator[int]:
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) << 10


def _control_group_bytes(root: Path) -> Iterator[int]:
    """Yield what is left under the limits of our cgroup and its parents, for cgroup versions 1 and 2.

    The kernel counts the files that it caches as used, but frees them when memory is short.
    """
    for line in _read(root / "proc/self/cgroup").splitlines():
        _number, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers == "":
            base, names, total = root / "sys/fs/cgroup", ("memory.max", "memory.current"), ""
        elif "memory" in controllers.split(","):
            base, total = root / "sys/fs/cgroup/memory", "total_"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        group = base / path.lstrip("/")
        for folder in (group, *group.parents):
            limit, used = (_read(folder / name).strip() for name in names)
            if limit.isdecimal() and used.isdecimal() and int(limit) < NO_LIMIT:
                cached = sum(_statistic(folder / "memory.stat", f"{total}{kind}_file") for kind in CACHED)
                yield max(0, int(limit) - max(0, int(used) - cached))
            if folder == base:
                break


def _statistic(path: Path, name: str) -> int:
    """Return a number of a file with a name and a number in each line, 0 if it is not there."""
    values = (line.removeprefix(f"{name} ") for line in _read(path).splitlines() if line.startswith(f"{name} "))
    return next((int(value) for value in values if value.isdecimal()), 0)


def _read(path: Path) -> str:
    """Return the text of a file, or an empty string if it cannot be read."""
    try:
        return path.read_text()
    except OSError:
        return ""
