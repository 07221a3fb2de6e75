"""The SQLite file in the state folder: its lock, its schema, and how a file that is damaged or gone is replaced.

Must not know: what the records mean. Games go on without it: every failure raises an error of ours, and the next call
opens the file again.
"""

import fcntl
import os
import pwd
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from lichessbot.errors import StateFailed, StateLocked, StateNewer
from lichessbot.log import EventLog
from lichessbot.storage import rescue
from lichessbot.storage.migrations import MIGRATIONS

FILE_NAME: Final = "lichessbot.sqlite"
LOCK_NAME: Final = "lock"
_SIDE_FILES: Final = ("-wal", "-shm")
_LOCK_TRIES: Final = 20
_BETWEEN_LOCK_TRIES_S: Final = 0.02

_PAGES: Final = ("freelist_count", "page_count")
_PAGES_NOT_WORTH_A_VACUUM: Final = 256  # 1 MiB

Row = Sequence[object]
Statement = tuple[str, Sequence[Row]]
"""SQL with placeholders, and the rows to execute it for."""


class Database:
    """The state file of one daemon, for one thread at a time."""

    def __init__(self, folder: Path, migrations: Sequence[str] = MIGRATIONS) -> None:
        """Lock the folder. Raises StateLocked if another daemon uses it."""
        self.path = folder / FILE_NAME
        self._migrations = migrations
        self._log = EventLog()
        self._connection: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        """To the file as it is, if it cannot be written."""
        self._damage: sqlite3.DatabaseError | None = None
        """What was found in our file since it was opened."""
        self._replacements = 0
        """How often another file took the place of ours."""
        self._aside: tuple[Path, sqlite3.Error] | None = None
        """A damaged file that was set aside, until its intact tables are in the new one."""
        self._lock = _locked(folder, self._log)

    def close(self) -> None:
        """Close the file and unlock the folder."""
        self._disconnect()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def read(self, query: str) -> list[Any]:
        """Return the rows of a query, also of a file that cannot be written. Raises StateFailed or StateNewer."""
        with self._translated_errors():
            try:
                return self._readable().execute(query).fetchall()
            except sqlite3.DatabaseError as error:
                return self._replaced(error).execute(query).fetchall()

    def write(self, statements: Sequence[Statement]) -> None:
        """Execute all statements or none; afterwards a power cut loses nothing. Raises StateFailed or StateNewer."""
        with self._translated_errors():
            try:
                _execute(self._connected(), statements)
            except sqlite3.DatabaseError as error:
                _execute(self._replaced(error), statements)

    def look_for_damage(self) -> None:
        """Read the whole file, for minutes if it is large; what is damaged is replaced when the file is used next.

        Any thread may call this. What it finds in a file that was replaced meanwhile says nothing of the new one.
        """
        replacements = self._replacements
        damage = rescue.damage_in(self.path)
        if damage is not None and self._replacements == replacements:
            self._damage = damage

    def shrink(self, max_bytes: int, delete_oldest: Sequence[Statement]) -> None:
        """Execute the statements until the rows fit; a file that is half empty is made smaller.

        Raises StateFailed or StateNewer.
        """
        with self._translated_errors():
            connection = self._connected()
            while _bytes_used(connection) > max_bytes:
                with connection:
                    changed = sum(connection.executemany(sql, rows).rowcount for sql, rows in delete_oldest)
                if changed <= 0:
                    break
            (empty_pages,), (pages,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in _PAGES)
            if empty_pages > pages / 2 and pages > _PAGES_NOT_WORTH_A_VACUUM:
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # until then the file keeps its size

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            self._disconnect()
            if isinstance(error, sqlite3.DatabaseError) and rescue.is_damage(error):
                self._damage = error
            raise StateFailed(f"{self.path}: {error}") from error

    def _disconnect(self) -> None:
        for connection in filter(None, (self._connection, self._reader)):
            with suppress(sqlite3.Error):
                connection.close()
        self._connection = self._reader = None

    def _readable(self) -> sqlite3.Connection:
        """Return a connection that reads, also while the disk is full or read-only, or the file locked."""
        if self._connection is None and self._reader is not None:
            return self._reader
        try:
            return self._connected()
        except (sqlite3.OperationalError, OSError):
            self._reader = rescue.opened_as_is(self.path)
            if _schema(self._reader) != len(self._migrations):
                raise
            return self._reader

    def _connected(self) -> sqlite3.Connection:
        if self._connection is not None and not self.path.exists():
            self._write_again(self._connection)
        if self._damage is not None and self.path.exists():
            self._disconnect()
            self._set_aside(self._damage)
        if self._connection is None:
            self._connection = self._open()
            self._take_over()
        return self._connection

    def _replaced(self, error: sqlite3.DatabaseError) -> sqlite3.Connection:
        """Return a connection to a new file in place of ours, if the error means that it is damaged. Else raises it."""
        if not rescue.is_damage(error):
            raise error
        self._damage = error
        return self._connected()

    def _open(self) -> sqlite3.Connection:
        rescue.make_private(self.path)  # the folder may be open to others
        if not self.path.with_name(LOCK_NAME).exists():  # the folder was deleted: a second daemon could start in it
            lost, self._lock = self._lock, _locked(self.path.parent, self._log)
            if lost is not None:
                os.close(lost)
        connection = sqlite3.connect(self.path, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            rescue.refuse_foreign(connection)
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Migrate the file to our schema; an older file is copied first, if there is room."""
        schema, ours = _schema(connection), len(self._migrations)
        if schema > ours:
            raise StateNewer(_newer(self.path, schema, ours))
        kept = _copy(self.path, schema)
        is_copied = 0 < schema < ours and rescue.copy_if_room(kept, connection)
        if schema < ours:
            scripts = "; ".join(self._migrations[schema:])  # in one transaction, as each waits for the disk
            connection.executescript(f"BEGIN; {scripts}; PRAGMA user_version = {ours}; COMMIT")
        if is_copied:
            for older in range(1, schema):  # one copy is enough to go back
                _copy(self.path, older).unlink(missing_ok=True)
            self._log.info("store.migrate", schema=schema, to=ours, copy=kept)
        elif 0 < schema < ours:
            self._log.warning("store.migrate_without_copy", schema=schema, to=ours, file=self.path)

    def _set_aside(self, error: sqlite3.Error) -> None:
        aside = self.path.with_name(f"{FILE_NAME}.damaged")
        for side in _SIDE_FILES:
            aside.with_name(aside.name + side).unlink(missing_ok=True)
        with suppress(FileNotFoundError):  # while others have the file open, the newest rows are only there
            self.path.with_name(f"{FILE_NAME}-wal").replace(aside.with_name(f"{aside.name}-wal"))
        self._put_in_place(self.path, aside)
        self._damage, self._aside = None, (aside, error)

    def _take_over(self) -> None:
        """Copy the intact tables of the file that was set aside to the new one."""
        if self._aside is not None:
            aside, error = self._aside
            lost = " ".join(rescue.take_over(self.path, aside)) or None
            self._aside = None
            meaning = "a new file is in use, with the tables that are not damaged"
            self._log.warning("store.damaged", file=self.path, error=error, kept_as=aside, lost=lost, meaning=meaning)

    def _write_again(self, connection: sqlite3.Connection) -> None:
        """Write the file, which was deleted while we use it: else all records would be lost at the end."""
        again = self.path.with_name(f"{FILE_NAME}.again")
        rescue.copy_to(again, connection)
        self._disconnect()
        self._put_in_place(again, self.path)
        meaning = "it is written again; to begin without records, stop the daemon first"
        self._log.warning("store.deleted", file=self.path, meaning=meaning)

    def _put_in_place(self, file: Path, place: Path) -> None:
        """Move a file to or from the place of the state file, where nothing of the old one may be left beside it."""
        self._replacements += 1
        for side in _SIDE_FILES:
            self.path.with_name(FILE_NAME + side).unlink(missing_ok=True)
        file.replace(place)


def state_folder(configured: Path | None, config_file: Path | None, environment: Mapping[str, str]) -> Path:
    """Return the folder as configured, relative to the config file, else systemd's, else that of the user."""
    if configured is not None:
        return (config_file.parent if config_file else Path()) / configured
    if given := environment.get("STATE_DIRECTORY", "").partition(":")[0]:
        return Path(given)
    home = environment.get("XDG_STATE_HOME") or (environment.get("HOME") or _home_of_user()) + "/.local/state"
    return Path(home) / "lichessbot"


def _home_of_user() -> str:
    """Return the user's home folder if the environment names none, as under an init script or `env -i`."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/"


def newer_than_ours(folder: Path) -> str | None:
    """Return the message of StateNewer for this folder, or None. Takes no lock and changes nothing."""
    schema = _schema_in(folder)
    return _newer(folder / FILE_NAME, schema, len(MIGRATIONS)) if schema > len(MIGRATIONS) else None


def damage_seen_in(folder: Path) -> str | None:
    """Return what is wrong with a file that is no database of ours; None if nothing is seen without reading it all."""
    try:
        with closing(rescue.opened_with_every_row(folder / FILE_NAME)) as connection:
            rescue.refuse_foreign(connection)
    except sqlite3.DatabaseError as error:
        return str(error) if rescue.is_damage(error) else None
    except OSError:
        return None
    return None


def older_than_ours(folder: Path) -> bool:
    """Return whether an older version wrote the file, which the next daemon migrates. Changes nothing."""
    return 0 < _schema_in(folder) < len(MIGRATIONS)


def _schema_in(folder: Path) -> int:
    """Return the schema of the file; 0 if it is missing or damaged, as neither prevents playing."""
    try:
        with closing(rescue.opened_with_every_row(folder / FILE_NAME)) as connection:
            return _schema(connection)
    except (sqlite3.Error, OSError):
        return 0


def read_only(folder: Path, query: str, *values: object) -> list[Any]:
    """Return the rows of a query, also while a daemon uses the folder; takes no lock and changes no row.

    SQLite may leave an empty `-wal` and a `-shm` file behind. Returns no rows if there is no file yet, or only one of
    an older version. Raises StateFailed or StateNewer.
    """
    path, ours = folder / FILE_NAME, len(MIGRATIONS)
    try:
        if not path.exists():
            return []
        with closing(rescue.opened_with_every_row(path)) as connection:
            schema = _schema(connection)
            if schema > ours:
                raise StateNewer(_newer(path, schema, ours))
            return connection.execute(query, values).fetchall() if schema == ours else []
    except (sqlite3.Error, OSError) as error:
        raise StateFailed(f"{path}: {error}") from error


def in_use(folder: Path) -> bool:
    """Return whether a daemon uses this folder; False where nothing can be locked, as that is not known there."""
    try:
        lock = os.open(folder / LOCK_NAME, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # nothing can be locked there, not by a daemon either
        return False
    finally:
        os.close(lock)
    return False


def owner(folder: Path) -> int | None:
    """Return the process id of the daemon that uses this folder."""
    if not in_use(folder):
        return None
    text = (folder / LOCK_NAME).read_text(encoding="ascii", errors="replace").strip()
    return int(text) if text.isdecimal() else None


def write_beside(folder: Path, *statements: Statement) -> None:
    """Execute all statements or none in the state file of a daemon that may run. Raises StateFailed or StateNewer."""
    path = folder / FILE_NAME
    try:
        uri = f"{path.absolute().as_uri()}?mode=rw"  # only that daemon makes the file
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            if _schema(connection) != len(MIGRATIONS):
                raise StateNewer(f"{path} belongs to a daemon of another version; restart that daemon first")
            _execute(connection, statements)
    except (sqlite3.Error, OSError) as error:
        raise StateFailed(f"{path}: {error}") from error


def _newer(path: Path, schema: int, ours: int) -> str:
    newer, copy = f"the records are of a newer version (schema {schema}, this one has {ours})", _copy(path, ours)
    if not copy.exists():
        return f"{newer}: install that again"
    # A killed daemon left its last writes in the -wal file, which SQLite would read as part of the restored file.
    return f"{newer}: install that again, or stop it and go back with `mv {copy} {path} && rm -f {path}-wal`"


def _copy(path: Path, schema: int) -> Path:
    """Return where the copy with this schema is kept."""
    return path.with_name(f"{path.name}.schema{schema}")


def _schema(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _execute(connection: sqlite3.Connection, statements: Sequence[Statement]) -> None:
    with connection:
        for sql, rows in statements:
            connection.executemany(sql, rows)


def _bytes_used(connection: sqlite3.Connection) -> int:
    (empty,), (pages,), (size,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in (*_PAGES, "page_size"))
    return int((pages - empty) * size)


def _locked(folder: Path, log: EventLog) -> int | None:
    """Return an open file with an exclusive lock, which the system releases however this process ends.

    Returns None if no lock file can be made; then nothing can be recorded either. Raises StateLocked. The process id
    in the file is for messages only.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        log.warning("store.no_lock", error=error, meaning="a second daemon would not be detected")
        return None
    try:
        _lock_exclusively(lock)
    except BlockingIOError as error:
        owner = os.pread(lock, 20, 0).decode("ascii", "replace").strip()
        os.close(lock)
        by = f" by process {owner}" if owner else ""
        raise StateLocked(
            f"{folder} is in use{by}: stop that daemon first, or give this one a state_dir of its own"
        ) from error
    except OSError as error:
        log.warning("store.no_lock", error=error, meaning="a second daemon would not be detected")
        return lock
    with suppress(OSError):  # the disk may be full
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def _lock_exclusively(lock: int) -> None:
    """Lock a file that other commands, such as `lichessbot explain`, lock for a moment. Raises BlockingIOError."""
    for tries_left in reversed(range(_LOCK_TRIES)):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if not tries_left:
                raise
            time.sleep(_BETWEEN_LOCK_TRIES_S)
