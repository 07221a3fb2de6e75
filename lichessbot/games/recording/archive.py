"""Finished games: their openings are named and their PGN is written, in a thread of its own."""

import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from engine.facade import InvalidFen, InvalidMove, InvalidVariant, opening_of
from lichessbot.config import Config, PgnGrouping
from lichessbot.control.status import Faults
from lichessbot.games.recording.pgn import board_of, pgn_of
from lichessbot.lichess.enums import Colour, GameStatus, Variant
from lichessbot.log import EventLog, try_start
from lichessbot.storage import game_records
from lichessbot.storage.game_records import GameRecord, MoveRecord
from lichessbot.storage.store import Store

CLOSE_WAITS_AT_MOST: Final = timedelta(seconds=2)
_MAX_NAME_LENGTH: Final = 40
_MAX_QUEUED: Final = 1000


@dataclass(frozen=True, slots=True)
class ArchivedGame:
    """A game that is over. `moves` are those this process has seen."""

    record: GameRecord
    moves: Sequence[MoveRecord]

    def path(self, folder: Path, grouping: PgnGrouping) -> Path:
        """Return the file for this game, named as lichess-bot names it."""
        record = self.record
        us, them = _safe(record.our_name), _safe(record.opponent_name)
        match grouping:
            case PgnGrouping.GAME:
                white, black = (us, them) if record.colour == Colour.WHITE else (them, us)
                return folder / f"{white} vs {black} - {_safe(record.id)}.pgn"
            case PgnGrouping.OPPONENT:
                return folder / f"{us} games vs. {them}.pgn"
            case PgnGrouping.ALL:
                return folder / f"{us} games.pgn"

    def completed(self, recorded: Sequence[MoveRecord]) -> "ArchivedGame":
        """Return the game with what other processes recorded, and its opening.

        Raises as `board_of` does.
        """
        known = {move.ply: move for move in recorded}
        moves = [_better_known(move, known.get(move.ply)) for move in self.moves]
        board = board_of(self.record, moves)
        record = replace(self.record, plies=len(moves))
        if record.variant == Variant.STANDARD and (opening := opening_of(board.moves)) is not None:
            record = replace(record, eco=opening.eco, opening=opening.name)
        return ArchivedGame(record, moves)


def _better_known(seen: MoveRecord, recorded: MoveRecord | None) -> MoveRecord:
    """Return the record of a move of which this process may have seen no more than that it was played."""
    if recorded is None or seen.source or recorded.move != seen.move:
        return seen
    return recorded if seen.clock_ms is None else replace(recorded, clock_ms=seen.clock_ms)


class GameArchive:
    """Names the openings of finished games and writes their PGN, in a thread of its own. Use it from one thread."""

    def __init__(self, store: Store, faults: Faults) -> None:
        """`faults`: where a game that could not be written is counted."""
        self._store = store
        self._faults = faults
        self._counting = threading.Lock()
        self._log = EventLog()
        self._games: SimpleQueue[tuple[ArchivedGame, Config] | None] = SimpleQueue()
        self._writer: threading.Thread | None = None

    def put(self, game: ArchivedGame, config: Config) -> None:
        """Queue the game to be archived as configured. Never blocks."""
        if self._games.qsize() >= _MAX_QUEUED:
            self._lose(game, config, reason="the disk is too slow")
            return
        self._games.put((game, config))
        if self._writer is None:
            writer = threading.Thread(target=self._archive_all, name="archive", daemon=True)
            if try_start(writer, self._log):
                self._writer = writer  # else the next game tries again

    def close(self) -> None:
        """Wait up to two seconds until the queued games are archived."""
        if self._writer is not None:
            self._games.put(None)
            self._writer.join(CLOSE_WAITS_AT_MOST.total_seconds())

    def _archive_all(self) -> None:
        while (item := self._games.get()) is not None:
            game, config = item
            try:
                self._archive(game, config)
            except (InvalidFen, InvalidMove, InvalidVariant, OSError) as error:
                self._lose(game, config, error=error)
            except Exception as error:
                self._log.crash("pgn.crashed", error, game=game.record.id)

    def _lose(
        self, game: ArchivedGame, config: Config, *, reason: str | None = None, error: Exception | None = None
    ) -> None:
        """Log a game that is not written as PGN, and count it if it was to be. Any thread may call this."""
        remedy = None
        if config.pgn_directory is not None:
            with self._counting:
                self._faults.games_without_pgn += 1
            if not isinstance(error, InvalidFen | InvalidMove | InvalidVariant):  # else that command fails as well
                remedy = f"`lichessbot pgn {game.record.id}` prints it once it is in the records"
        self._log.warning("pgn.lost", game=game.record.id, reason=reason, error=error, remedy=remedy)

    def _archive(self, game: ArchivedGame, config: Config) -> None:
        game = game.completed(self._store.moves_of(game.record.id))
        record = game.record
        self._store.record(game_records.named(record))
        if config.pgn_directory is None or not game.moves or record.status == GameStatus.ABORTED:
            return
        path = game.path(config.pgn_directory, config.pgn_file_grouping)
        config.pgn_directory.mkdir(parents=True, exist_ok=True)
        text = pgn_of(record, game.moves, config.url)
        write = _replace if config.pgn_file_grouping is PgnGrouping.GAME else _append
        write(path, text)
        self._log.debug("pgn.written", game=record.id, file=path)


def _replace(path: Path, text: str) -> None:
    """Write a file with this text, in place of one of that name. Raises OSError."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        _append(part, text)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _append(path: Path, text: str) -> None:
    """Append all of the text or nothing: half a game would damage the file. Raises OSError."""
    data = memoryview(text.encode("utf-8", "backslashreplace"))
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
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
    """Return `name` as a part of a file name that is valid on any system."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:_MAX_NAME_LENGTH] or "_"
