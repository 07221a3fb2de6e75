"""Our side of a cluster: connects, admits workers, hands out tasks and takes the answers.

Dask runs a task again when its worker is gone. Tasks need a resource that only admitted workers have.
"""

from __future__ import annotations

import logging
import pickle
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, count, islice
from typing import Any, TypeVar
from uuid import uuid4

from distributed import Client, Future, KilledWorker, Security, wait
from distributed.versions import VersionMismatchWarning

from engine.selfplay.cluster import worker
from engine.selfplay.cluster.address import ClusterFailed

Task = TypeVar("Task")
Answer = TypeVar("Answer")

CONNECT_S = 10.0
POLL_S = 1.0                       # between two looks for new workers
GATHER_S = 5.0                     # for an answer to arrive; new workers wait meanwhile
RESTART_S = 1.0                    # Dask goes on with it on its own
SPARE = 4                          # workers for each additional task, so that none waits for its next one
NEVER = float("-inf")
CONTINUES = "the same command continues"
FORGOTTEN = ("Client._gather", "Future finished exception=TimeoutError('Timeout')")    # a wait of a closed connection
LOGGERS = ("distributed.client", "distributed.core", "distributed.comm", "distributed.batched")


def run_on_cluster(
    function: Callable[[Task], Answer], tasks: Iterable[Task], scheduler: str
) -> Iterator[tuple[Task, Answer]]:
    """Do what `run_parallel` promises, on the workers of a scheduler, given by its address. Raises ClusterFailed."""
    left = iter(tasks)
    for first in left:                 # without a task there is no need to connect
        with _connect(scheduler) as client:
            yield from _Run(client, scheduler, function).answers(chain((first,), left))


def _connect(scheduler: str) -> Client:
    for name in LOGGERS:               # what they report becomes one line of ours
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("asyncio").addFilter(_is_not_of_dask)
    if scheduler.startswith("tls:") and not Security().get_tls_config_for_role("client")["cert"]:
        raise ClusterFailed(f"{scheduler} needs a certificate: set distributed.comm.tls in Dask's configuration")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)    # we compare ourselves
            return Client(scheduler, timeout=CONNECT_S, set_as_default=False)
    except OSError as error:
        raise ClusterFailed(f"no Dask scheduler answers at {scheduler}: {error}") from None


def _report(line: str) -> None:
    """Tell that workers are refused or missing."""
    print(line, file=sys.stderr, flush=True)


def _is_not_of_dask(record: logging.LogRecord) -> bool:
    """Return whether a record has another cause than a wait that Dask gave up and forgot."""
    return not any(words in record.getMessage() for words in FORGOTTEN)


class _NotThere(Exception):
    """An answer does not arrive: its worker may be lost, and then Dask gives the task to another."""


@contextmanager
def _in_time() -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise _NotThere from None


class _Run:
    """The tasks of one call."""

    def __init__(self, client: Client, scheduler: str, function: Callable[[Any], Any]) -> None:
        self._client, self._scheduler = client, scheduler
        self._function = pickle.dumps(function)
        named = function.func if isinstance(function, partial) else function
        self._job = f"{named.__name__}-{uuid4().hex}"      # the progress page shows the name
        self._numbers = count()
        self._expected = dict(worker.identity())
        self._admitted: set[str] = set()
        self._refused: set[str] = set()
        self._looked_at = NEVER
        self._is_waiting = self._is_lost = False

    def answers(self, tasks: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each task with its answer, in the order the answers arrive."""
        running: dict[Future[Any], Any] = {}
        all_taken = False
        try:
            self._check_scheduler()
            while True:
                if self._look_for_workers():
                    self._submit_again(running)
                workers = len(self._admitted)
                room = max(0, workers + -(-workers // SPARE) - len(running))
                taken = list(islice(tasks, room))
                all_taken = all_taken or len(taken) < room
                running |= {self._submit(task): task for task in taken}
                if all_taken and not running:
                    return
                for future in self._done(running):
                    with suppress(_NotThere):
                        answer = self._answer(future)
                        yield running.pop(future), answer
        finally:
            self._end(running)

    # --- Workers -----------------------------------------------------------------------------------------------------

    def _check_scheduler(self) -> None:
        """Refuse a scheduler that cannot read our tasks. Raises ClusterFailed."""
        with self._connection():
            try:
                found = self._client.run_on_scheduler(worker.check_scheduler, self._expected)
            except ImportError as error:
                found = [str(error)]
        if found:
            raise ClusterFailed(f"the scheduler {self._scheduler} is refused: {'; '.join(found)}")

    def _look_for_workers(self) -> bool:
        """Admit workers that are new, or report why not; return whether there are some.

        Raises ClusterFailed if there are only refused ones at the start.
        """
        if time.monotonic() < self._looked_at + POLL_S:
            return False
        with self._connection():
            self._admitted, others = self._present()
            self._refused &= others
            new = sorted(others - self._refused)
            arguments = (self._expected, self._job, self._function)
            found = self._client.run(worker.admit, *arguments, workers=new, on_error="return") if new else {}
        lines = []
        for address, differs in found.items():
            if differs == []:
                self._admitted.add(address)
            else:
                reason = "; ".join(differs) if isinstance(differs, list) else str(differs)
                lines.append(f"worker {address} is refused: {reason}")
                self._refused.add(address)
        if lines and not self._admitted and self._looked_at == NEVER:
            raise ClusterFailed("\n".join(lines))
        for line in lines:
            _report(line)
        if not self._admitted and not self._is_waiting:
            _report(f"{self._scheduler} has no workers: waiting for them")
        self._is_waiting = not self._admitted
        self._looked_at = time.monotonic()
        return len(lines) < len(new)

    def _present(self) -> tuple[set[str], set[str]]:
        """Return the addresses of the workers that are admitted, and of all others."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        admitted = {address for address, it in workers.items() if self._job in it["resources"]}
        return admitted, set(workers) - admitted

    # --- Tasks -------------------------------------------------------------------------------------------------------

    def _submit(self, task: Any) -> Future[Any]:
        key = f"{self._job}-{next(self._numbers)}"
        with self._connection():
            return self._client.submit(worker.run_task, self._job, task, key=key, resources={self._job: 1})

    def _submit_again(self, running: dict[Future[Any], Any]) -> None:
        """Submit what Dask gave up as no worker was admitted: it only looks at workers as they join."""
        with self._connection():
            assigned = {key for keys in self._client.processing().values() for key in keys}
            given_up = [future for future in running if not future.done() and future.key not in assigned]
            self._client.cancel(given_up)
        for future in given_up:
            task = running.pop(future)
            running[self._submit(task)] = task

    def _done(self, running: Iterable[Future[Any]]) -> set[Future[Any]]:
        """Return the tasks that are done, after a pause at most."""
        if not running:
            time.sleep(POLL_S)
            return set()
        with self._connection(), self._client.as_current():
            try:
                return set(wait(list(running), timeout=POLL_S, return_when="FIRST_COMPLETED").done)
            except TimeoutError:
                return set()

    def _answer(self, future: Future[Any]) -> Any:
        """Return the answer of a task that is done. Raises what the task raised, and _NotThere."""
        with self._connection(), _in_time():
            error = future.exception(GATHER_S)
        if isinstance(error, KilledWorker):
            dead = error.allowed_failures + 1
            raise ClusterFailed(f"{dead} workers in a row were lost with the same task: {CONTINUES}")
        if error is not None:
            raise error
        with self._connection(), _in_time():
            return future.result(GATHER_S)

    def _end(self, running: Iterable[Future[Any]]) -> None:
        """Cancel what is left, and restart the workers that are in the middle of it: a thread cannot be stopped."""
        if self._is_lost:
            return
        with suppress(ClusterFailed), self._connection():
            self._client.cancel(list(running))
            admitted, _ = self._present()      # Dask waits long for one that is gone
            found = self._client.run(worker.forget, self._job, workers=sorted(admitted), on_error="ignore")
            if busy := [address for address, is_busy in found.items() if is_busy]:
                self._client.restart_workers(busy, timeout=RESTART_S, raise_for_error=False)

    @contextmanager
    def _connection(self) -> Iterator[None]:
        """Turn what Dask raises without a scheduler into one line. Raises ClusterFailed."""
        try:
            yield
        except (OSError, CancelledError):
            self._is_lost = True
            raise ClusterFailed(f"lost the scheduler {self._scheduler}: {CONTINUES}") from None
