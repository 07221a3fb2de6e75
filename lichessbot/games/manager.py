"""The sessions of all games: started, given their reports, suspended, and replaced after a bug.

For the main thread. A game with a clock has a session from its beginning to its end, a correspondence game only while
we move in it, and only a few have one at a time.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from lichessbot.control.status import RunningGame
from lichessbot.games.correspondence import CorrespondenceGames
from lichessbot.games.game_log import log_rating
from lichessbot.games.review.reviewer import Reviewer
from lichessbot.games.session import GameContext, GameSession
from lichessbot.inbox import Inbox, ListedGame, Report
from lichessbot.lichess.client import MOST_PLAYING
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.models import GameInfo
from lichessbot.lichess.streams import PlayingWanted
from lichessbot.log import EventLog, counted
from lichessbot.storage.game_records import changed
from lichessbot.timeouts import Standstill, Timeouts, earliest, is_due
from lichessbot.uci.restarting_engine import IdleEngines
from lichessbot.uci.search import EngineDied

# A game in progress that we left without a known end is joined again at most this often.
_MAX_REJOINS: Final = 3
# A correspondence game that incomplete lists have not shown for this many check-ins is visited.
_MAX_CHECK_INS_UNSEEN: Final = 12
# After its end a game is announced no later than this, however long a connection was held up.
_LATEST_ANNOUNCEMENT_S: Final = 3600.0


class GameManager:
    """The sessions of all games. A bug in one does not affect the others."""

    def __init__(self, inbox: Inbox, timeouts: Timeouts) -> None:
        self._inbox = inbox
        self._sessions: dict[str, GameSession] = {}
        self._suspended: dict[str, GameSession] = {}
        """Correspondence games without an open stream or engine."""
        self._correspondence = CorrespondenceGames()
        self._reviewer = Reviewer(inbox.put)
        self._context: GameContext | None = None
        self._standstill = Standstill()
        self._check_in_at = 0.0
        self._list_may_lack_turns = False
        """Whether the latest list may lack games with our turn."""
        self._failures: Counter[str] = Counter()
        self._ended_at: dict[str, float] = {}
        """When the games ended whose end is known, the latest ones."""
        self._unplayable: set[str] = set()
        self.idle_engines = IdleEngines(timeouts.engine_idle)

    def __len__(self) -> int:
        """Return the number of games that take a slot: those with a clock."""
        return len(self._sessions) - len(self._visited)

    def __contains__(self, game_id: object) -> bool:
        return game_id in self._sessions or game_id in self._correspondence

    @property
    def summary(self) -> str:
        """Return the number of games in words."""
        correspondence = len(self._correspondence.games)
        games = counted(len(self), "game")
        return f"{games}; {correspondence} correspondence" if correspondence else games

    @property
    def correspondence_games(self) -> int:
        """The number of correspondence games in progress."""
        return len(self._correspondence)

    @property
    def engine_processes(self) -> Sequence[int]:
        """The process ids of the engines that run."""
        playing = [pid for session in self._sessions.values() if (pid := session.engine_process) is not None]
        return playing + self.idle_engines.process_ids

    def describe(self) -> tuple[RunningGame, ...]:
        """Return the games that have a session as they are now, the oldest first."""
        now = time.monotonic()
        return tuple(session.describe(now) for session in self._sessions.values())

    @property
    def games(self) -> list[GameInfo]:
        """All games in progress, as they were announced."""
        return [
            session.info for session in self._sessions.values() if not session.info.is_correspondence
        ] + self._correspondence.games

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do; correspondence games between their moves can wait for its next second."""
        others = (self._reviewer.wake_at, self.idle_engines.wake_at)
        return earliest(*others, *(session.wake_at for session in self._sessions.values()))

    @property
    def clocks_run_until(self) -> float:
        """When the clocks of all games will have run out if we cannot move; the infinite past without such games."""
        return max((session.clocks_run_until for session in self._sessions.values()), default=-math.inf)

    @property
    def overdue(self) -> bool:
        """Whether the stream of any game hangs."""
        return any(session.overdue for session in self._sessions.values())

    def _use(self, context: GameContext) -> None:
        """Use `context` from now on. A changed configuration also decides the next visits of correspondence games."""
        if self._context is not None and context.config is not self._context.config:
            self._suspended.clear()  # a visit begins them anew, as a restart does
        self._context = context

    def join(self, info: GameInfo, context: GameContext) -> None:
        """Play a game that is announced; if it is being played, only note what the announcement says."""
        self._use(context)
        self._note(info, time.monotonic(), is_announced=True)

    def compare(self, games: Sequence[GameInfo], asked_at: float, context: GameContext) -> None:
        """Compare with a list of all games in progress, requested at `asked_at`; join the most urgent first."""
        self._use(context)
        self._check_in_at = asked_at + context.config.correspondence.checkin_period
        is_whole = len(games) < MOST_PLAYING
        # Games with our turn come first.
        self._list_may_lack_turns = not is_whole and all(info.is_my_turn is not False for info in games)
        for info in sorted(games, key=lambda info: info.urgency):
            self._note(info, asked_at)
        listed = {info.game_id: info for info in games}
        since = asked_at - _LATEST_ANNOUNCEMENT_S
        self._ended_at = {game_id: at for game_id, at in self._ended_at.items() if at > since}
        if is_whole:
            self._correspondence.revisit_all_but(listed.keys() | self._sessions.keys(), asked_at)
        else:
            period_s = context.config.correspondence.checkin_period
            self._correspondence.doubt_all_but(listed, asked_at - _MAX_CHECK_INS_UNSEEN * period_s)
        for game_id in list(self._sessions):
            self.tell(game_id, ListedGame(game_id, listed.get(game_id), asked_at, is_whole))

    def list_refused(self) -> None:
        """Visit the correspondence games that were not looked at for a check-in, as no list tells whose turn it is."""
        if self._context is None:
            return
        now = time.monotonic()
        self._correspondence.doubt_all_but((), now - self._context.config.correspondence.checkin_period)
        for game_id in list(self._sessions):
            self.tell(game_id, ListedGame(game_id, None, now, is_whole=False))

    def tell(self, game_id: str | None, report: Report) -> None:
        """Give a report to the session of a game, if there is one."""
        session = self._sessions.get(game_id or "")
        if session is not None:
            self._guarded(session, lambda: session.handle(report))
        elif isinstance(report, EngineDied):
            EventLog().warning("engine.died", reason=f"between two games, {report.reason}")
        else:
            self._reviewer.handle(report)

    def retry_now(self) -> None:
        """Have streams that wait for Lichess retry at once, as another one was opened."""
        for session in self._sessions.values():
            session.retry_now()

    def finished(self, info: GameInfo, report: Report) -> None:
        """Handle the end of a game that the event stream reports."""
        if info.game_id in self._sessions:
            self.tell(info.game_id, report)
        else:
            self._correspondence.revisit(info.game_id, time.monotonic())
        log_rating(info)
        if info.rating_diff is not None and self._context is not None:
            self._context.store.record(changed(info.game_id, rating_diff=info.rating_diff))

    def tick(self) -> None:
        """Do what is due in any game; to be called every second."""
        self._notice_standstill()
        for session in list(self._sessions.values()):
            if is_due(session.wake_at, time.monotonic()):
                self._guarded(session, session.tick)
        self.idle_engines.tick(time.monotonic())
        if self._correspondence:
            self._visit_next(time.monotonic())
        self._reviewer.tick(time.monotonic())
        self._share_cores()

    def _notice_standstill(self) -> None:
        """Read all games and their list again after a standstill: clocks may show too much, connections may be dead."""
        if (still_s := self._standstill.look()) is not None:
            EventLog().warning("standstill", lasted_s=still_s, games=len(self._sessions))
            for session in list(self._sessions.values()):
                self._guarded(session, session.read_again)
            self._inbox.put(PlayingWanted("the daemon stood still"))

    def close(self) -> None:
        """Close all sessions at once; nothing is sent to Lichess."""
        self._reviewer.close()
        while self._sessions:
            self._sessions.popitem()[1].close()
        self.idle_engines.close()

    # Joining

    @property
    def _shared(self) -> GameContext:
        assert self._context is not None, "set with the first game"
        return self._context

    def _note(self, info: GameInfo, seen_at: float, *, is_announced: bool = False) -> None:
        """Start to play a game in progress unless it is being played or cannot be."""
        is_new = info.game_id not in self
        if is_new:
            ended_at = self._ended_at.get(info.game_id)
            # An announcement may come late, and no game begins twice.
            is_over = ended_at is not None and (is_announced or seen_at <= ended_at)
            if is_over or not self._may_join(info):
                return
            EventLog(info.game_id).info(
                "game.join",
                opponent=info.opponent.username,
                speed=info.speed,
                rated=info.rated,
                games=len(self.games) + 1,
            )
            self._shared.store.note_game(info.game_id, info.opponent.username, has_clock=not info.is_correspondence)
        if info.is_correspondence:
            self._correspondence.note(info, seen_at, is_new=is_announced and is_new)
        elif is_new:
            self._start_session(info)
        elif info.game_id in self._sessions:
            self._sessions[info.game_id].info = info

    def _may_join(self, info: GameInfo) -> bool:
        if self._failures[info.game_id] > _MAX_REJOINS or info.game_id in self._unplayable:
            return False               # the list says nothing of `compat`
        if info.compat.bot and info.variant.key in tuple(Variant):
            return True
        self._unplayable.add(info.game_id)
        EventLog(info.game_id).warning("game.left_alone", variant=info.variant.key, bot_api=info.compat.bot)
        return False

    def _start_session(self, info: GameInfo) -> None:
        session = self._suspended.pop(info.game_id, None)
        if session is None:
            session = GameSession(info, self._shared, self.idle_engines)
        self._sessions[info.game_id] = session
        # Beyond the slots, it may be none of our games: the first search is soon enough for its engine.
        has_slot = len(self) <= self._shared.config.challenge.concurrency
        self._guarded(session, lambda: session.start(has_slot=has_slot))

    def _share_cores(self) -> None:
        """Let a review search only while the engines of running games leave a core free."""
        if self._context is not None:
            busy = sum(session.threads for session in self._sessions.values())
            self._reviewer.give_way(core_is_free=busy < (self._context.machine.cores or 1) or not busy)

    # Correspondence games

    @property
    def _visited(self) -> list[GameSession]:
        return [session for game_id, session in self._sessions.items() if game_id in self._correspondence]

    @property
    def _can_visit(self) -> bool:
        return len(self._visited) < self._shared.config.correspondence.concurrency

    def _visit_next(self, now: float) -> None:
        """Suspend games that have nothing to do, and visit those with our turn."""
        for session in self._visited:
            if is_due(self._suspend_at(session), now):
                self._suspend(session, now)
        while self._can_visit and (info := self._correspondence.next(now, self._sessions)) is not None:
            EventLog(info.game_id).debug("game.visit", seconds_left=info.seconds_left)
            self._start_session(info)
        if now >= self._check_in_at and len(self._correspondence) > len(self._visited):
            self._request_list("whose turn is it in the correspondence games", now)
        elif self._list_may_lack_turns and self._can_visit:
            self._list_may_lack_turns = False
            self._request_list("the list of games may be incomplete", now)

    def _suspend_at(self, session: GameSession) -> float | None:
        """Return when to suspend a correspondence game; None if unknown."""
        rules = self._shared.config.correspondence
        others_wait = self._correspondence.next(time.monotonic(), self._sessions) is not None
        if session.idle_since is not None:
            return session.idle_since + (0.0 if others_wait else rules.disconnect_time)
        limit_s = self._shared.timeouts.visit.total_seconds() + session.move_time_s
        return session.began_at + limit_s if others_wait else None

    def _suspend(self, session: GameSession, now: float) -> None:
        """Suspend a game until it is our turn again, or, if our move was not delivered, until the next try."""
        again_at = None if session.idle_since is not None else now + self._shared.timeouts.visit.total_seconds()
        self._correspondence.put_back(session.game_id, now, not_before=again_at)
        del self._sessions[session.game_id]
        self._suspended[session.game_id] = session
        session.suspend()

    def _request_list(self, reason: str, now: float) -> None:
        self._check_in_at = now + self._shared.config.correspondence.checkin_period
        self._inbox.put(PlayingWanted(reason))

    # Failures

    def _guarded(self, session: GameSession, step: Callable[[], None]) -> None:
        """Run a step of a session, and close the session if the game is over or the step failed."""
        certain = False
        try:
            step()
            if not session.over:
                return
            certain = session.over_for_certain
        except Exception as error:
            EventLog(session.game_id).crash("game.crashed", error)
        del self._sessions[session.game_id]
        self._correspondence.forget(session.game_id)
        session.close()
        if certain:
            self._failures.pop(session.game_id, None)
            self._ended_at[session.game_id] = time.monotonic()
            if session.archived is not None:
                self._reviewer.game_over(session.archived, self._shared, is_wanted=session.review_wanted)
            return
        self._failures[session.game_id] += 1
        self._inbox.put(PlayingWanted("a game was left without a known end", again=True))
        if self._failures[session.game_id] > _MAX_REJOINS:
            EventLog(session.game_id).error("game.given_up", returns=_MAX_REJOINS)
