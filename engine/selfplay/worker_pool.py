"""Work for several processes at once, handed out as they get free. Knows nothing of chess."""

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from typing import TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def run_parallel(function: Callable[[Task], Answer], tasks: Iterable[Task], processes: int) -> Iterator[Answer]:
    """The answers as they come. A task is taken from `tasks` only when a process is free for it.

    Whoever stops early ends the processes too. Raises what the function raises, and BrokenProcessPool if one of the
    processes is killed.
    """
    left = iter(tasks)
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=_end_with_signals)
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


def _end_with_signals() -> None:
    """Ctrl-C reaches the whole group of processes: who asked for the work answers for it, not we."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
