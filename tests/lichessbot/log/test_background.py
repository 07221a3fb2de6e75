"""The log and a reader that stalls."""

import errno
import fcntl
import logging
import os
import re
import select
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import IO

import pytest

from lichessbot.log import EventLog, LogFormat, background, start_logging
from tests.patience import PATIENCE_S


@pytest.fixture
def pipe() -> Iterator[tuple[IO[bytes], IO[str]]]:
    """The two ends of a pipe that gets the log."""
    reading, writing = os.pipe()
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 16)  # which is more where pages are larger
    with os.fdopen(reading, "rb") as reader, os.fdopen(writing, "w") as writer:
        start_logging(writer, [], LogFormat.FIELDS)
        yield reader, writer


def read_until(reader: IO[bytes], is_all: Callable[[str], bool]) -> str:
    """What is read until it is all that the caller waits for, in whole lines."""
    got = ""
    while not got.endswith("\n") or not is_all(got):
        assert select.select((reader,), (), (), PATIENCE_S)[0], got[-500:]
        got += os.read(reader.fileno(), 1 << 16).decode()
    return got


def lost_lines(text: str) -> int:
    """The lines that the log says it has lost."""
    return sum(int(number) for number in re.findall(r"WARNING log.lost lines=(\d+)", text))


def test_a_reader_that_stalls_holds_nobody_up(
    pipe: tuple[IO[bytes], IO[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "MOST_WAITING", 50)
    monkeypatch.setattr(background, "_PATIENCE_S", 0.5)
    before = time.monotonic()
    for number in range(3000):                      # far more than a pipe and the queue hold
        EventLog().info("chat", number=number, text="x" * 200)
    logging.getLogger().handlers[0].flush()
    assert time.monotonic() - before < PATIENCE_S
    text = read_until(pipe[0], lambda text: lost_lines(text) + text.count("chat number=") >= 3000)
    assert "chat number=0 " in text
    assert lost_lines(text) > 1000
    assert lost_lines(text) + text.count("chat number=") == 3000
    EventLog().info("stop")
    assert lost_lines(read_until(pipe[0], lambda text: "INFO stop" in text)) == 0


def test_the_count_of_lost_lines_is_not_lost_itself(
    pipe: tuple[IO[bytes], IO[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "MOST_WAITING", 0)        # the log finds no room for anything
    EventLog().info("chat", number=0)
    logging.getLogger().handlers[0].flush()
    assert lost_lines(read_until(pipe[0], lambda text: "log.lost" in text)) == 1


def test_a_reader_that_has_gone_costs_only_the_lines(pipe: tuple[IO[bytes], IO[str]]) -> None:
    pipe[0].close()
    EventLog().info("start", version="1")
    logging.getLogger().handlers[0].flush()
    assert any(thread.name == "log" for thread in threading.enumerate())


def test_lines_that_a_full_disk_took_are_counted_and_the_one_it_cut_ends(
    pipe: tuple[IO[bytes], IO[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    write, room = os.write, [30]

    def write_what_fits(file: int, data: bytes) -> int:
        if file != pipe[1].fileno():
            return write(file, data)
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write(file, data[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(background, "os", SimpleNamespace(write=write_what_fits))
    for number in range(3):
        EventLog().info("chat", number=number)
    logging.getLogger().handlers[0].flush()
    room[0] = 1 << 16
    EventLog().info("chat", number=3)
    cut, whole, lost = read_until(pipe[0], lambda text: "log.lost" in text).splitlines()
    assert len(cut) == 30
    assert whole.endswith("INFO chat number=3")
    assert lost.endswith("WARNING log.lost lines=3")


@pytest.mark.parametrize("blocks", [True, False])
def test_lines_of_several_threads_come_whole(pipe: tuple[IO[bytes], IO[str]], blocks: bool) -> None:
    os.set_blocking(pipe[1].fileno(), blocks)

    def log(name: str) -> None:
        for _ in range(300):
            EventLog().info("chat", name=name, text=name * 100)

    threads = [threading.Thread(target=log, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    time.sleep(0.2)                 # the pipe is full: it holds 64 KiB, and the lines have 190
    for thread in threads:
        thread.join()
    EventLog().info("stop")
    lines = [line for line in read_until(pipe[0], lambda text: "INFO stop" in text).splitlines() if " chat " in line]
    assert len(lines) == 1200
    assert all(line.endswith(f"name={line.split('name=')[1][0]} text={line[-1] * 100}") for line in lines)
