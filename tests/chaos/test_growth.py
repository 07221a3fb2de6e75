"""Two thousand games leave nothing behind in a daemon whose memories are full: no memory, thread or open file."""

from itertools import cycle, islice
from pathlib import Path
from statistics import linear_regression

import pytest

from lichessbot.rehearsal.server import RehearsalServer
from lichessbot.rehearsal.timing import Timing

from ..fakes.arena import Arena
from ..test_acceptance import resident_kib
from .seasoned import fill_memories

GAMES = 2000
AT_ONCE = 8
PLAYERS = 24                    # who take turns: a day allows each a hundred games
GROWTH_KIB = 2048               # allowed in 1,000 games, by the slope of the second half
STILL_ENDING = 8                # threads, or files, that the last games may not have let go of yet
PATIENCE_S = 300.0


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
def test_two_thousand_games_leave_nothing_behind(tmp_path: Path) -> None:
    fill_memories(tmp_path / "state")
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
                arena.until(lambda: not arena.engines())
                sizes.append((played, resident_kib(arena.process.pid) or 0))
                at_rest.append(threads_and_files(arena.process.pid))
            assert arena.stop() == 0
        finally:
            arena.close()
    half = len(sizes) // 2
    slope_kib, _ = linear_regression(*zip(*sizes[half:], strict=True))
    growth = f"{slope_kib * 1000:.0f} KiB in 1,000 games; resident {sizes[::25]}; threads and files {at_rest[::25]}"
    assert slope_kib * 1000 < GROWTH_KIB, growth
    for most, at_first in zip(map(max, *at_rest), at_rest[0], strict=True):
        assert most <= at_first + STILL_ENDING, growth
    print(growth)


def threads_and_files(pid: int) -> tuple[int, int]:
    """How many the process has at this moment."""
    folder = Path(f"/proc/{pid}")
    return len(list((folder / "task").iterdir())), len(list((folder / "fd").iterdir()))
