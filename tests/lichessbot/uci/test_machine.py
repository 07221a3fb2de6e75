"""The machine's cores and memory, and what engines get of them."""

from pathlib import Path

import pytest

from lichessbot.config import Config
from lichessbot.lichess.enums import Speed
from lichessbot.uci.machine import Machine, fitted, memory_warnings


@pytest.mark.parametrize(
    ("hash_mb", "engines", "memory_mb", "expected"),
    [
        (64, 4, 8000, 64),
        (2048, 1, 8000, 2048),
        (1460, 3, 8000, 1460),
        (4096, 3, 8000, 1460),  # a quarter, as one is for correspondence, of three quarters, less what it takes anyway
        (64, 4, 100, 1),
        (4096, 4, None, 4096),  # unknown
    ],
)
def test_hash_tables_are_limited_by_the_memory(
    hash_mb: int, engines: int, memory_mb: int | None, expected: int
) -> None:
    settings = Config.model_validate({"challenge": {"concurrency": engines}, "engine": {"hash_mb": hash_mb}})
    machine = Machine(None, memory_mb)
    assert fitted(settings.engine, settings, machine).hash_mb == expected
    told = list(memory_warnings(settings, machine))
    assert bool(told) is (expected < hash_mb)
    assert all(f"engine.hash_mb: {hash_mb} MiB" in line for line in told)


@pytest.mark.parametrize(
    ("cores", "engines", "threads", "ponders"),
    [(2, 1, 1, True), (2, 2, 1, True), (2, 3, 1, False), (2, 1, 3, False), (8, 2, 4, True), (None, 64, 64, True)],
)
def test_pondering_needs_a_core_for_each_thread_of_each_game(
    cores: int | None, engines: int, threads: int, ponders: bool
) -> None:
    settings = Config.model_validate({"challenge": {"concurrency": engines}, "engine": {"threads": threads}})
    assert fitted(settings.engine, settings, Machine(cores, None)).ponder is ponders


@pytest.mark.parametrize(("cores", "ponders"), [(3, False), (4, True)])
def test_pondering_in_a_correspondence_game_leaves_a_core_to_each_game_with_a_clock(cores: int, ponders: bool) -> None:
    settings = Config.model_validate({"challenge": {"concurrency": 3}})
    machine = Machine(cores, None)
    assert fitted(settings.engine, settings, machine).ponder, "the correspondence game yields"
    assert fitted(settings.engine, settings, machine, Speed.CORRESPONDENCE).ponder is ponders


@pytest.mark.parametrize(
    ("quotas", "cores"),
    [
        ({}, None),
        ({"bots": "max 100000"}, None),
        ({"bots": "25000 100000"}, 1),
        ({"": "150000 100000", "bots": "400000 100000"}, 1),
        ({"bots": "9900000 100000"}, None),
        ({"bots": "nonsense"}, None),
    ],
    ids=["none", "no limit", "a quarter of a core", "of a parent", "more than there are", "unreadable"],
)
def test_a_limit_of_the_control_group_counts_as_so_many_cores(
    tmp_path: Path, quotas: dict[str, str], cores: int | None
) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/bots\n")
    for group, text in quotas.items():
        folder = tmp_path / "sys/fs/cgroup" / group
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.max").write_text(f"{text}\n")
    without = Machine.detect(tmp_path / "none").cores
    assert Machine.detect(tmp_path).cores == (without if cores is None else cores)
