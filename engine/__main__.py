"""`python -m engine`: UCI on standard input and output; `python -m engine bench [DEPTH [EVALFILE]]`: the node
signature, with the evaluation that plays or another one.

The commands for people at a terminal are in `terminal/`, those for opening books in `librarian.py`, those for who works
on the engine in `workshop.py`.
"""

import os
import sys
import threading
from difflib import get_close_matches
from io import TextIOWrapper

from engine import terminal
from engine.bench import DEFAULT_DEPTH, bench
from engine.facade import InvalidNet
from engine.uci import Uci

WORKSHOP = ("selfplay", "records", "tune", "train", "match", "learn")
KNOWN = ("uci", "bench", *terminal.COMMANDS, "book", *WORKSHOP)
MOST_BENCH_DEPTH = 30
INTERRUPTED = 130                  # exit code, as shells have it
USAGE = f"usage: lichessbot-engine [{' | '.join(KNOWN)}] ...; without a command it speaks UCI"


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
        # These are imported here: much to load, and of no use to who only wants UCI.
        case [command, *_] if command in WORKSHOP:
            from engine.cli.training import run

            return run(words)
        case ["book", *more]:
            from engine.cli.book import run

            return run(more)
        case [command, *_] if command in terminal.COMMANDS:
            from engine.cli.terminal import run

            return run(words)
        case [command, *_] if command in ("-h", "--help"):
            print(USAGE)
        case [command, *_]:
            close = get_close_matches(command, KNOWN, 1) if command not in KNOWN else []
            print(USAGE + (f"; did you mean {close[0]}?" if close else ""), file=sys.stderr)
            return 2
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
