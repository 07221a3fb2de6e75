"""Rescue the rows of a state file that is damaged or cannot be written, or that was deleted while the daemon uses it.

Knows SQLite, not what the rows mean. Raises sqlite3.Error and OSError.
"""

import errno
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

_OWNER_ONLY: Final = 0o600
_LEFT_FREE: Final = 16 << 20  # bytes of the disk that a copy must not use
_DAMAGED: Final = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_READ_ONLY: Final = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}


def refuse_foreign(connection: sqlite3.Connection) -> None:
    """Raise sqlite3.DatabaseError if the file is no database, or that of another program."""
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if schema == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise _damage("a database of another program")


def damage_in(path: Path) -> sqlite3.DatabaseError | None:
    """Read the whole file, which may take minutes; return what is damaged, if anything is."""
    try:
        with closing(sqlite3.connect(_to_read(path), uri=True)) as connection:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        return error if is_damage(error) else None
    return None if verdict == "ok" else _damage(verdict)


def _damage(what: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(what)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Return whether the file is no database, or a damaged one."""
    return _code(error) in _DAMAGED


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's code without details. Errors of Python's module have none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def make_private(path: Path) -> None:
    """Make the file if there is none, so that only its owner can read it: it holds passwords of tournaments."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _OWNER_ONLY))
    except FileExistsError:
        # Not opened: to close it would drop all locks of this process on it, those of SQLite too.
        path.chmod(_OWNER_ONLY)


def copy_to(path: Path, connection: sqlite3.Connection) -> None:
    """Write all that a connection sees to a file, in place of what is there."""
    path.unlink(missing_ok=True)
    make_private(path)
    with closing(sqlite3.connect(path)) as copy:
        connection.backup(copy)


def copy_if_room(path: Path, connection: sqlite3.Connection) -> bool:
    """Write all that a connection sees to a file, unless that would fill the disk; return whether it was done."""
    (pages,), (page_size,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    if shutil.disk_usage(path.parent).free < pages * page_size + _LEFT_FREE:
        return False
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        copy_to(unfinished, connection)
        unfinished.replace(path)
    except (sqlite3.OperationalError, OSError) as error:
        unfinished.unlink(missing_ok=True)
        if not _is_for_want_of_room(error):
            raise
        return False
    return True


def _is_for_want_of_room(error: sqlite3.OperationalError | OSError) -> bool:
    """Return whether the disk is full or a quota used up."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return getattr(error, "sqlite_errorcode", 0) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)


def opened_as_is(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads: it needs no room on the disk, and waits for no lock."""
    connection = sqlite3.connect(_to_read(path), timeout=0.0, uri=True, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:  # without the rows that are only in the write-ahead log
        connection.close()
        connection = sqlite3.connect(_as_is(path), uri=True, check_same_thread=False)
    return connection


def opened_with_every_row(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads; on a read-only file system, only if the write-ahead log has no rows."""
    connection = sqlite3.connect(_to_read(path), uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        connection.close()
        if _code(error) not in _READ_ONLY or _has_log(path):
            raise
        connection = sqlite3.connect(_as_is(path), uri=True)
    return connection


def take_over(path: Path, damaged: Path) -> list[str]:
    """Copy each intact table of a damaged file to a new one with the same schema; return the names of the others."""
    with closing(sqlite3.connect(path.absolute().as_uri(), uri=True)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        try:
            _attach(connection, damaged)
            schema, ours = (connection.execute(f"PRAGMA {it}.user_version").fetchone() for it in ("damaged", "main"))
        except sqlite3.DatabaseError:
            return tables
        return [table for table in tables if schema != ours or not _copied(connection, table)]


def _attach(connection: sqlite3.Connection, damaged: Path) -> None:
    connection.execute("PRAGMA writable_schema = ON")  # else SQLite reads nothing of a file whose end is missing
    try:
        connection.execute("ATTACH ? AS damaged", (_to_read(damaged) if _has_log(damaged) else _as_is(damaged),))
    except sqlite3.OperationalError:  # without the rows that are only in the write-ahead log
        connection.execute("ATTACH ? AS damaged", (_as_is(damaged),))


def _copied(connection: sqlite3.Connection, table: str) -> bool:
    """Copy a table if it is intact; return whether it was."""
    try:
        with connection:
            if connection.execute(f"PRAGMA damaged.quick_check({table})").fetchone() != ("ok",):
                return False
            connection.execute(f"INSERT OR IGNORE INTO main.{table} SELECT * FROM damaged.{table}")
            return True
    except sqlite3.DatabaseError:
        return False


def _has_log(path: Path) -> bool:
    """Return whether some rows may be only in the write-ahead log."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def _to_read(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro"


def _as_is(path: Path) -> str:
    return f"{path.absolute().as_uri()}?immutable=1"
