"""The processor time, memory and answers that benchmarks measure."""

import sys

import pytest

from tests.benchmarks.children import ENGINE, Child, ChildFailed, Program, busy_processes, processor_s
from tests.engine.positions import PERFT
from tests.patience import until

BUSY_S = 0.1


def test_a_search_of_the_engine_is_timed_and_counted() -> None:
    with Child(ENGINE, {"Hash": "1"}) as child:
        searched = child.search(next(iter(PERFT)), "depth 6")
        assert searched.depth == 6
        assert searched.nodes > 100
        assert searched.wall_s > 0
        assert searched.processor_s > 0
        assert child.resident_kib() > 1024


def test_a_fixed_time_passes_before_the_answer() -> None:
    with Child(ENGINE, {"Hash": "1", "Move Overhead": "0"}) as child:
        assert child.search(next(iter(PERFT)), "movetime 100").wall_s >= 0.099


def test_a_program_that_goes_away_is_no_endless_wait() -> None:
    with pytest.raises(ChildFailed, match="gone away"), Child(Program("mute", (sys.executable, "-c", ""))):
        pass


def test_busy_processes_are_busy_only_inside_the_block() -> None:
    with busy_processes(1) as (process,):
        until(lambda: processor_s(process.pid) >= BUSY_S)
        assert process.poll() is None
    assert process.poll() is not None
