"""Lichess's list of games in progress, which shows what the streams may have missed.

For the main thread. Decides when the list is read and what follows from it. Until it arrives after a start, games that
the store remembers can be resumed without it.
"""

import time
from collections.abc import Callable, Sequence

from lichessbot.games.manager import GameManager
from lichessbot.games.recovery import GameRecovery, Reconciler
from lichessbot.games.session import GameContext
from lichessbot.lichess.commands import ReadPlaying
from lichessbot.lichess.models import Account, GameInfo
from lichessbot.lichess.outbox import Outbox
from lichessbot.lobby import Lobby
from lichessbot.log import EventLog
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts


class GamesInProgress:
    """Keeps our games and challenges in step with Lichess."""

    def __init__(
        self, games: GameManager, lobby: Lobby, outbox: Outbox, store: Store, url: str, timeouts: Timeouts
    ) -> None:
        self._games = games
        self._lobby = lobby
        self._outbox = outbox
        self._log = EventLog()
        self._reconciler = Reconciler(timeouts)
        self._recovery = GameRecovery(store, url, timeouts)

    @property
    def wake_at(self) -> float | None:
        """When `tick` or `resume_remembered` has something to do."""
        moments = (self._reconciler.wake_at, self._recovery.wake_at)
        return min((moment for moment in moments if moment is not None), default=None)

    @property
    def remembered_id(self) -> str:
        """The account that the store remembers; empty if there is none."""
        return self._recovery.our_id

    def introduce(self, account: Account) -> None:
        """Remember the account; leave the remembered games if they belong to another one."""
        if self._recovery.is_another(account):
            self._log.warning("account.changed", was=self._recovery.our_id, games_left=len(self._games))
            self._games.close()
        self._recovery.introduce(account)

    def engine_is_good(self) -> None:
        """Take note that games can be played from now on."""
        self._recovery.engine_is_good(time.monotonic())

    def resume_remembered(self, make_context: Callable[[], GameContext]) -> None:
        """Join the games in the store if Lichess does not say in time which games are ours."""
        games = self._recovery.begin(time.monotonic())
        if games:
            context = make_context()
            self._log.info("games.remembered", account=context.our_id, games=len(games))
            for info in games:
                self._games.join(info, context)

    def want(self, reason: str) -> None:
        """Read the list soon."""
        self._log.debug("doubt", reason=reason)
        self._reconciler.want(time.monotonic())

    def tick(self, context: GameContext) -> None:
        """Read the list if it is due, and join games that no list shows.

        A rate limit stops the event stream and the list, but not the streams of games.
        """
        if self._lobby.question_overdue():
            self.want("an accepted challenge became no game")
        for info in self._lobby.unlisted_games():
            self._log.info("game.untold", game=info.game_id)
            self._lobby.game_started(info)
            self._games.join(info, context)
        if self._reconciler.begin(time.monotonic()):
            self._outbox.send(ReadPlaying())

    def account_failed(self) -> None:
        """Take note that Lichess does not say who we are, and so not what we play."""
        self._recovery.list_failed(time.monotonic())

    def list_failed(self) -> None:
        self._recovery.list_failed(time.monotonic())
        self._reconciler.done(time.monotonic(), answered=False)

    def compare(self, listed: Sequence[GameInfo], asked_at: float, context: GameContext) -> None:
        """Compare our games with the list, requested at the monotonic second `asked_at`."""
        self._reconciler.done(time.monotonic(), answered=True)
        self._lobby.compare(listed, asked_at)
        self._games.compare(listed, asked_at, context)
        self._recovery.list_came(self._games)
