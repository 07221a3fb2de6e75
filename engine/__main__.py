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
USAGE = f"usage: lichessbot-engine [{' | '.join(KNOWN)}] ...; without a command it speaks UCI"


def end_process(dead: threading.ExceptHookArgs) -> None:
    """A bug ended the search thread: whoever waits for its move must learn at once that none will come."""
    sys.__excepthook__(dead.exc_type, dead.exc_value or dead.exc_type(), dead.exc_traceback)
    os._exit(1)


def main() -> int:
    """Exit code 0, or 2 for arguments that make no sense."""
    threading.excepthook = end_process
    match sys.argv[1:]:
        case [] | ["uci"]:
            _read_and_write_anything()
            Uci().run(sys.stdin)
        case ["bench"]:
            return _bench(DEFAULT_DEPTH)
        case ["bench", depth, *evaluation] if depth.isdecimal() and 1 <= int(depth) <= 30 and len(evaluation) <= 1:
            return _bench(int(depth), *evaluation)
        # These are imported here: much to load, and of no use to who only wants UCI.
        case [command, *_] if command in WORKSHOP:
            from engine.workshop import run

            return run(sys.argv[1:])
        case ["book", *words]:
            from engine.librarian import run

            return run(words)
        case [command, *_] if command in terminal.COMMANDS:
            from engine.terminal.arguments import run

            return run(sys.argv[1:])
        case [command, *_] if command in ("-h", "--help"):
            print(USAGE)
        case [command, *_]:
            close = get_close_matches(command, KNOWN, 1) if command not in KNOWN else []
            print(USAGE + (f"; did you mean {close[0]}?" if close else ""), file=sys.stderr)
            return 2
    return 0


def _bench(depth: int, evaluation: str = "") -> int:
    """Exit code 0, or 2 for a network that cannot be read."""
    try:
        bench(depth, evaluation)
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
