"""Games of the past, read from the state file, also while the daemon runs. Changes nothing; for any thread."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from lichessbot.storage import statistics
from lichessbot.storage.database import read_only
from lichessbot.storage.game_filter import BEGAN, GameFilter
from lichessbot.storage.game_records import SELECT, SELECT_CHAT, SELECT_MOVES, ChatRecord, GameRecord, MoveRecord
from lichessbot.storage.reviews import SELECT_POSITIONS, SELECT_REVIEW, ReviewedPosition, ReviewRecord
from lichessbot.storage.statistics import Statistics, aggregate

_DROPS: Final = 10
_DEFAULT_URL: Final = "https://lichess.org"
_ALL: Final = GameFilter()


class GameHistory:
    """The games in one state folder. Every method raises StateError if the file cannot be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __len__(self) -> int:
        """Return the number of games."""
        (count,) = next(iter(self._read("SELECT count(*) FROM games")), (0,))
        return int(count)

    def games(self, wanted: GameFilter = _ALL, limit: int = -1) -> list[GameRecord]:
        """Return the games, oldest first; with a limit the newest ones."""
        order = f"ORDER BY {BEGAN} DESC, id LIMIT ?"
        rows = self._read(f"{SELECT} WHERE {wanted.condition} {order}", *wanted.values, limit)
        return [GameRecord.of_row(row) for row in rows][::-1]

    def game(self, game_id: str) -> GameRecord | None:
        """Return a game; None if it is unknown."""
        return next((GameRecord.of_row(row) for row in self._read(f"{SELECT} WHERE id = ?", game_id)), None)

    def moves(self, game_id: str) -> list[MoveRecord]:
        return [MoveRecord(*row) for row in self._read(SELECT_MOVES, game_id)]

    def chat(self, game_id: str) -> list[ChatRecord]:
        return [ChatRecord(*row) for row in self._read(SELECT_CHAT, game_id)]

    def review(self, game_id: str) -> ReviewRecord | None:
        """Return the review of a game; None if there is none."""
        positions = [ReviewedPosition(*row) for row in self._read(SELECT_POSITIONS, game_id)]
        for head in self._read(SELECT_REVIEW, game_id):
            return replace(ReviewRecord(*head), positions=positions)
        return None

    def edition(self) -> Any:
        """Return a value that changes when a game begins, ends or is deleted, or gets its opening or rating."""
        counts = "count(*), max(ended_at), count(result), count(rating_diff), count(nullif(eco, ''))"
        return self._read(f"SELECT {counts} FROM games")

    def statistics(self, games: Sequence[GameRecord], wanted: GameFilter = _ALL) -> Statistics:
        """Return the statistics of these games, which are those that the filter means; declines only of all games."""
        ids, values = f"SELECT id FROM games WHERE {wanted.condition}", wanted.values
        return aggregate(
            games,
            self._read(statistics.SELECT_SOURCES.format(games=ids), *values),
            self._read(statistics.SELECT_PHASES.format(games=ids), *values),
            self._read(statistics.SELECT_DROPS.format(games=ids), *values, _DROPS),
            self._read(statistics.SELECT_DECLINED_BY_OTHERS) if wanted == _ALL else (),
            self._read(statistics.SELECT_DECLINED_BY_US) if wanted == _ALL else (),
        )

    def site(self) -> str:
        """Return the address of the server."""
        return next((url for (url,) in self._read("SELECT url FROM account")), _DEFAULT_URL)

    def _read(self, query: str, *values: object) -> list[Any]:
        return read_only(self.folder, query, *values)
