"""The command `lichessbot-engine`, also `python -m engine`: it speaks UCI, and `cli/` has all other commands."""

import gc
import os
import sys
import threading
from io import TextIOWrapper
from typing import NoReturn

from engine.uci import Uci

FAILED, INTERRUPTED = 1, 130       # exit codes, as shells have them


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
    if words not in ([], ["uci"]):
        from engine.cli.main import run  # not for UCI: loading it takes 0.1 s

        return run(words)
    if sys.stdout is None:             # the parent process has closed it
        print("standard output is closed", file=sys.stderr)
        return FAILED
    _accept_any_bytes()
    gc.freeze()                        # what is loaded stays: looking for garbage in it would take a tenth of a start
    Uci().run(sys.stdin)
    return 0


def _accept_any_bytes() -> None:
    """Whatever the locale, read invalid bytes as text like \\xff and make everything read printable."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
