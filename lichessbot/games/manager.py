"""The games being played: who joins, who is told what, and what happens when one breaks.

For the main thread. Knows a game's task from outside only: how it is played is the task's own work.
A game with a clock has its task from its beginning to its end; a correspondence game only while we
sit at it, which few do at a time.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from lichessbot.games.correspondence import CorrespondenceGames
from lichessbot.games.session import GameContext, GameSession
from lichessbot.inbox import Inbox, Report, Standing
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.models import GameInfo
from lichessbot.lichess.streams import PlayingWanted
from lichessbot.log import EventLog

# A game we left without knowing its end is joined again so often, as long as it is in progress.
_MOST_RETURNS: Final = 3
# A list of games in progress that is as long as this may have been cut.
_LONGEST_LIST: Final = 50
# A correspondence game that a list so cut has not shown for as many check-ins is visited to see whose turn it is.
_PERIODS_UNSEEN: Final = 12


class GameManager:
    """The tasks of all games; whatever goes wrong in one, the others go on."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._tasks: dict[str, GameSession] = {}
        self._resting: dict[str, GameSession] = {}
        """Correspondence games at which nobody sits, with what was noted there."""
        self._correspondence = CorrespondenceGames()
        self._context: GameContext | None = None
        self._check_in_at = 0.0
        self._list_was_cut = False
        self._departures: Counter[str] = Counter()
        self._ended_at: dict[str, float] = {}
        """The games whose end is certain, until a look that began later."""
        self._left_alone: set[str] = set()

    def __len__(self) -> int:
        """The games that take a slot: those with a clock."""
        return len(self._tasks) - len(self._visits)

    def __contains__(self, game_id: object) -> bool:
        return game_id in self._tasks or game_id in self._correspondence

    @property
    def games(self) -> list[GameInfo]:
        """All games in progress, as they were announced."""
        return [
            task.info for task in self._tasks.values() if not task.info.is_correspondence
        ] + self._correspondence.games

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        moments = [task.wake_at for task in self._tasks.values()]
        if self._context is not None and len(self._correspondence) > len(self._visits):
            moments.append(self._check_in_at)
        if self._context is not None and self._correspondence:
            moments += [self._leaves_at(task, self._context) for task in self._visits]
            moments.append(self._correspondence.wake_at(self._tasks) if self._has_place(self._context) else None)
        return min((moment for moment in moments if moment is not None), default=None)

    @property
    def overdue(self) -> bool:
        """Whether the stream of any game hangs."""
        return any(task.overdue for task in self._tasks.values())

    def join(self, info: GameInfo, context: GameContext) -> None:
        """Play a game that began or goes on; announced again, only what is known of it changes."""
        self._context = context
        self._note(info, time.monotonic(), context)

    def compare(self, games: Sequence[GameInfo], asked_at: float, context: GameContext) -> None:
        """All games in progress, as a look begun at `asked_at` saw them: the most urgent are joined first."""
        self._context = context
        self._check_in_at = asked_at + context.config.correspondence.check_in_every.total_seconds()
        self._list_was_cut = len(games) >= _LONGEST_LIST
        for info in sorted(games, key=lambda info: info.urgency):
            self._note(info, asked_at, context)
        listed = {info.game_id: info for info in games}
        self._left_alone &= listed.keys()
        self._ended_at = {game_id: at for game_id, at in self._ended_at.items() if at > asked_at}
        if self._list_was_cut:
            period_s = context.config.correspondence.check_in_every.total_seconds()
            self._correspondence.doubt_all_but(listed, asked_at - _PERIODS_UNSEEN * period_s)
        else:
            self._correspondence.forget_all_but(listed.keys() | self._tasks.keys(), asked_at)
            self._resting = {
                game_id: task for game_id, task in self._resting.items() if game_id in self._correspondence
            }
        for game_id in list(self._tasks):
            if game_id in listed or not self._list_was_cut:
                self.tell(game_id, Standing(game_id, listed.get(game_id), asked_at))

    def tell(self, game_id: str | None, report: Report) -> None:
        task = self._tasks.get(game_id or "")
        if task is not None:
            self._guarded(task, lambda: task.handle(report))

    def others_got_through(self) -> None:
        """A stream was opened: whoever waits for Lichess to come back need not wait longer."""
        for task in self._tasks.values():
            task.others_got_through()

    def finished(self, game_id: str, report: Report) -> None:
        """The event stream says that a game is over, whether we sit at it or not."""
        if game_id in self._tasks:
            self.tell(game_id, report)
        else:
            self._correspondence.call(game_id, time.monotonic())

    def tick(self) -> None:
        """Let every game do what is due."""
        for task in list(self._tasks.values()):
            if task.wake_at is not None and time.monotonic() >= task.wake_at:
                self._guarded(task, task.tick)
        if self._context is not None and self._correspondence:
            self._go_round(self._context, time.monotonic())

    def close(self) -> None:
        """Leave all games at once; nothing is sent to Lichess."""
        while self._tasks:
            self._tasks.popitem()[1].close()

    # Who plays

    def _note(self, info: GameInfo, seen_at: float, context: GameContext) -> None:
        """A game is in progress: begin to play it, unless that has happened."""
        known = info.game_id in self._tasks or info.game_id in self._correspondence
        if not known and (seen_at <= self._ended_at.get(info.game_id, -math.inf) or not self._may_join(info)):
            return
        if not known:
            EventLog(info.game_id).info(
                "game.join",
                opponent=info.opponent.username,
                speed=info.speed,
                rated=info.rated,
                games=len(self._tasks) + 1,
            )
        if info.is_correspondence:
            self._correspondence.note(info, seen_at)
        elif not known:
            self._sit_down(info, context)
        else:
            self._tasks[info.game_id].info = info

    def _may_join(self, info: GameInfo) -> bool:
        if self._departures[info.game_id] > _MOST_RETURNS:
            return False
        if info.compat.bot and info.variant.key in tuple(Variant):
            return True
        if info.game_id not in self._left_alone:
            self._left_alone.add(info.game_id)
            EventLog(info.game_id).warning("game.left_alone", variant=info.variant.key, bot_api=info.compat.bot)
        return False

    def _sit_down(self, info: GameInfo, context: GameContext) -> None:
        task = self._resting.pop(info.game_id, None)
        if task is None:
            context.store.note_game(info.game_id, info.opponent.username, has_clock=not info.is_correspondence)
            task = GameSession(info, context)
        self._tasks[info.game_id] = task
        self._guarded(task, task.start)

    # Correspondence: few places, many games

    @property
    def _visits(self) -> list[GameSession]:
        return [task for game_id, task in self._tasks.items() if game_id in self._correspondence]

    def _has_place(self, context: GameContext) -> bool:
        return len(self._visits) < context.config.correspondence.concurrency

    def _go_round(self, context: GameContext, now: float) -> None:
        """Leave games in which nothing is to be done, and sit down where it is our turn."""
        for task in self._visits:
            leaves_at = self._leaves_at(task, context)
            if leaves_at is not None and now >= leaves_at:
                self._stand_up(task, context, now)
        while self._has_place(context) and (info := self._correspondence.next(now, self._tasks)) is not None:
            EventLog(info.game_id).debug("game.visit", seconds_left=info.seconds_left)
            self._sit_down(info, context)
        if now >= self._check_in_at and len(self._correspondence) > len(self._visits):
            self._look_again("whose turn is it in the correspondence games", context, now)
        elif self._list_was_cut and self._has_place(context):
            self._list_was_cut = False
            self._look_again("the list of games may have been cut", context, now)

    def _leaves_at(self, task: GameSession, context: GameContext) -> float | None:
        """When to stand up from a correspondence game; None while nobody knows."""
        others_wait = self._correspondence.next(time.monotonic(), self._tasks) is not None
        if task.idle_since is not None:
            return task.idle_since + (0.0 if others_wait else context.config.correspondence.linger.total_seconds())
        patience = context.timeouts.visit.total_seconds() + context.config.correspondence.move_time
        return task.began_at + patience if others_wait else None

    def _stand_up(self, task: GameSession, context: GameContext, now: float) -> None:
        """The game goes on without us until it is our turn; one in which our move did not succeed is tried again."""
        again_at = None if task.idle_since is not None else now + context.timeouts.visit.total_seconds()
        self._correspondence.put_back(task.game_id, now, not_before=again_at)
        del self._tasks[task.game_id]
        self._resting[task.game_id] = task
        task.suspend()

    def _look_again(self, reason: str, context: GameContext, now: float) -> None:
        self._check_in_at = now + context.config.correspondence.check_in_every.total_seconds()
        self._inbox.put(PlayingWanted(reason))

    # What may break

    def _guarded(self, task: GameSession, step: Callable[[], None]) -> None:
        """Run a step of a game, and let the game go if that was its last."""
        certain = False
        try:
            step()
            if not task.over:
                return
            certain = task.over_for_certain
        except Exception as error:
            EventLog(task.game_id).crash("game.crashed", error)
        del self._tasks[task.game_id]
        self._correspondence.forget(task.game_id)
        task.close()
        if certain:
            self._departures.pop(task.game_id, None)
            self._ended_at[task.game_id] = time.monotonic()
            return
        self._departures[task.game_id] += 1
        self._inbox.put(PlayingWanted("a game was left without a known end"))
        if self._departures[task.game_id] > _MOST_RETURNS:
            EventLog(task.game_id).error("game.given_up", returns=_MOST_RETURNS)
