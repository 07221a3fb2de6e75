"""The SQL that deletes old rows: those that are no longer needed, and the oldest of a file that is too large."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from lichessbot.storage.database import Statement
from lichessbot.storage.game_records import Retention

# Lichess forgets a challenge within a day; a correspondence game may last for months.
_ANSWERS_KEPT: Final = timedelta(days=2)
_ACTIONS_KEPT: Final = timedelta(days=365)
_CHALLENGES_KEPT: Final = timedelta(days=90)
_RESTS_KEPT: Final = timedelta(days=60)  # After their end; then the next decline counts as the first.
# The newest of these times shows how far the clock has come; those of `rests` are in the future.
_TIMES: Final = {
    "games": "joined_at",
    "challenges": "received_at",
    "deeds": "done_at",
    "answers": "answered_at",
    "bot_games": "began_at",
    "sent_challenges": "sent_at",
    "declines": "declined_at",
}
_PROVEN: Final = " UNION ALL ".join(f"SELECT max({column}) AS at FROM {table}" for table, column in _TIMES.items())
_OF_GAMES: Final = ("moves", "chat", "reviews", "reviewed_positions")


def _without_games(condition: str, *values: object) -> Sequence[Statement]:
    """Return the statements that delete games that are over, with all that belongs to them."""
    of_games = f"game_id IN (SELECT id FROM games WHERE {condition})"
    parts = [(f"DELETE FROM {table} WHERE {of_games}", [values]) for table in _OF_GAMES]
    return (*parts, (f"DELETE FROM games WHERE {condition}", [values]))


def _oldest(table: str, time_column: str) -> str:
    """Return the condition for the oldest twentieth of the rows."""
    times = f"SELECT {time_column} FROM {table} WHERE {time_column} IS NOT NULL ORDER BY {time_column}"
    return f"{time_column} <= ({times} LIMIT 1 OFFSET (SELECT count({time_column}) / 20 FROM {table}))"


# Games are deleted only while this holds, else only challenges: strangers decide how many of those there are.
_FEW_CHALLENGES: Final = "(SELECT count(*) FROM challenges) <= 10 * (SELECT count(*) FROM games)"
# Deleted again and again until the file is small enough.
OLDEST: Final = (
    *_without_games(f"{_oldest('games', 'left_at')} AND {_FEW_CHALLENGES}"),
    (f"DELETE FROM challenges WHERE {_oldest('challenges', 'received_at')}", [()]),
    (f"DELETE FROM deeds WHERE {_oldest('deeds', 'done_at')}", [()]),
)


def _older(column: str, age: timedelta) -> str:
    """Return the condition for rows that are older than `age` at a wall time, a parameter.

    They must be that much older than the newest row, too: after a power cut the clock may be years ahead for a moment.
    """
    return f"{column} < min(?, (SELECT ifnull(max(at), 1e300) FROM ({_PROVEN}))) - {age.total_seconds()}"


def outdated(now_s: float, retention: Retention, *, played: int, round_trips: int) -> Sequence[Statement]:
    """Return the statements that delete old rows by wall time, and all but the newest that many of two tables."""
    kept = {
        "challenges": _CHALLENGES_KEPT,
        "deeds": _ACTIONS_KEPT,
        "answers": _ANSWERS_KEPT,
        "bot_games": _ACTIONS_KEPT,
        "sent_challenges": _ANSWERS_KEPT,
        "declines": retention.keep,
    }
    return (
        *_without_games(_older("left_at", retention.keep), now_s),
        *((f"DELETE FROM {table} WHERE {_older(_TIMES[table], age)}", [(now_s,)]) for table, age in kept.items()),
        (f"DELETE FROM rests WHERE {_older('until', _RESTS_KEPT)}", [(now_s,)]),
        (
            "DELETE FROM played WHERE played_at < "
            "(SELECT played_at FROM played ORDER BY played_at DESC LIMIT 1 OFFSET ?)",
            [(played,)],
        ),
        ("DELETE FROM round_trips WHERE id <= (SELECT max(id) FROM round_trips) - ?", [(round_trips,)]),
    )
