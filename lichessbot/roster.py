"""The games being played: who joins, who is told what, and what happens when one breaks.

For the main thread. Knows a game's task from outside only: how it is played is the task's own work.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from lichessbot.events import GameInfo
from lichessbot.game_task import GameTask, House
from lichessbot.journal import Journal
from lichessbot.messages import Inbox, PlayingWanted, Report, Standing
from lichessbot.vocabulary import Variant

# A game we left without knowing its end is joined again so often, as long as it is in progress.
_MOST_RETURNS: Final = 3
# A list of games in progress that is as long as this may have been cut.
_LONGEST_LIST: Final = 50


class Roster:
    """The tasks of all games; whatever goes wrong in one, the others go on."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._tasks: dict[str, GameTask] = {}
        self._departures: Counter[str] = Counter()
        self._left_alone: set[str] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def __contains__(self, game_id: object) -> bool:
        return game_id in self._tasks

    @property
    def games(self) -> list[GameInfo]:
        """As they were announced."""
        return [task.info for task in self._tasks.values()]

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        moments = (task.wake_at for task in self._tasks.values())
        return min((moment for moment in moments if moment is not None), default=None)

    @property
    def overdue(self) -> bool:
        """Whether the stream of any game hangs."""
        return any(task.overdue for task in self._tasks.values())

    def join(self, info: GameInfo, house: House) -> None:
        """Play a game that began or goes on; announced again, nothing happens."""
        if info.game_id in self._tasks or self._departures[info.game_id] > _MOST_RETURNS:
            return
        journal = Journal(info.game_id)
        if not info.compat.bot or info.variant.key not in tuple(Variant):
            if info.game_id not in self._left_alone:
                self._left_alone.add(info.game_id)
                journal.warning("game.left_alone", variant=info.variant.key, bot_api=info.compat.bot)
            return
        journal.info(
            "game.join",
            opponent=info.opponent.username,
            speed=info.speed,
            rated=info.rated,
            games=len(self._tasks) + 1,
        )
        house.store.note_game(info.game_id, info.opponent.username)
        task = self._tasks[info.game_id] = GameTask(info, house)
        self._guarded(task, task.start)

    def compare(self, games: Sequence[GameInfo], asked_at: float, house: House) -> None:
        """All games in progress, as a look begun at `asked_at` saw them: the most urgent are joined first."""
        for info in sorted(games, key=lambda info: info.urgency):
            self.join(info, house)
        listed = {info.game_id: info for info in games}
        self._left_alone &= listed.keys()
        for game_id in list(self._tasks):
            if game_id in listed or len(games) < _LONGEST_LIST:
                self.tell(game_id, Standing(game_id, listed.get(game_id), asked_at))

    def tell(self, game_id: str | None, report: Report) -> None:
        task = self._tasks.get(game_id or "")
        if task is not None:
            self._guarded(task, lambda: task.handle(report))

    def tick(self) -> None:
        """Let every game do what is due."""
        for task in list(self._tasks.values()):
            if task.wake_at is not None and time.monotonic() >= task.wake_at:
                self._guarded(task, task.tick)

    def close(self) -> None:
        """Leave all games at once; nothing is sent to Lichess."""
        for task in self._tasks.values():
            task.close()

    def _guarded(self, task: GameTask, step: Callable[[], None]) -> None:
        """Run a step of a game, and let the game go if that was its last."""
        certain = False
        try:
            step()
            if not task.over:
                return
            certain = task.over_for_certain
        except Exception as error:
            Journal(task.game_id).crash("game.crashed", error)
        del self._tasks[task.game_id]
        task.close()
        if certain:
            self._departures.pop(task.game_id, None)
            return
        self._departures[task.game_id] += 1
        self._inbox.put(PlayingWanted("a game was left without a known end"))
        if self._departures[task.game_id] > _MOST_RETURNS:
            Journal(task.game_id).error("game.given_up", returns=_MOST_RETURNS)
