"""The tables that other packages own, and the statements that change a row of a table.

The owner names the columns and knows what they mean.
"""

from enum import StrEnum
from typing import Final

from lichessbot.storage.database import Statement


class Table(StrEnum):
    """The tables. The store reads those in `REMEMBERED` at startup, and deletes old rows of all."""

    BOT_GAMES = "bot_games"
    SENT_CHALLENGES = "sent_challenges"
    LIMITS = "limits"
    RESTS = "rests"
    DECLINES = "declines"
    TOURNAMENTS = "tournaments"
    ACCOUNT = "account"
    BLOCKED_PLAYERS = "blocked_players"


REMEMBERED: Final = {
    Table.BOT_GAMES: "id, opponent, speed, colour, ours, began_at",
    Table.SENT_CHALLENGES: "id, sent_at, cost",
    Table.LIMITS: "name, most, until",
    Table.RESTS: "opponent, subject, until, times",
    Table.TOURNAMENTS: "id, team, password",
    Table.ACCOUNT: "url, id",
    Table.BLOCKED_PLAYERS: "id",
}
"""The columns that the owner gets back after a restart, by table."""


def added(table: str, **row: object) -> Statement:
    """Return the statement that writes a row, unless there is one with its key."""
    return _inserted("IGNORE", table, row)


def replaced(table: str, **row: object) -> Statement:
    """Return the statement that writes a row, in place of the one with its key."""
    return _inserted("REPLACE", table, row)


def deleted(table: str, **key: object) -> Statement:
    """Return the statement that deletes the rows with these values."""
    return f"DELETE FROM {table} WHERE {' AND '.join(f'{name} = ?' for name in key)}", [tuple(key.values())]


def _inserted(conflict: str, table: str, row: dict[str, object]) -> Statement:
    marks = ", ".join("?" for _ in row)
    return f"INSERT OR {conflict} INTO {table} ({', '.join(row)}) VALUES ({marks})", [tuple(row.values())]
