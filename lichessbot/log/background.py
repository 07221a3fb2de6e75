"""Writes the log in a thread of its own: a reader that stalls, such as a terminal that is paused, holds up no game."""

import io
import logging
import os
import select
import threading
from queue import SimpleQueue
from typing import IO, Final

from lichessbot.log.event_log import EventLog

# Lines that wait for a reader; what comes beyond them is lost.
MOST_WAITING: Final = 10_000
_PATIENCE_S: Final = 1.0


class BackgroundHandler(logging.Handler):
    """A handler that never waits for the stream. Lines that were lost are counted in an event `log.lost`."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__()
        self._stream = stream
        try:
            self._descriptor: int | None = stream.fileno()
        except io.UnsupportedOperation:
            self._descriptor = None        # a stream without a file
        self._lines: SimpleQueue[str | threading.Event] = SimpleQueue()
        self._lost = 0
        self._is_cut = False
        """Whether a part of the last line was written, and then no more, as on a full disk."""
        self._count = threading.Lock()
        self._log = EventLog()
        self._writer = threading.Thread(target=self._write_all, name="log", daemon=True)
        self._writer.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Have the record written."""
        try:
            line = self.format(record) + "\n"
        except Exception:
            self.handleError(record)
            return
        # The writer's own lines always find room, or the count of lost lines could be lost, too.
        if self._lines.qsize() < MOST_WAITING or threading.current_thread() is self._writer:
            self._lines.put(line)
        else:
            with self._count:
                self._lost += 1

    def flush(self) -> None:
        """Wait until all is written, but not long for a reader that stalls."""
        written = threading.Event()
        self._lines.put(written)
        written.wait(_PATIENCE_S)

    def _write_all(self) -> None:
        works = True
        while True:
            line = self._lines.get()
            if isinstance(line, threading.Event):
                line.set()
            elif not (works := self._is_written(line)):
                with self._count:
                    self._lost += 1
            if self._lost and works and self._lines.empty():     # the reader has caught up
                with self._count:
                    lost, self._lost = self._lost, 0
                self._log.warning("log.lost", lines=lost)

    def _is_written(self, line: str) -> bool:
        """Write a line; return False if the disk is full or nobody reads any more."""
        try:
            self._write(line)
        except (OSError, ValueError):
            return False
        return True

    def _write(self, line: str) -> None:
        if self._descriptor is None:
            self._stream.write(line)
            return
        # Not through the stream: its lock, held by a thread that waits, would end the interpreter with an error.
        left = (b"\n" if self._is_cut else b"") + line.encode(errors="backslashreplace")
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
                self._is_cut = bool(left)
            except BlockingIOError:        # another program that has the terminal made it so
                select.select((), (self._descriptor,), ())
