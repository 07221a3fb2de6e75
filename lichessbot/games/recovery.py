"""Keep our games in step with Lichess's list of games in progress, which shows what the streams may have missed.

For the main thread. Decides when the list is read and what follows from it. Until it arrives after a start, games that
the store remembers can be resumed without it.
"""

import math
import time
from collections.abc import Callable, Container, Sequence

from lichessbot.backoff import Backoff, doubled
from lichessbot.errors import ApiError, Refused
from lichessbot.games.manager import GameManager
from lichessbot.games.session import GameContext
from lichessbot.lichess.answers import Account
from lichessbot.lichess.commands import ReadPlaying
from lichessbot.lichess.enums import Speed, Variant
from lichessbot.lichess.models import GameInfo, Opponent, VariantRef
from lichessbot.lichess.outbox import Outbox
from lichessbot.lobby import Lobby
from lichessbot.log import EventLog
from lichessbot.storage.store import Store
from lichessbot.storage.tables import Table
from lichessbot.timeouts import Timeouts, earliest, is_due


class GameRecovery:
    """The games left over from an earlier process. Times are monotonic seconds, passed in."""

    def __init__(self, store: Store, url: str, timeouts: Timeouts) -> None:
        self._store = store
        self._url = url
        self._patience_s = timeouts.games_told.total_seconds()
        accounts = [user_id for known_url, user_id in store.remembered(Table.ACCOUNT) if known_url == url]
        self.our_id: str = accounts[-1] if accounts else ""
        """The id of our account at this server when the records ended; empty if unknown."""
        self._left_over = [_as_recorded(*it) for it in store.left_over]
        self._left_over_by_days = [_as_recorded(*it, Speed.CORRESPONDENCE) for it in store.left_over_by_days]
        self._good_at = math.inf
        """When games could be played for the first time."""
        self._resumed = False
        """Whether the games with a clock were joined without a list."""

    @property
    def wake_at(self) -> float | None:
        """When `begin` returns games."""
        due_at = self._good_at + self._patience_s
        return due_at if self.awaited and due_at < math.inf else None

    @property
    def awaited(self) -> list[GameInfo]:
        """The left-over games with a clock that are joined as soon as a list comes or `begin` returns them."""
        return self._left_over if self.our_id and not self._resumed else []

    @property
    def unjoined(self) -> list[GameInfo]:
        """The left-over games that have not been joined yet."""
        return [*(() if self._resumed else self._left_over), *self._left_over_by_days]

    def engine_is_good(self, now: float) -> None:
        """Note that games can be played from now on, though the engines of other profiles may not be checked yet."""
        self._good_at = min(self._good_at, now)

    def list_failed(self) -> None:
        """Note that Lichess did not answer: no list is awaited any longer."""
        self._patience_s = 0.0

    def list_came(self, playing: Container[str]) -> list[GameInfo]:
        """Note the list from Lichess; return the left-over games that it lacks, once: their streams tell the end.

        Until then they stay left over in the records, for the next process if this one is killed. A list of many
        correspondence games may lack some that go on: these are visited, too. Games that were joined without a list
        have been played or ended since.
        """
        missing = [info for info in self.unjoined if info.game_id not in playing]
        self._left_over, self._left_over_by_days = [], []
        return missing

    def begin(self, now: float) -> list[GameInfo]:
        """Return the games to join from the records, the latest first; none before `wake_at`, and only once."""
        if not is_due(self.wake_at, now):
            return []
        self._resumed = True
        return self._left_over

    def is_another(self, account: Account) -> bool:
        """Return whether the token belongs to another account than before."""
        return self.our_id not in ("", account.id)

    def introduce(self, account: Account) -> None:
        """Store our account; games of another one, or of one at another server, are not ours."""
        if self.our_id != account.id:
            for info in (*self._left_over, *self._left_over_by_days):
                self._store.note_left(info.game_id)
            self._left_over, self._left_over_by_days = [], []
        self._store.replace(Table.ACCOUNT, single=1, url=self._url, id=account.id)


def _as_recorded(game_id: str, opponent: str, speed: str = "") -> GameInfo:
    """Return what the records tell of a game; its own stream tells the rest."""
    variant = VariantRef(key=Variant.STANDARD)
    return GameInfo(gameId=game_id, variant=variant, speed=speed, opponent=Opponent(username=opponent))


class ListSchedule:
    """Schedules requests for the list of games in progress."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._spacing_s = timeouts.playing_spacing.total_seconds()
        self._heartbeat_s = timeouts.heartbeat.total_seconds()
        self._without_events_s = timeouts.playing_without_events.total_seconds()
        self._backoff = Backoff(timeouts.playing_spacing, timeouts.heartbeat)
        self._next_pause_s = self._heartbeat_s
        """The pause after the next list; doubles with each list until it is that of the heartbeat."""
        self._asked_at = -math.inf
        self._due_at = math.inf
        self._under_way = False
        self._came_at = math.inf
        """When the list came; in the infinite future if the last request failed or is under way."""

    @property
    def wake_at(self) -> float | None:
        """When the next request is due; None while one is under way or none is planned."""
        return None if self._under_way or self._due_at == math.inf else self._due_at

    def want(self, now: float, *, again: bool = False) -> None:
        """Plan a request that starts from now on; `again`: and more at growing distances."""
        if again:
            self._next_pause_s = self._spacing_s
        self._due_at = min(self._due_at, max(now, self._asked_at + self._spacing_s))

    def no_events(self) -> None:
        """Plan the next request sooner, unless the last one failed: no event tells of a new game."""
        self._due_at = min(self._due_at, self._came_at + self._without_events_s)

    def begin(self, now: float) -> bool:
        """Return whether to send a request now, which counts as under way until `done`."""
        if self.wake_at is None or now < self._due_at:
            return False
        self._asked_at, self._due_at, self._under_way = now, math.inf, True
        self._came_at = math.inf
        return True

    def done(self, now: float, error: ApiError | None = None) -> None:
        """Note that the request ended; one without an answer is repeated, and a refused one would be refused again."""
        self._under_way = False
        self._came_at = now if error is None else math.inf
        pause_s = self._heartbeat_s
        if error is None:
            self._backoff.reset()
            pause_s, self._next_pause_s = self._next_pause_s, doubled(self._next_pause_s, 1, self._heartbeat_s)
        elif not (isinstance(error, Refused) and error.certain):
            pause_s = max(self._spacing_s, self._backoff.next_delay().total_seconds())
        self._due_at = min(self._due_at, now + pause_s)


class Reconciler:
    """Keeps our games and challenges in step with Lichess."""

    def __init__(
        self, games: GameManager, lobby: Lobby, outbox: Outbox, store: Store, url: str, timeouts: Timeouts
    ) -> None:
        self._games = games
        self._lobby = lobby
        self._outbox = outbox
        self._log = EventLog()
        self._schedule = ListSchedule(timeouts)
        self._recovery = GameRecovery(store, url, timeouts)

    def __len__(self) -> int:
        """Return the number of games with a clock of an earlier process that are about to be joined."""
        return len(self._recovery.awaited)

    @property
    def wake_at(self) -> float | None:
        """When `tick` or `resume_remembered` has something to do."""
        return earliest(self._schedule.wake_at, self._recovery.wake_at)

    def introduce(self, account: Account) -> None:
        """Remember the account; leave the remembered games if they belong to another one."""
        if self._recovery.is_another(account):
            games_left = len(self._games.games) + len(self._recovery.unjoined)
            self._log.warning("account.changed", was=self._recovery.our_id, games_left=games_left)
            self._games.close()
        self._recovery.introduce(account)

    def engine_is_good(self) -> None:
        """Take note that games can be played from now on."""
        self._recovery.engine_is_good(time.monotonic())

    def resume_remembered(self, make_context: Callable[[str], GameContext]) -> None:
        """Join the games in the store if Lichess does not say in time which games are ours.

        `make_context` takes the id of our account.
        """
        games = self._recovery.begin(time.monotonic())
        if games:
            context = make_context(self._recovery.our_id)
            self._log.info("games.remembered", account=context.our_id, games=len(games))
            for info in games:
                self._games.join(info, context)

    def want(self, reason: str, *, again: bool = False) -> None:
        """Read the list soon, and more often for a while if `again`."""
        self._log.debug("doubt", reason=reason)
        self._schedule.want(time.monotonic(), again=again)

    def tick(self, context: GameContext, *, has_events: bool) -> None:
        """Read the list if it is due, sooner without events, and join games that no list shows.

        A rate limit stops the event stream and the list, but not the streams of games.
        """
        if self._lobby.should_read_playing():
            self.want("a game may have begun unseen")
        for info in self._lobby.unlisted_games():
            self._log.info("game.untold", game=info.game_id)
            self._lobby.game_started(info)
            self._games.join(info, context)
        if not has_events:
            self._schedule.no_events()
        if self._schedule.begin(time.monotonic()):
            self._outbox.send(ReadPlaying())

    def account_failed(self) -> None:
        """Take note that Lichess does not say who we are, and so not what we play."""
        self._recovery.list_failed()

    def list_failed(self, error: ApiError) -> bool:
        """Take note that no list came; return whether Lichess refuses it, so that all goes on without one."""
        self._recovery.list_failed()
        self._schedule.done(time.monotonic(), error)
        is_refused = isinstance(error, Refused) and error.certain
        self._lobby.playing_failed(is_refused=is_refused)
        if is_refused:
            self._games.list_refused()
        return is_refused

    def compare(self, listed: Sequence[GameInfo], asked_at: float, context: GameContext) -> None:
        """Compare our games with the list, requested at the monotonic second `asked_at`."""
        self._schedule.done(time.monotonic())
        self._lobby.playing_listed(listed, asked_at)
        self._games.compare(listed, asked_at, context)
        for info in self._recovery.list_came(self._games):
            self._games.join(info, context)
