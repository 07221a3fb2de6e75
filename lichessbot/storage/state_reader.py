"""What the state file says of players and challenges, read also while the daemon runs. Changes nothing; for any thread.

Games of the past are in `game_history`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lichessbot.storage import challenge_records, game_records
from lichessbot.storage.challenge_records import ChallengeOutcome, ChallengeRecord
from lichessbot.storage.database import read_only
from lichessbot.storage.game_records import GameRecord
from lichessbot.storage.player_list import PlayerList

# Where the records have names of players; a title may stand before a name.
_NAMES: Final = (
    "SELECT DISTINCT opponent FROM games",
    "SELECT DISTINCT challenger FROM challenges",
    "SELECT DISTINCT opponent FROM bot_games",
    "SELECT DISTINCT opponent FROM declines",
    "SELECT DISTINCT opponent FROM rests",
    "SELECT id FROM blocked_players",
)


@dataclass(frozen=True, slots=True)
class PastDecline:
    """A challenge of ours that failed; `terms` such as `3+2 rated standard`, `declined_at` is wall time."""

    terms: str
    reason: str
    declined_at: float


@dataclass(frozen=True, slots=True)
class PastGame:
    """A game that came of a challenge of ours; `began_at` is wall time."""

    speed: str
    began_at: float


@dataclass(frozen=True, slots=True)
class Rest:
    """What is not proposed to a bot until the wall time `until`: `anything`, or for example `speed bullet`."""

    subject: str
    until: float


@dataclass(frozen=True, slots=True)
class TableSize:
    """A table of the state file: how many rows it has, and the SQL that made it."""

    name: str
    rows: int
    sql: str


class StateReader:
    """The records in one state folder. Every method raises StateError if the file cannot be read.

    There is nothing to read as long as there is no file, or only one of an older version.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    # Players

    def is_blocked(self, user_id: str) -> bool:
        """Return whether the player was blocked by command."""
        return bool(self._read("SELECT 1 FROM blocked_players WHERE id = ?", user_id))

    def player_lists(self) -> dict[str, PlayerList]:
        """Return the last good version of each list, by address."""
        rows = self._read("SELECT address, names, etag FROM player_lists")
        return {address: PlayerList.of_words(address, names.split(), etag) for address, names, etag in rows}

    def players(self) -> Iterator[str]:
        """Yield the ids of the players that the records name, but not our own; those before a damaged table, too."""
        ours = {user_id for (user_id,) in self._read("SELECT id FROM account")}
        for query in _NAMES:
            for (name,) in self._read(query):
                user_id = name.split()[-1].lower() if name.split() else ""
                if user_id and user_id not in ours:
                    yield user_id
        for listed in self.player_lists().values():
            yield from (*listed.names, *listed.until)

    # Challenges

    def challenge(self, challenge_id: str) -> ChallengeRecord | None:
        """Return a challenge to us; None if it is unknown."""
        rows = self._read(f"{challenge_records.SELECT} WHERE id = ?", challenge_id)
        return ChallengeRecord.of_row(rows[0]) if rows else None

    def latest_challenges(self, limit: int) -> list[ChallengeRecord]:
        """Return the challenges to us that came last, the newest first."""
        rows = self._read(f"{challenge_records.SELECT} ORDER BY received_at DESC LIMIT ?", limit)
        return [ChallengeRecord.of_row(row) for row in rows]

    def accepted_lately(self, challenger: str, age_s: float, now_s: float) -> int:
        """Return how many challenges of that player, at most so old, were accepted; `now_s` is wall time."""
        query = "SELECT count(*) FROM challenges WHERE challenger = ? AND answer = ? AND received_at BETWEEN ? AND ?"
        ((count,),) = self._read(query, challenger, ChallengeOutcome.ACCEPTED, now_s - age_s, now_s) or [(0,)]
        return int(count)

    def our_rating(self, variant: str, speed: str) -> int | None:
        """Return our rating in such games, as Lichess sent it last with a challenge."""
        query = (
            "SELECT our_rating FROM challenges WHERE our_rating IS NOT NULL AND variant = ? AND speed = ? "
            "ORDER BY received_at DESC LIMIT 1"
        )
        return next((rating for (rating,) in self._read(query, variant, speed)), None)

    # Challenges of ours

    def games_by_our_challenges(self, opponent: str) -> list[PastGame]:
        """Return the games against a bot that came of challenges of ours."""
        query = "SELECT speed, began_at FROM bot_games WHERE ours AND opponent = ?"
        return [PastGame(*row) for row in self._read(query, opponent)]

    def declines(self, opponent: str) -> list[PastDecline]:
        """Return the challenges that a bot declined or did not answer."""
        query = "SELECT terms, reason, declined_at FROM declines WHERE opponent = ?"
        return [PastDecline(*row) for row in self._read(query, opponent)]

    def rests(self, opponent: str) -> list[Rest]:
        """Return what is not proposed to a bot for a while."""
        return [Rest(*row) for row in self._read("SELECT subject, until FROM rests WHERE opponent = ?", opponent)]

    # Games and the file itself

    def running_games(self) -> list[tuple[GameRecord, ChallengeRecord | None]]:
        """Return the games that the daemon plays, as long as it runs, each with the challenge to us that it came of."""
        games = map(GameRecord.of_row, self._read(f"{game_records.SELECT} WHERE left_at IS NULL"))
        rows = self._read(f"{challenge_records.SELECT} WHERE id IN (SELECT id FROM games WHERE left_at IS NULL)")
        challenges = {it.id: it for it in map(ChallengeRecord.of_row, rows)}
        return [(game, challenges.get(game.id)) for game in games]

    def schema(self) -> int | None:
        """Return the number of the schema; None if there is nothing to read."""
        return next((int(number) for (number,) in self._read("PRAGMA user_version")), None)

    def tables(self) -> list[TableSize]:
        """Return all tables by name."""
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
        counted = "SELECT count(*) FROM {}"
        return [TableSize(name, self._read(counted.format(name))[0][0], sql) for name, sql in self._read(query)]

    def _read(self, query: str, *values: object) -> list[Any]:
        return read_only(self.folder, query, *values)
