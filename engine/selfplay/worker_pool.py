"""Runs tasks in several processes, or on the workers of a cluster. Knows nothing of chess."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from itertools import islice
from typing import TypeAlias, TypeVar

from engine.selfplay.cluster.address import ClusterFailed, WorkerKilled

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Workers: TypeAlias = int | str         # the number of processes on this machine, or the address of a scheduler


def run_parallel(
    function: Callable[[Task], Answer], tasks: Iterable[Task], workers: Workers
) -> Iterator[tuple[Task, Answer]]:
    """Yield each task with its answer, in the order the answers arrive; a task is taken only when a worker is free.

    The function must be importable; what all tasks share belongs to it, as with `functools.partial`. Closing the
    iterator ends what runs. Raises what `function` raises, WorkerKilled if a process of this machine is killed, and
    ClusterFailed.
    """
    if isinstance(workers, int):
        return _run_here(function, tasks, workers)
    if find_spec("distributed") is None:
        raise ClusterFailed("a cluster needs Dask: pip install 'lichessbot-daemon[cluster]'")
    from engine.selfplay.cluster.client import run_on_cluster  # needs the extra

    return run_on_cluster(function, tasks, workers)


def _run_here(
    function: Callable[[Task], Answer], tasks: Iterable[Task], processes: int
) -> Iterator[tuple[Task, Answer]]:
    left = iter(tasks)
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=_end_with_parent)
    running: dict[Future[Answer], Task] = {}
    try:
        while True:
            running |= {pool.submit(function, task): task for task in islice(left, processes - len(running))}
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    except BrokenProcessPool:
        raise WorkerKilled(
            "a worker process was killed, perhaps for lack of memory; fewer processes need less"
        ) from None
    finally:
        if running:
            for child in multiprocessing.active_children():
                child.terminate()
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """End a worker silently at Ctrl-C, as the parent gets it too and reports it, and once the parent is killed."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:      # not in the background of a script
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
