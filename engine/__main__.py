"""The command `lichessbot-engine`, also `python -m engine`: without arguments it speaks UCI.

`bench [DEPTH [EVALFILE]]` prints the node signature of the default or another evaluation. `cli/` has all other
commands.
"""

import gc
import os
import sys
import threading
from io import TextIOWrapper
from typing import NoReturn

from engine.bench import DEFAULT_DEPTH, bench
from engine.facade import InvalidNet
from engine.uci import Uci

MAX_BENCH_DEPTH = 30
FAILED, INTERRUPTED = 1, 130       # exit codes, as shells have them
USAGE = "usage: lichessbot-engine [uci | bench [DEPTH [EVALFILE]] | COMMAND ...]; --help lists the commands"
ABOUT_UCI = "Speak UCI, as without a command."
ABOUT_BENCH = f"""\
Search a fixed set of positions, and print the nodes of each, the nodes per second, and the sum of the nodes, which is
the signature of search and evaluation.
DEPTH: plies, from 1 to {MAX_BENCH_DEPTH}. Default: {DEFAULT_DEPTH}.
EVALFILE: a network file, or `none` for the hand-written terms. Default: the shipped network."""


def end_process(error: threading.ExceptHookArgs) -> None:
    """End the process after an exception in a thread, so that the GUI does not wait for a move that never comes."""
    if isinstance(error.exc_value, OSError):
        _end_with_line(error.exc_value)
    sys.__excepthook__(error.exc_type, error.exc_value or error.exc_type(), error.exc_traceback)
    os._exit(FAILED)


def _end_with_line(error: OSError) -> NoReturn:
    """End the process if it cannot read or write, as on a full disk. A usual end would try once more, and complain."""
    print(f"{error.filename or 'standard input or output'}: {error.strerror or error}", file=sys.stderr)
    os._exit(FAILED)


def main() -> int:
    """Run the command and return the exit code: 0, 1 without output, 2 for invalid arguments, 130 after Ctrl-C."""
    threading.excepthook = end_process
    if sys.stdin is None:              # the parent process has closed it
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _end_with_line(error)


def _run(words: list[str]) -> int:
    match words:
        case [] | ["uci"] if sys.stdout is None:       # the parent process has closed it
            print("standard output is closed", file=sys.stderr)
            return FAILED
        case [] | ["uci"]:
            _accept_any_bytes()
            gc.freeze()            # what is loaded stays: looking for garbage in it would take a tenth of a start
            Uci().run(sys.stdin)
        case ["uci" | "bench" as command, "-h" | "--help"]:
            print(f"{USAGE}\n{ABOUT_UCI if command == 'uci' else ABOUT_BENCH}")
        case ["bench", *more] if len(more) <= 2 and not {"-h", "--help"} & set(more):
            return _bench(*more)
        case ["uci" | "bench", *_]:
            print(USAGE, file=sys.stderr)
            return 2
        case _:
            from engine.cli.main import run  # not for UCI: loading it takes 0.1 s

            return run(words)
    return 0


def _bench(depth: str = str(DEFAULT_DEPTH), evaluation: str = "") -> int:
    """Run the benchmark and return the exit code: 0, or 2 for an invalid depth or an unreadable network."""
    if not (depth.isdecimal() and 1 <= int(depth) <= MAX_BENCH_DEPTH):
        print(f"bench: expected a depth from 1 to {MAX_BENCH_DEPTH}, found {depth[:40]!r}", file=sys.stderr)
        return 2
    try:
        bench(int(depth), evaluation)
    except InvalidNet as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _accept_any_bytes() -> None:
    """Whatever the locale, read invalid bytes as text like \\xff and make everything read printable."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
