"""Finished games as PGN files, written by a thread of its own: a disk that is full or slow costs the record only.

Knows files and their names; what a game looks like is told. A name from the network becomes part of a file name only
as letters, digits, `-` and `_`.
"""

import os
import re
import threading
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from lichessbot.config import PgnGrouping
from lichessbot.journal import Journal

CLOSE_WAITS_AT_MOST: Final = timedelta(seconds=2)
_LONGEST_NAME: Final = 40
_MOST_UNWRITTEN: Final = 1000


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One finished game: where it belongs, and its text, which ends in an empty line."""

    game_id: str
    us: str
    white: str
    black: str
    pgn: str

    def path(self, folder: Path, grouping: PgnGrouping) -> Path:
        """The file for this game, named as lichess-bot names it."""
        us, white, black = _safe(self.us), _safe(self.white), _safe(self.black)
        match grouping:
            case PgnGrouping.GAME:
                return folder / f"{white} vs {black} - {_safe(self.game_id)}.pgn"
            case PgnGrouping.OPPONENT:
                return folder / f"{us} games vs. {black if us == white else white}.pgn"
            case PgnGrouping.ALL:
                return folder / f"{us} games.pgn"


class Archive:
    """Where finished games are put. For one thread, which also closes it at the end."""

    def __init__(self) -> None:
        self._journal = Journal()
        self._records: SimpleQueue[tuple[Path, PgnGrouping, GameRecord] | None] = SimpleQueue()
        self._writer: threading.Thread | None = None

    def put(self, record: GameRecord, folder: Path, grouping: PgnGrouping) -> None:
        """Have the game written into `folder`. Never waits."""
        if self._records.qsize() >= _MOST_UNWRITTEN:
            self._journal.warning("pgn.lost", game=record.game_id, reason="the disk does not keep up")
            return
        self._records.put((folder, grouping, record))
        if self._writer is None:
            self._writer = threading.Thread(target=self._write_all, name="archive", daemon=True)
            self._writer.start()

    def close(self) -> None:
        """Write what is left, if the disk lets us."""
        if self._writer is not None:
            self._records.put(None)
            self._writer.join(CLOSE_WAITS_AT_MOST.total_seconds())

    def _write_all(self) -> None:
        while (item := self._records.get()) is not None:
            folder, grouping, record = item
            path = record.path(folder, grouping)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                _write(path, record.pgn, append=grouping is not PgnGrouping.GAME)
            except OSError as error:
                self._journal.warning("pgn.lost", game=record.game_id, file=path, error=error)
            else:
                self._journal.debug("pgn.written", game=record.game_id, file=path)


def _write(path: Path, text: str, *, append: bool) -> None:
    """All of it or nothing: half a game would spoil those that follow it. Raises OSError."""
    data = memoryview(text.encode("utf-8", "backslashreplace"))
    file = os.open(path, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC), 0o644)
    try:
        size = os.fstat(file).st_size
        try:
            while data:
                data = data[os.write(file, data) :]
            os.fsync(file)
        except OSError:
            os.ftruncate(file, size)
            raise
    finally:
        os.close(file)


def _safe(name: str) -> str:
    """A part of a file name on any system."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:_LONGEST_NAME] or "_"
