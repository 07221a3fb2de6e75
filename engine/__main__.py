"""Start the engine: UCI without a command, `bench [DEPTH [EVALFILE]]`, or a command of `cli/`."""

import os
import sys
import threading
from io import TextIOWrapper

from engine.bench import DEFAULT_DEPTH, bench
from engine.facade import InvalidNet
from engine.uci import Uci

MOST_BENCH_DEPTH = 30
INTERRUPTED = 130                  # exit code, as shells have it
USAGE = "usage: lichessbot-engine [uci | bench [DEPTH [EVALFILE]] | COMMAND ...]; --help lists the commands"


def end_process(dead: threading.ExceptHookArgs) -> None:
    """A bug ended the search thread: whoever waits for its move must learn at once that none will come."""
    sys.__excepthook__(dead.exc_type, dead.exc_value or dead.exc_type(), dead.exc_traceback)
    os._exit(1)


def main() -> int:
    """Exit code 0; 2 for arguments that make no sense; 130 after Ctrl-C."""
    threading.excepthook = end_process
    if sys.stdin is None:              # so it is where whoever started us has closed it
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(words: list[str]) -> int:
    match words:
        case [] | ["uci"]:
            _read_and_write_anything()
            Uci().run(sys.stdin)
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
    """Exit code 0, or 2 for a depth that is none and a network that cannot be read."""
    if not (depth.isdecimal() and 1 <= int(depth) <= MOST_BENCH_DEPTH):
        print(f"bench: expected a depth from 1 to {MOST_BENCH_DEPTH}, found {depth[:40]!r}", file=sys.stderr)
        return 2
    try:
        bench(int(depth), evaluation)
    except InvalidNet as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _read_and_write_anything() -> None:
    """Whatever the locale: bytes that are no text are read as \\xff, and everything read can be quoted in an answer."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
