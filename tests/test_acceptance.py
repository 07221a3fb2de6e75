"""What has to hold before a release: many games in a row, judged from outside."""

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import chess.pgn
import pytest

from engine.facade import build_mode
from tests.processes import command_line, descendants, resident_kib

GAMES = 50
ROOT = Path(__file__).parents[1]
# With full records: a new daemon grows while it fills its own.
REHEARSE = [sys.executable, "-m", "tests.chaos.old_records", "rehearse"]
# Natural ends; anything else would be a forfeit, an abort or an error of ours.
TERMINATIONS = {"Normal"}


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
@pytest.mark.parametrize("variant", ["standard", "chess960", "fromPosition"])
def test_fifty_games_in_a_row_end_by_the_rules_in_flat_memory(tmp_path: Path, variant: str) -> None:
    pgn, log = tmp_path / "games.pgn", tmp_path / "log"
    command = [*REHEARSE, "--games", str(GAMES), "--concurrency", "4", "--clock", "5+0"]
    command += ["--variant", variant, "--pgn", str(pgn)]
    seen: set[int] = set()
    memory: list[int] = []
    with log.open("w") as output, subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output) as rehearsal:
        while rehearsal.poll() is None:
            family = descendants(rehearsal.pid)
            seen |= set(family)
            daemons = [pid for pid in family if " run --config" in command_line(pid)]
            memory += [kib for pid in daemons if (kib := resident_kib(pid)) is not None]
            time.sleep(0.1)
    text = log.read_text()
    assert rehearsal.returncode == 0, text
    assert text.splitlines()[-1].endswith(f"engine: {build_mode()}")
    assert not [pid for pid in seen if os.path.exists(f"/proc/{pid}")], "a process was left over"
    quarter = len(memory) // 4
    growth_kib = median(memory[-quarter:]) - median(memory[quarter : 2 * quarter])
    assert growth_kib < 2048, f"the daemon grew by {growth_kib} KiB over the last half"
    assert judged_games(pgn) == GAMES


def judged_games(path: Path) -> int:
    """How many games of the file python-chess replays, each with the result it would give itself."""
    count = 0
    with path.open() as file:
        while (game := chess.pgn.read_game(file)) is not None:
            assert game.errors == []
            board = game.end().board()
            outcome = board.outcome(claim_draw=True)
            assert outcome is not None, game.headers
            assert outcome.result() == game.headers["Result"], game.headers
            assert game.headers["Termination"] in TERMINATIONS, game.headers
            count += 1
    return count
