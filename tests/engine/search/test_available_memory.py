"""Available memory: the least of machine and control groups, in both versions."""

from pathlib import Path

import pytest

from engine.facade import Engine
from engine.search.available_memory import available_mb

MIB = 1 << 20


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with 8,000 MiB free and no control groups."""
    write(tmp_path, "proc/meminfo", f"MemTotal: {16000 * 1024} kB\nMemAvailable: {8000 * 1024} kB\n")
    return tmp_path


def test_without_control_groups_the_machine_decides(machine: Path) -> None:
    assert available_mb(machine) == 8000


def test_a_system_without_figures_sets_no_bound(tmp_path: Path) -> None:
    assert available_mb(tmp_path) is None


def test_a_group_of_the_second_version_bounds_us(machine: Path) -> None:
    write(machine, "proc/self/cgroup", "0::/system.slice/bot.service\n")
    folder = "sys/fs/cgroup/system.slice/bot.service"
    write(machine, f"{folder}/memory.max", f"{500 * MIB}\n")
    write(machine, f"{folder}/memory.current", f"{120 * MIB}\n")
    assert available_mb(machine) == 380


def test_a_group_above_ours_bounds_us_too(machine: Path) -> None:
    write(machine, "proc/self/cgroup", "0::/pod/bot\n")
    write(machine, "sys/fs/cgroup/pod/bot/memory.max", "max\n")
    write(machine, "sys/fs/cgroup/pod/bot/memory.current", f"{10 * MIB}\n")
    write(machine, "sys/fs/cgroup/pod/memory.max", f"{300 * MIB}\n")
    write(machine, "sys/fs/cgroup/pod/memory.current", f"{200 * MIB}\n")
    assert available_mb(machine) == 100


def test_a_group_of_the_first_version_bounds_us(machine: Path) -> None:
    write(machine, "proc/self/cgroup", "5:cpu,cpuacct:/bot\n4:memory:/bot\n")
    write(machine, "sys/fs/cgroup/memory/bot/memory.limit_in_bytes", f"{64 * MIB}\n")
    write(machine, "sys/fs/cgroup/memory/bot/memory.usage_in_bytes", f"{4 * MIB}\n")
    write(machine, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    write(machine, "sys/fs/cgroup/memory/memory.usage_in_bytes", f"{MIB}\n")
    assert available_mb(machine) == 60


def test_cached_files_of_a_group_do_not_count_as_used(machine: Path) -> None:
    """The kernel frees them. Else hash tables would be ever smaller the more of tablebases and records was read."""
    write(machine, "proc/self/cgroup", "4:memory:/bot\n0::/bot\n")
    folder = "sys/fs/cgroup/bot"
    write(machine, f"{folder}/memory.max", f"{500 * MIB}\n")
    write(machine, f"{folder}/memory.current", f"{490 * MIB}\n")
    cached = f"file {400 * MIB}\ninactive_file {300 * MIB}\nactive_file {90 * MIB}\n"
    write(machine, f"{folder}/memory.stat", f"anon {90 * MIB}\n{cached}")
    assert available_mb(machine) == 400
    folder = "sys/fs/cgroup/memory/bot"
    write(machine, f"{folder}/memory.limit_in_bytes", f"{300 * MIB}\n")
    write(machine, f"{folder}/memory.usage_in_bytes", f"{290 * MIB}\n")
    cached = f"total_inactive_file {60 * MIB}\ntotal_active_file {140 * MIB}\n"
    write(machine, f"{folder}/memory.stat", f"inactive_file {5 * MIB}\n{cached}")
    assert available_mb(machine) == 210


def test_a_table_larger_than_the_memory_is_refused_by_message() -> None:
    free = available_mb()
    if free is None:
        pytest.skip("this system does not say what is free")
    with pytest.raises(MemoryError, match=r"no memory for a hash table of \d+ MiB: only \d+ MiB are free"):
        Engine(hash_mb=free + (1 << 20))     # no other process gives back a tebibyte meanwhile
