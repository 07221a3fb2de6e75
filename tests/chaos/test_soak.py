"""Two hours of games at real pace, beside a load: memory, threads and open files stay as they are after an hour."""

import subprocess
import sys
import time
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from statistics import linear_regression, median

import pytest

from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer

from ..fakes.arena import Arena, SlowOpponent, judge
from ..processes import resident_kib, threads_and_files
from .old_records import fill_records

SOAK_S = 7200
AT_ONCE = 8
SAMPLE_S = 5.0
GROWTH_KIB_AN_HOUR = 2048
MORE_THREADS_OR_FILES = 2       # the median of the last quarter against that of the second
LOADS = 2
BUSY = [sys.executable, "-c", "while True: pass"]


class Thinker(SlowOpponent):
    thinks_s = 1.5


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
def test_two_hours_beside_a_load_change_nothing(tmp_path: Path) -> None:
    fill_records(tmp_path / "state")
    samples: list[tuple[float, int, int, int]] = []
    with ExitStack() as loads, RehearsalServer(timing=Timing()) as server:
        arena = Arena(server, tmp_path)
        try:
            arena.configure(concurrency=AT_ONCE, engine="nodes: 30000")
            arena.start()
            for _ in range(LOADS):
                loads.callback(loads.enter_context(subprocess.Popen(BUSY)).kill)
            pid, began_at, names = arena.process.pid, time.monotonic(), count()
            while (passed_s := time.monotonic() - began_at) < SOAK_S:
                for _ in range(AT_ONCE - (len(arena.started) - len(arena.ended))):
                    arena.challenge(arena.player(f"Thinker{next(names)}", Thinker), base_s=300, increment_s=3)
                time.sleep(SAMPLE_S)
                samples.append((passed_s, resident_kib(pid) or 0, *threads_and_files(pid)))
            assert arena.process.poll() is None, arena.log()[-4000:]
            for session in list(arena.ended):
                judge(session)
            assert arena.stop() == 0
        finally:
            arena.close()
    figures = f"{len(arena.ended)} games; seconds, KiB, threads, files: {samples[:: len(samples) // 12]}"
    print(figures)
    quarter = len(samples) // 4
    times, resident, *_ = zip(*samples[2 * quarter :], strict=True)
    slope_kib, _ = linear_regression(times, resident)
    assert slope_kib * 3600 < GROWTH_KIB_AN_HOUR, f"{slope_kib * 3600:.0f} KiB an hour; {figures}"
    for column in (2, 3):
        early = median(sample[column] for sample in samples[quarter : 2 * quarter])
        late = median(sample[column] for sample in samples[3 * quarter :])
        assert late <= early + MORE_THREADS_OR_FILES, figures
