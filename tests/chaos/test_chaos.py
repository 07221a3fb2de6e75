"""Seeded chaos for many games against the real daemon. A failing run prints the command that replays it."""

import re
import subprocess
import time
from pathlib import Path
from statistics import linear_regression

import pytest

from ..test_acceptance import command_line, descendants, resident_kib
from .rehearsal import CONFIG, REHEARSE

GAMES = 170                     # of each run, half of them against bots, of which a day allows 100: 1,020 in all
CONCURRENCY = 32
CHANCE = "0.2"                  # at full time scale: shorter waits with the same clocks would prove nothing
PACE = "fake_think_time: true\n"       # as people's games go: outages should find clocks that have run down
GROWTH_KIB = 2048               # allowed in 1,000 games, by the slope of the second half
SAMPLE_S = 0.5


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
@pytest.mark.parametrize(("clock", "seed"), list(zip(["180+0", "180+2", "300+0"] * 2, range(1, 7), strict=True)))
def test_chaos_loses_no_game_that_could_be_saved(clock: str, seed: int, tmp_path: Path) -> None:
    config, log = tmp_path / "config.yml", tmp_path / "log"
    config.write_text(CONFIG + PACE)
    words = ["--games", str(GAMES), "--concurrency", str(CONCURRENCY), "--clock", clock, "--chaos", CHANCE]
    words += ["--seed", str(seed), "--config", str(config)]
    memory: list[tuple[float, int]] = []
    with log.open("w") as output, subprocess.Popen([*REHEARSE, *words], stdout=output, stderr=output) as rehearsal:
        seen = watch(rehearsal, memory)
    text = log.read_text()
    # Lost games, illegal and doubled moves, broken limits, leftovers and a token in the log all fail the rehearsal.
    assert rehearsal.returncode == 0, text
    assert len(re.findall(r"^game \d+ .*plies$", text, re.MULTILINE)) == GAMES
    assert not [line for line in seen if "lip_" in line], "a token among the arguments of a process"
    assert growth_kib(memory) < GROWTH_KIB


def watch(rehearsal: "subprocess.Popen[bytes]", memory: list[tuple[float, int]]) -> set[str]:
    """Until the end: every command line that was seen; the daemon's memory goes to `memory`."""
    seen: set[str] = set()
    while rehearsal.poll() is None:
        for pid in descendants(rehearsal.pid):
            line = command_line(pid)
            seen.add(line)
            kib = resident_kib(pid) if " run --config" in line else None
            if kib is not None:
                memory.append((time.monotonic(), kib))
        time.sleep(SAMPLE_S)
    return seen


def growth_kib(memory: list[tuple[float, int]]) -> float:
    """By how much the daemon would grow in 1,000 games if it went on as in the second half."""
    half = memory[len(memory) // 2 :]
    times, sizes = zip(*half, strict=True)
    slope, _ = linear_regression(times, sizes)
    games_in_half = GAMES / 2
    return slope * (times[-1] - times[0]) / games_in_half * 1000
