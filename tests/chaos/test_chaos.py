"""Seeded chaos for many games against the real daemon. A failing run prints the command that replays it."""

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, linear_regression

import pytest

from ..test_acceptance import command_line, descendants, resident_kib
from .rehearsal import CONFIG

GAMES = 170                     # of each run, half of them against bots, of which a day allows 100: 1,020 in all
CONCURRENCY = 32
CHANCE = "0.2"                  # at full time scale: shorter waits with the same clocks would prove nothing
PACE = "fake_think_time: true\n"       # as people's games go: outages should find clocks that have run down
GROWTH_KIB = 2048               # allowed in 1,000 games, by the slope of the second half
SPANS = 10                      # of that half; the memory of one hardly depends on that of another
CERTAIN = 2.9                   # standard errors: as many spans without any growth get so far once in a hundred runs
SAMPLE_S = 0.5
ROOT = Path(__file__).parents[2]
REHEARSE = [sys.executable, "-m", "tests.chaos.seasoned", "rehearse"]


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
@pytest.mark.parametrize(("clock", "seed"), list(zip(["180+0", "180+2", "300+0"] * 2, range(1, 7), strict=True)))
def test_chaos_loses_no_game_that_could_be_saved(clock: str, seed: int, tmp_path: Path) -> None:
    config, log = tmp_path / "config.yml", tmp_path / "log"
    config.write_text(CONFIG + PACE)
    words = ["--games", str(GAMES), "--concurrency", str(CONCURRENCY), "--clock", clock, "--chaos", CHANCE]
    words += ["--seed", str(seed), "--config", str(config)]
    memory: list[tuple[float, int]] = []
    with (
        log.open("w") as output,
        subprocess.Popen([*REHEARSE, *words], cwd=ROOT, stdout=output, stderr=output) as rehearsal,
    ):
        seen = watch(rehearsal, memory)
    text = log.read_text()
    # Lost games, illegal and doubled moves, broken limits, leftovers and a token in the log all fail the rehearsal.
    assert rehearsal.returncode == 0, text
    assert len(re.findall(r"^game \d+ .*plies$", text, re.MULTILINE)) == GAMES
    assert not [line for line in seen if "lip_" in line], "a token among the arguments of a process"
    growth_kib, error_kib = growth(memory)
    resident = [f"{mean:.0f}" for mean in means(memory)]
    figures = f"grows by {growth_kib:.0f} +- {error_kib:.0f} KiB in 1,000 games; tenths of the run: {resident}"
    assert growth_kib < max(GROWTH_KIB, CERTAIN * error_kib), figures
    print(figures)


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


def growth(memory: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """By how much the daemon would grow in 1,000 games if it went on as in the second half, and the standard error.

    Ten games more or less at a time make a difference of megabytes: only a longer run, as of `test_growth`, can tell
    two of them from nothing.
    """
    resident = means(memory[len(memory) // 2 :])
    games = [(span + 0.5) / SPANS * GAMES / 2 / 1000 for span in range(SPANS)]
    slope, begin = linear_regression(games, resident)
    rest = sum((mean - begin - slope * at) ** 2 for at, mean in zip(games, resident, strict=True)) / (SPANS - 2)
    error: float = (rest / sum((at - fmean(games)) ** 2 for at in games)) ** 0.5
    return slope, error


def means(memory: Sequence[tuple[float, int]]) -> list[float]:
    """Of `SPANS` equal parts, in KiB."""
    length = len(memory) // SPANS
    return [fmean(kib for _, kib in memory[span * length : (span + 1) * length]) for span in range(SPANS)]


@pytest.mark.parametrize(("leak_kib", "found"), [(0, False), (60, True)])
def test_growth_is_told_from_unrest(leak_kib: int, found: bool) -> None:
    """Games come and go, some with a megabyte; each of a run of `GAMES` may leave a little behind."""
    samples = 3000
    memory = [(float(at), 70_000 + at % 500 * 4 + at * GAMES // samples * leak_kib) for at in range(samples)]
    growth_kib, error_kib = growth(memory)
    assert (growth_kib > max(GROWTH_KIB, CERTAIN * error_kib)) == found
