"""What is typed, line by line, on a queue: the thread that reads never keeps the others waiting.

Reads the file descriptor itself: a thread that ends with the program must not hold the lock of `sys.stdin`.
"""

import os
from codecs import getincrementaldecoder
from dataclasses import dataclass
from math import inf
from queue import Empty, Queue
from threading import Thread
from time import monotonic

MAX_WAIT_S = 0.2
MAX_LINE = 4096                # characters; what is longer comes in pieces


@dataclass(frozen=True)
class LineTyped:
    """A line, without its end."""

    text: str


@dataclass(frozen=True)
class InputEnded:
    """Nothing more will be typed."""


def next_event(queue: "Queue[object]", timeout_s: float = inf) -> object:
    """What comes next; None if nothing does in time. A Ctrl-C just before a wait is noticed after it: none is long."""
    until = monotonic() + timeout_s
    while True:
        left_s = until - monotonic()
        try:
            return queue.get(timeout=max(0.0, min(left_s, MAX_WAIT_S)))
        except Empty:
            if left_s <= MAX_WAIT_S:
                return None


def read_lines(descriptor: int, queue: "Queue[object]") -> None:
    """Put a `LineTyped` on the queue for each line, then an `InputEnded`, from a thread of its own."""
    Thread(target=_read, args=(descriptor, queue), name="keyboard", daemon=True).start()


def _read(descriptor: int, queue: "Queue[object]") -> None:
    decoder = getincrementaldecoder("utf-8")("replace")
    rest = ""
    while piece := _bytes(descriptor):
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


def _bytes(descriptor: int) -> bytes:
    """What is there; nothing at the end, which a terminal that went away reports as an error."""
    try:
        return os.read(descriptor, MAX_LINE)
    except OSError:
        return b""
