"""The schema of the state file, as the steps that lead to it."""

from typing import Final

# Entry N migrates the file from schema N to schema N + 1. Entries are only ever added.
MIGRATIONS: Final = (
    """
    CREATE TABLE games (id TEXT PRIMARY KEY, opponent TEXT NOT NULL, joined_at REAL NOT NULL);
    CREATE TABLE deeds (game_id TEXT NOT NULL, deed TEXT NOT NULL, done_at REAL NOT NULL);
    CREATE TABLE answers (challenge_id TEXT PRIMARY KEY, answered_at REAL NOT NULL);
    CREATE TABLE round_trips (id INTEGER PRIMARY KEY, ms REAL NOT NULL);
    """,
    """
    CREATE TABLE challenges (
        id TEXT PRIMARY KEY, received_at REAL NOT NULL, challenger TEXT NOT NULL, is_bot INTEGER NOT NULL,
        rating INTEGER, our_rating INTEGER, variant TEXT NOT NULL, speed TEXT NOT NULL, terms TEXT NOT NULL,
        has_clock INTEGER NOT NULL, answer TEXT NOT NULL, reason TEXT NOT NULL, rule TEXT NOT NULL,
        because TEXT NOT NULL
    );
    CREATE TABLE player_lists (
        address TEXT PRIMARY KEY, names TEXT NOT NULL, etag TEXT NOT NULL, fetched_at REAL NOT NULL
    );
    ALTER TABLE games ADD COLUMN left_at REAL;
    """,
    """
    CREATE TABLE bot_games (
        id TEXT PRIMARY KEY, opponent TEXT NOT NULL, speed TEXT NOT NULL, colour TEXT, ours INTEGER NOT NULL,
        began_at REAL NOT NULL
    );
    CREATE TABLE sent_challenges (id TEXT PRIMARY KEY, sent_at REAL NOT NULL, cost INTEGER NOT NULL);
    CREATE TABLE limits (name TEXT PRIMARY KEY, most INTEGER, until REAL NOT NULL);
    CREATE TABLE rests (
        opponent TEXT NOT NULL, subject TEXT NOT NULL, until REAL NOT NULL, times INTEGER NOT NULL,
        PRIMARY KEY (opponent, subject)
    );
    CREATE TABLE tournaments (id TEXT PRIMARY KEY, team TEXT, password TEXT);
    """,
    """
    CREATE TABLE played (
        position TEXT NOT NULL, move TEXT NOT NULL, times INTEGER NOT NULL, played_at REAL NOT NULL,
        PRIMARY KEY (position, move)
    );
    """,
    """
    ALTER TABLE games ADD COLUMN has_clock INTEGER NOT NULL DEFAULT 1;
    CREATE TABLE account (single INTEGER PRIMARY KEY CHECK (single = 1), url TEXT NOT NULL, id TEXT NOT NULL);
    """,
    """
    CREATE TABLE declines (
        opponent TEXT NOT NULL, terms TEXT NOT NULL, reason TEXT NOT NULL, declined_at REAL NOT NULL
    );
    """,
    """
    ALTER TABLE games ADD COLUMN opponent_id TEXT NOT NULL DEFAULT '';
    ALTER TABLE games ADD COLUMN opponent_title TEXT NOT NULL DEFAULT '';
    ALTER TABLE games ADD COLUMN opponent_rating INTEGER;
    ALTER TABLE games ADD COLUMN our_name TEXT NOT NULL DEFAULT '';
    ALTER TABLE games ADD COLUMN our_title TEXT NOT NULL DEFAULT '';
    ALTER TABLE games ADD COLUMN our_rating INTEGER;
    ALTER TABLE games ADD COLUMN rating_diff INTEGER;
    ALTER TABLE games ADD COLUMN variant TEXT NOT NULL DEFAULT '';
    ALTER TABLE games ADD COLUMN speed TEXT NOT NULL DEFAULT '';
    ALTER TABLE games ADD COLUMN rated INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE games ADD COLUMN colour TEXT NOT NULL DEFAULT '';
    ALTER TABLE games ADD COLUMN initial_fen TEXT NOT NULL DEFAULT '';
    ALTER TABLE games ADD COLUMN base_s INTEGER;
    ALTER TABLE games ADD COLUMN increment_s INTEGER;
    ALTER TABLE games ADD COLUMN days_per_turn INTEGER;
    ALTER TABLE games ADD COLUMN tournament_id TEXT NOT NULL DEFAULT '';
    ALTER TABLE games ADD COLUMN started_at REAL;
    ALTER TABLE games ADD COLUMN ended_at REAL;
    ALTER TABLE games ADD COLUMN status TEXT NOT NULL DEFAULT '';
    ALTER TABLE games ADD COLUMN result TEXT;
    ALTER TABLE games ADD COLUMN plies INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE games ADD COLUMN eco TEXT NOT NULL DEFAULT '';
    ALTER TABLE games ADD COLUMN opening TEXT NOT NULL DEFAULT '';
    CREATE TABLE moves (
        game_id TEXT NOT NULL, ply INTEGER NOT NULL, move TEXT NOT NULL, clock_ms INTEGER, source TEXT,
        score_cp INTEGER, depth INTEGER, nodes INTEGER, search_ms INTEGER, reaction_ms INTEGER, delivery_ms INTEGER,
        PRIMARY KEY (game_id, ply)
    ) WITHOUT ROWID;
    CREATE TABLE chat (
        game_id TEXT NOT NULL, said_at REAL NOT NULL, room TEXT NOT NULL, author TEXT NOT NULL, text TEXT NOT NULL
    );
    """,
    """
    CREATE TABLE blocked_players (id TEXT PRIMARY KEY, blocked_at REAL NOT NULL);
    """,
    """
    CREATE TABLE reviews (
        game_id TEXT PRIMARY KEY, reviewed_at REAL NOT NULL, engine TEXT NOT NULL, nodes INTEGER NOT NULL
    );
    CREATE TABLE reviewed_positions (
        game_id TEXT NOT NULL, ply INTEGER NOT NULL, score_cp INTEGER NOT NULL, line TEXT NOT NULL,
        PRIMARY KEY (game_id, ply)
    ) WITHOUT ROWID;
    """,
    """
    ALTER TABLE games ADD COLUMN level INTEGER;
    ALTER TABLE games ADD COLUMN chosen_level INTEGER;
    """,
    """
    ALTER TABLE challenges ADD COLUMN challenger_name TEXT NOT NULL DEFAULT '';
    """,
)
