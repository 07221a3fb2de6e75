"""Reads the lines that a user types, in a thread that puts them on a queue.

It reads the file descriptor: a daemon thread must not hold the lock of `sys.stdin` when the program ends.
"""

import os
from codecs import getincrementaldecoder
from dataclasses import dataclass
from math import inf
from queue import Empty, Queue
from threading import Thread
from time import monotonic

MAX_WAIT_S = 0.2
MAX_LINE = 4096                    # characters; longer lines are split


@dataclass(frozen=True)
class LineTyped:
    """A line without its end."""

    text: str


@dataclass(frozen=True)
class InputEnded:
    """The end of the input."""


def next_event(queue: "Queue[object]", timeout_s: float = inf) -> object:
    """Return the next event, or None after the timeout.

    It waits in short steps: a Ctrl-C just before a wait takes effect only after it.
    """
    until = monotonic() + timeout_s
    while True:
        left_s = until - monotonic()
        try:
            return queue.get(timeout=max(0.0, min(left_s, MAX_WAIT_S)))
        except Empty:
            if left_s <= MAX_WAIT_S:
                return None


def read_lines(descriptor: int, queue: "Queue[object]") -> None:
    """Start a thread that puts a `LineTyped` on the queue for each line, and an `InputEnded` at the end."""
    Thread(target=_read, args=(descriptor, queue), name="keyboard", daemon=True).start()


def _read(descriptor: int, queue: "Queue[object]") -> None:
    decoder = getincrementaldecoder("utf-8")("replace")
    rest = ""
    while piece := _read_bytes(descriptor):
        rest += decoder.decode(piece)
        *lines, rest = rest.replace("\r\n", "\n").split("\n")
        for line in lines:
            queue.put(LineTyped(line))
        if len(rest) > MAX_LINE:
            queue.put(LineTyped(rest))
            rest = ""
    if rest:
        queue.put(LineTyped(rest))
    queue.put(InputEnded())


def _read_bytes(descriptor: int) -> bytes:
    """Return what is there, nothing at the end. A closed terminal reports the end as an error."""
    try:
        return os.read(descriptor, MAX_LINE)
    except OSError:
        return b""
