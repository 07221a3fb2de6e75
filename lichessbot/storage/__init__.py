"""The state file: one SQLite database with what must survive a restart, and every game.

Knows all SQL. Must not know: Lichess, engines and decisions. Offers `Store` (read and write without blocking a game),
`Database` (the file, its lock and schema), the values in it (`challenge_records`, `evaluations`, `game_records`,
`player_list`, `reviews`), the tables that other packages own (`tables`), games of the past (`game_history`), which of
them are meant (`game_filter`), figures of them (`statistics`), and what commands ask of players and challenges
(`state_reader`).
"""

__all__ = [
    "challenge_records",
    "database",
    "evaluations",
    "game_filter",
    "game_history",
    "game_records",
    "player_list",
    "reviews",
    "state_reader",
    "statistics",
    "store",
    "tables",
]
