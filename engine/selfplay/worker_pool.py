"""Runs tasks in several processes. Knows nothing of chess."""

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from typing import TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def run_parallel(function: Callable[[Task], Answer], tasks: Iterable[Task], processes: int) -> Iterator[Answer]:
    """Yield the answers in the order they arrive; a task is taken only when a process is free.

    Closing the iterator ends the processes. Raises what `function` raises, and BrokenProcessPool if a process is
    killed.
    """
    left = iter(tasks)
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=_end_on_sigint)
    running: set[Future[Answer]] = set()
    try:
        while True:
            running |= {pool.submit(function, task) for task in islice(left, processes - len(running))}
            if not running:
                break
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        if running:
            for child in multiprocessing.active_children():
                child.terminate()
        pool.shutdown(cancel_futures=True)


def _end_on_sigint() -> None:
    """Let Ctrl-C end a worker silently: the parent gets it too and reports it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
