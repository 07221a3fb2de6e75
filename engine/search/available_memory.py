"""How much memory this process may still take: what the machine has free, and what its control group allows."""

from collections.abc import Iterator
from pathlib import Path

NO_LIMIT = 1 << 60                 # control groups write their "unlimited" as a number near 2^63


def available_mb(root: Path = Path("/")) -> int | None:
    """Mebibytes still to be had, None if the system does not say; `root` is where /proc and /sys stand."""
    bounds = [*_machine_bytes(root), *_control_group_bytes(root)]
    return min(bounds) >> 20 if bounds else None


def _machine_bytes(root: Path) -> Iterator[int]:
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) << 10


def _control_group_bytes(root: Path) -> Iterator[int]:
    """What is left under the limits of our own group, in either version of control groups, and of those above it."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _number, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers == "":
            base, names = root / "sys/fs/cgroup", ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            base, names = root / "sys/fs/cgroup/memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        group = base / path.lstrip("/")
        for folder in (group, *group.parents):
            limit, used = (_read(folder / name).strip() for name in names)
            if limit.isdecimal() and used.isdecimal() and int(limit) < NO_LIMIT:
                yield max(0, int(limit) - int(used))
            if folder == base:
                break


def _read(path: Path) -> str:
    """The text of a file, empty where there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""
