"""Thousands of games leave nothing behind in a daemon whose records are full: no memory, thread or open file."""

import subprocess
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from statistics import linear_regression

import pytest

from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer

from ..fakes.arena import Arena
from ..processes import command_line, descendants, resident_kib, threads_and_files
from .old_records import fill_records
from .rehearsal import CONFIG

GAMES = 2000
AT_ONCE = 8
PLAYERS = 24                    # who take turns: a day allows each a hundred games
GROWTH_KIB = 2048               # allowed in 1,000 games, by the slope of the second half
STILL_ENDING = 2                # threads, or files, that the last games may not have let go of yet
PATIENCE_S = 300.0
CHAOS_GAMES = 1200
# These short waits compress hours; clocks keep their length, so that no game is lost on time.
CHAOS = ["--chaos", "0.2", "--time-scale", "0.05", "--clock", "180+0", "--concurrency", "32"]
SPAN = 40                       # games; in each there is a moment of few games
ROOT = Path(__file__).parents[2]


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
def test_two_thousand_games_leave_nothing_behind(tmp_path: Path) -> None:
    fill_records(tmp_path / "state")
    sizes: list[tuple[int, int]] = []
    at_rest: list[tuple[int, int]] = []
    with RehearsalServer(timing=Timing()) as server:
        arena = Arena(server, tmp_path)
        try:
            arena.configure(concurrency=AT_ONCE, depth=1)
            arena.start()
            players = cycle([arena.player(f"Quick{number}") for number in range(PLAYERS)])
            for played in range(AT_ONCE, GAMES + 1, AT_ONCE):
                for player in islice(players, AT_ONCE):
                    arena.challenge(player, base_s=180)
                arena.until_ended(played, PATIENCE_S)
                arena.until(lambda ended=played: arena.log().count("game.over") == ended)
                assert len(arena.engines()) <= AT_ONCE
                sizes.append((played, resident_kib(arena.process.pid) or 0))
                at_rest.append(threads_and_files(arena.process.pid))
            assert arena.stop() == 0
        finally:
            arena.close()
    half = len(sizes) // 2
    slope_kib, _ = linear_regression(*zip(*sizes[half:], strict=True))
    growth = f"{slope_kib * 1000:.0f} KiB in 1,000 games; resident {sizes[::25]}; threads and files {at_rest[::25]}"
    assert slope_kib * 1000 < GROWTH_KIB, growth
    # Each game that is just ending may hold two connections: only the least of the last quarter is compared.
    last = at_rest[3 * len(at_rest) // 4 :]
    for least, at_first in zip(map(min, *last), at_rest[0], strict=True):
        assert least <= at_first + STILL_ENDING, growth
    print(growth)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
def test_chaos_leaves_nothing_behind(tmp_path: Path) -> None:
    """How many games go on is up to the faults, and each takes memory: only the least of each span is compared."""
    config, log = tmp_path / "config.yml", tmp_path / "log"
    config.write_text(CONFIG)
    words = ["--games", str(CHAOS_GAMES), "--seed", "1", "--config", str(config), *CHAOS]
    resident: list[tuple[int, int]] = []
    with (
        log.open("w") as output,
        subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.old_records", "rehearse", *words],
            cwd=ROOT,
            stdout=output,
            stderr=output,
        ) as rehearsal,
    ):
        while rehearsal.poll() is None:
            ended = log.read_text().count(" plies\n")
            for pid in descendants(rehearsal.pid):
                kib = resident_kib(pid) if " run --config" in command_line(pid) else None
                if kib is not None:
                    resident.append((ended, kib))
            time.sleep(0.5)
    # Not judged is when a move is sent: requests are given up and repeated faster than a busy machine delivers them.
    assert " 0 lost, 0 failed;" in log.read_text(), log.read_text()
    least: dict[int, int] = {}
    for ended, kib in resident:
        span = ended // SPAN
        least[span] = min(kib, least.get(span, kib))
    second_half = [(span * SPAN, kib) for span, kib in sorted(least.items()) if 2 * span * SPAN >= CHAOS_GAMES]
    slope_kib, _ = linear_regression(*zip(*second_half, strict=True))
    figures = f"grows by {slope_kib * 1000:.0f} KiB in 1,000 games; the least of each {SPAN}: {list(least.values())}"
    assert slope_kib * 1000 < GROWTH_KIB, figures
    print(figures)
