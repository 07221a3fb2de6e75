"""Tasks for other processes. Without pytest, whose import would be a third of such a process."""

import os
import sys
import time
from pathlib import Path


def square(number: int) -> int:
    return number * number


def fail(number: int) -> int:
    raise ValueError(f"no {number}")


def die(number: int) -> int:
    os._exit(number)


def sleep_aloud(seconds: int) -> int:
    os.write(sys.stdout.fileno(), b"asleep\n")     # a whole line at once, whatever the other process writes
    return sleep(seconds)


def sleep(seconds: int) -> int:
    time.sleep(seconds)
    return seconds


def note(folder: Path, number: int) -> int:
    """Leave a file that says which process works at this number, and take a while."""
    (folder / f"{number} {os.getpid()}").touch()
    time.sleep(0.3)
    return number
