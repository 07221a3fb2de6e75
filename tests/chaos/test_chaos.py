"""Seeded chaos for many games against the real daemon. A failing run prints the command that replays it."""

import re
import subprocess
import time
from pathlib import Path

import pytest

from ..processes import command_line, descendants
from .rehearsal import CONFIG, REHEARSE

GAMES = 340                     # of each run, 2,040 in all
CONCURRENCY = 32
CHANCE = "0.2"                  # at full time scale: shorter waits with the same clocks would prove nothing
PACE = "fake_think_time: true\n"       # as people's games go: outages should find clocks that have run down
SAMPLE_S = 0.5


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
@pytest.mark.parametrize(("clock", "seed"), list(zip(["180+0", "180+2", "300+0"] * 2, range(1, 7), strict=True)))
def test_chaos_loses_no_game_that_could_be_saved(clock: str, seed: int, tmp_path: Path) -> None:
    config, log = tmp_path / "config.yml", tmp_path / "log"
    config.write_text(CONFIG + PACE)
    words = ["--games", str(GAMES), "--concurrency", str(CONCURRENCY), "--clock", clock, "--chaos", CHANCE]
    words += ["--seed", str(seed), "--config", str(config)]
    seen: set[str] = set()
    with log.open("w") as output, subprocess.Popen([*REHEARSE, *words], stdout=output, stderr=output) as rehearsal:
        while rehearsal.poll() is None:
            seen.update(command_line(pid) for pid in descendants(rehearsal.pid))
            time.sleep(SAMPLE_S)
    text = log.read_text()
    # Lost games, illegal and doubled moves, broken limits, leftovers and a token in the log all fail the rehearsal.
    assert rehearsal.returncode == 0, text
    assert len(re.findall(r"^game \d+ .*(?:ply|plies)$", text, re.MULTILINE)) == GAMES
    assert not [line for line in seen if "lip_" in line], "a token among the arguments of a process"
