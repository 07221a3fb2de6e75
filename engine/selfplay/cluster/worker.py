"""What runs on a worker of the cluster: the check that it is the same engine, and the tasks.

The functions are sent by name, so a worker without this package fails at once.
"""

import pickle
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from distributed import Scheduler, Worker, WorkerPlugin, get_worker

import engine
from engine.board import Board
from engine.evaluation.eval_file import HAND_WRITTEN, build_mode, default_choice
from engine.selfplay.games import FixedNodesPlayer

THREADS = "threads"
FILES = ("**/*.py", "**/*.pxd", "data/*.*", "data/variants/*.net")
SEARCHED = (
    "r1bq1rk1/ppp2pp1/4p2p/3pn3/Pb2P2P/2NB2P1/1PPP1P2/R1BQ1RK1 w - - 0 7",
    "4rk2/1R1Q3p/3p1prP/3qb1p1/1B4P1/4P3/P4P2/5RK1 w - - 3 26",
    "8/8/1p6/p1pp4/P2p2kp/1P1P4/6K1/8 w - - 2 56",
)
SEARCH_NODES = 2000


class Job(WorkerPlugin):
    """The function that all tasks of a run share, with what they share: a network is sent once per worker."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.is_running = False
        self.is_dropped = False


class Dropped(Exception):
    """The run of a task has ended before the task began."""


@cache
def identity() -> tuple[tuple[str, str], ...]:
    """Return what all processes of a cluster must have in common, as names and values.

    It is taken once per process: files that are edited later are not those that run. The checksum of a few searches
    tells a build that is older than its sources, and one that computes differently.
    """
    return (
        ("lichessbot", engine.__version__),
        ("engine files", files_checksum(Path(engine.__file__).parent)),
        ("engine build", build_mode()),
        ("test searches", _search_checksum()),
        ("Python", f"{sys.version_info.major}.{sys.version_info.minor}"),
        ("distributed", version("distributed")),
    )


def files_checksum(folder: Path) -> str:
    """Return the checksum of sources, networks and books; what is compiled from them differs between machines."""
    digest = sha256()
    for path in sorted({path for pattern in FILES for path in folder.glob(pattern)}):
        digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _search_checksum() -> str:
    found = []
    for evaluation in {HAND_WRITTEN: None, default_choice(): None}:
        player = FixedNodesPlayer(evaluation, SEARCH_NODES)
        for fen in SEARCHED:
            player.new_game()
            best = player.search(Board(fen))
            found.append((best.move, best.white_score))
    return sha256(str(found).encode()).hexdigest()[:12]


def differences(expected: dict[str, str], own: dict[str, str]) -> list[str]:
    """Return what differs, in words."""
    return [f"{name}: {own[name]}, expected {value}" for name, value in expected.items() if own[name] != value]


def check_scheduler(expected: dict[str, str], dask_scheduler: Scheduler | None = None) -> list[str]:
    """Return what differs on the scheduler, which reads the tasks too."""
    return differences(expected, dict(identity()))


async def admit(
    expected: dict[str, str], job: str, function: bytes, dask_worker: Worker | None = None
) -> list[str]:
    """Take a job and offer to work for it, or return what differs. The offer is a resource that the tasks need."""
    assert dask_worker is not None, "Dask passes it"
    found = differences(expected | {THREADS: "1"}, dict(identity()) | {THREADS: str(dask_worker.state.nthreads)})
    if not found:
        await dask_worker.plugin_add(Job(pickle.loads(function)), name=job, catch_errors=False)
        await dask_worker.set_resources(**{job: 1})
    return found


async def forget(job: str, dask_worker: Worker | None = None) -> bool:
    """Drop a job and return whether a task of it is still running, and a restart can end it."""
    assert dask_worker is not None, "Dask passes it"
    plugin = dask_worker.plugins.get(job)
    if not isinstance(plugin, Job):
        return False
    plugin.is_dropped = True           # ends a task that is about to run, and does not say so yet
    await dask_worker.set_resources(**{job: 0})
    await dask_worker.plugin_remove(job)
    return plugin.is_running and dask_worker.nanny is not None


def run_task(job: str, task: Any) -> Any:
    """Run a task of a job that this worker was admitted to."""
    plugin = get_worker().plugins[job]
    assert isinstance(plugin, Job)
    plugin.is_running = True
    try:
        if plugin.is_dropped:
            raise Dropped
        return plugin.function(task)
    finally:
        plugin.is_running = False
