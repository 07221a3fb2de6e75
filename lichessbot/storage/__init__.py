"""The state file: one SQLite database with what must survive a restart.

Knows all SQL but the few statements that owners of a table pass to `Store.put`. Must not know: Lichess, engines and
decisions. Offers `Store` (read and write without blocking a game), `Database` (the file, its lock and schema), and
the values in it (`records`).
"""

__all__ = ["database", "records", "store"]
