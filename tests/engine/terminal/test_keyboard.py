"""What a user types, as lines."""

import os
from queue import Queue

import pytest

from engine.terminal.keyboard import MAX_LINE, InputEnded, LineTyped, read_lines


@pytest.mark.parametrize(
    ("typed", "lines"),
    [
        (b"", []),
        (b"e4\n\ne5\n", ["e4", "", "e5"]),
        (b"e4\r\nNf3\r\n", ["e4", "Nf3"]),
        (b"e4\nquit", ["e4", "quit"]),
        ("ä".encode() + b"\xff\n", ["ä\ufffd"]),
        (b"x" * MAX_LINE + b"yz\n", ["x" * MAX_LINE + "yz"]),
        (b"x" * (2 * MAX_LINE) + b"yz\n", ["x" * (2 * MAX_LINE), "yz"]),
    ],
    ids=["nothing", "lines", "of Windows", "without an end", "no UTF-8", "long", "too long"],
)
def test_the_input_is_read_as_lines(typed: bytes, lines: list[str]) -> None:
    there, here = os.pipe()
    os.write(here, typed)
    os.close(here)
    queue: Queue[object] = Queue()
    read_lines(there, queue)
    for line in lines:
        assert queue.get(timeout=60) == LineTyped(line)
    assert queue.get(timeout=60) == InputEnded()
    os.close(there)
