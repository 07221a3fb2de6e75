"""Command-line arguments that several benchmarks share: numbers, and commands of engines."""

import argparse
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import chess.engine

from tests.benchmarks.children import ENGINE, ChildFailed

OURS = shlex.join(ENGINE.command)  # the default of --engine
START_S = 10.0                     # how long an engine may take to start


def count(text: str) -> int:
    """Return a whole number from 0 on, for argparse."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, found {text!r}")
    return int(text)


def positive(text: str) -> int:
    """Return a whole number from 1 on, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, found {text!r}")
    return int(text)


def engine_command(text: str) -> str:
    """Return the text if it is a command, for argparse."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}: {text!r}") from None
    if not words or not words[0]:
        raise argparse.ArgumentTypeError(f"expected a command, found {text!r}")
    return text


@contextmanager
def running(command: str, start_s: float = START_S) -> Iterator[chess.engine.SimpleEngine]:
    """Start an engine, and end it afterwards. Raises ChildFailed if it fails, or OSError if there is none."""
    try:
        with chess.engine.SimpleEngine.popen_uci(shlex.split(command), timeout=start_s) as engine:
            yield engine
    except TimeoutError:
        raise ChildFailed(f"{command} did not answer in time") from None
    except chess.engine.EngineError as error:
        raise ChildFailed(f"{command}: {error}") from None
