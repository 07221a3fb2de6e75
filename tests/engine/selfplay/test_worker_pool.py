"""Tasks in several processes: answers, errors and early ends."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from engine.selfplay.cluster.address import WorkerKilled
from engine.selfplay.worker_pool import run_parallel
from tests.engine.selfplay.tasks import die, fail, sleep, square


def test_every_task_is_answered_once() -> None:
    assert sorted(run_parallel(square, range(20), 2)) == [(number, number * number) for number in range(20)]


def test_tasks_are_taken_only_when_a_process_is_free_for_them() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(9):
            taken.append(number)
            yield number

    for answered, _ in enumerate(run_parallel(square, tasks(), 2)):
        assert len(taken) <= answered + 2


def test_an_error_reaches_the_caller() -> None:
    with pytest.raises(ValueError, match="no 7"):
        list(run_parallel(fail, [7], 1))


def test_a_process_that_was_killed_is_one_line() -> None:
    with pytest.raises(WorkerKilled, match="a worker process was killed, perhaps for lack of memory"):
        list(run_parallel(die, [1, 1], 2))


def test_the_processes_end_with_a_parent_that_is_killed() -> None:
    modules = "engine.selfplay.worker_pool as pool, tests.engine.selfplay.tasks as tasks"
    script = f"import {modules}; list(pool.run_parallel(tasks.sleep_aloud, [600, 600], 2))"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        try:
            said = [parent.stdout.readline() for _ in range(2)]
        finally:
            parent.kill()
        assert said == ["asleep\n"] * 2
        assert parent.stdout.read() == ""          # ends when no process has it open


def test_the_processes_ignore_ctrl_c_if_the_parent_does() -> None:
    """As in the background of a script, where a Ctrl-C meant for another program reaches them too."""
    modules = "engine.selfplay.worker_pool as pool, tests.engine.selfplay.tasks as tasks"
    script = f"import {modules}; print(list(pool.run_parallel(tasks.sleep_aloud, [1], 1)))"
    command = ("sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-c", script)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, process_group=0) as parent:
        assert parent.stdout.readline() == "asleep\n"
        os.killpg(parent.pid, signal.SIGINT)
        assert parent.stdout.read() == "[(1, 1)]\n"


def test_closing_the_iterator_ends_the_processes() -> None:
    others = multiprocessing.active_children()
    answers = run_parallel(sleep, [0, 600, 600], 2)
    assert next(answers) == (0, 0)
    started = time.monotonic()
    answers.close()
    assert time.monotonic() - started < 300
    assert set(multiprocessing.active_children()) <= set(others)
