"""Eight games at once on a host with 256 MB of memory and a quarter of a core, held to that by control groups."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.systemd.boot import control_groups

MEMORY = 256 << 20
PERIOD_US, QUOTA_US = 100_000, 25_000
GAMES = 8
LICHESSBOT = [sys.executable, "-P", "-u", "-m", "lichessbot"]
CONFIG = """\
url: http://127.0.0.1:{port}
state_dir: state
challenge:
  concurrency: 8
  accept_bot: true
  time_controls: [bullet]
  min_base: 0
  min_increment: 0
"""

pytestmark = pytest.mark.long


@contextmanager
def small_groups() -> Iterator[list[Path]]:
    """Yield the control groups that hold the limits; skip where none can be made."""
    ours = control_groups()
    name = f"lichessbot-small.{os.getpid()}"
    if {"memory", "cpu"} <= ours.keys():
        limits = {
            ours["memory"] / name / "memory.limit_in_bytes": MEMORY,
            ours["cpu"] / name / "cpu.cfs_period_us": PERIOD_US,
            ours["cpu"] / name / "cpu.cfs_quota_us": QUOTA_US,
        }
    elif "" in ours:
        limits = {ours[""] / name / "memory.max": MEMORY, ours[""] / name / "cpu.max": f"{QUOTA_US} {PERIOD_US}"}
    else:
        pytest.skip("no control groups")
    groups = sorted({path.parent for path in limits})
    try:
        for group in groups:
            group.mkdir()
        for path, limit in limits.items():
            path.write_text(str(limit))
    except OSError as error:
        pytest.skip(f"no control group can be limited: {error}")
    try:
        yield groups
    finally:
        for group in groups:
            with suppress(OSError):
                group.rmdir()


def test_eight_bullet_games_at_once_lose_none_on_time(tmp_path: Path) -> None:
    serve = ["rehearse", "--serve", "--games", str(GAMES), "--concurrency", str(GAMES), "--clock", "60+0"]
    serve += ["--opponent", "engine", "--depth", "6"]
    with small_groups() as groups, subprocess.Popen(
        [*LICHESSBOT, *serve], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        facts: dict[str, str] = {}
        while not {"url", "token"} <= facts.keys():
            key, _, value = server.stdout.readline().partition(": ")
            facts[key] = value.partition(" ")[0].strip()
        port = facts["url"].rpartition(":")[2]
        (tmp_path / "config.yml").write_text(CONFIG.format(port=port))
        enter = "".join(f"echo $$ >{group}/cgroup.procs; " for group in groups)
        with (tmp_path / "log").open("w") as log, subprocess.Popen(
            ["sh", "-c", f'{enter}exec "$@"', "sh", *LICHESSBOT, "run", "--config", "config.yml"],
            cwd=tmp_path, env={**os.environ, "LICHESS_BOT_TOKEN": facts["token"]}, stderr=log,
        ) as daemon:  # fmt: skip
            try:
                text, _ = server.communicate(timeout=300)
            finally:
                server.kill()
                daemon.send_signal(signal.SIGTERM)
                assert daemon.wait(30) == 0
    log_text = (tmp_path / "log").read_text()
    assert server.returncode == 0, text + log_text
    assert ", 0 failed\n" in text, "a move came too late\n" + text
    assert "engine.died" not in log_text, log_text
