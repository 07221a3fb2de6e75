"""The games against other bots: when, whom, with which colour, and who began them.

Knows what was played, also before a restart; what follows from it is asked elsewhere. Times are
seconds since the epoch, for they outlive the process.
"""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from lichessbot.store import Store, Table
from lichessbot.vocabulary import Colour


@dataclass(frozen=True, slots=True)
class BotGame:
    """`ours` if our own challenge led to it; `colour` is ours."""

    game_id: str
    opponent: str
    speed: str
    colour: Colour | None
    ours: bool
    began_at: float


class Diary:
    """For the main thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._games = sorted(map(_read, store.remembered(Table.BOT_GAMES)), key=attrgetter("began_at"))
        self._ids = {game.game_id for game in self._games}

    def note(self, game: BotGame) -> None:
        """A game that began; said again, nothing happens."""
        if game.game_id in self._ids:
            return
        self._ids.add(game.game_id)
        bisect.insort(self._games, game, key=attrgetter("began_at"))
        self._store.put(
            "INSERT OR IGNORE INTO bot_games (id, opponent, speed, colour, ours, began_at) VALUES (?, ?, ?, ?, ?, ?)",
            game.game_id,
            game.opponent,
            game.speed,
            game.colour,
            game.ours,
            game.began_at,
        )

    def since(self, moment: float) -> Sequence[BotGame]:
        """The games that began after `moment`, in order."""
        return self._games[bisect.bisect_right(self._games, moment, key=attrgetter("began_at")) :]

    def latest(self, opponent: str, speed: str) -> BotGame | None:
        """The last game of our own against that bot at that speed."""
        games = (it for it in reversed(self._games) if it.ours and it.opponent == opponent and it.speed == speed)
        return next(games, None)


def _read(row: Sequence[object]) -> BotGame:
    game_id, opponent, speed, colour, ours, began_at = row
    known = Colour(str(colour)) if colour in tuple(Colour) else None
    return BotGame(str(game_id), str(opponent), str(speed), known, bool(ours), float(str(began_at)))
