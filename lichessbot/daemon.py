"""The main thread: one queue in, games and answers out; slots, signals and the end.

Knows who plays and who waits; how a game is played, a stream read or a command sent is others' work.
"""

import math
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from enum import IntEnum
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Final

from engine.facade import Limits
from lichessbot.backoff import Backoff
from lichessbot.config import Config
from lichessbot.config.reload import Settings, with_engines_of
from lichessbot.errors import ApiError
from lichessbot.games.manager import GameManager
from lichessbot.games.opening_variety import OpeningVariety
from lichessbot.games.pgn import PgnArchive
from lichessbot.games.recovery import GameRecovery, Reconciler
from lichessbot.games.session import GameContext
from lichessbot.games.time_budget import ROUND_TRIPS_USED, Overhead
from lichessbot.inbox import Inbox, ReloadRequested, Report, StopRequested, ThreadDied
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.commands import (
    AcceptChallenge,
    Command,
    CommandDone,
    CommandFailed,
    DeclineChallenge,
    GameCommand,
    OutgoingCommand,
    ReadAccount,
    ReadPlaying,
)
from lichessbot.lichess.models import (
    Account,
    ChallengeCanceled,
    ChallengeDeclined,
    ChallengeReceived,
    GameFinish,
    GameFull,
    GameInfo,
    GameStart,
    StreamLine,
)
from lichessbot.lichess.outbox import Outbox
from lichessbot.lichess.parsing import parse_account_event
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.lichess.streams import (
    PlayingWanted,
    Source,
    StreamEvent,
    StreamLost,
    StreamOpened,
    StreamReader,
    StreamRefused,
)
from lichessbot.lobby import Lobby, LobbyCommand, View
from lichessbot.log import EventLog
from lichessbot.move_sources import Hosts, unusable
from lichessbot.move_sources.models import Advice
from lichessbot.storage.records import ListFetched
from lichessbot.storage.store import Store
from lichessbot.systemd import Milestone, ServiceManager
from lichessbot.timeouts import Timeouts
from lichessbot.uci import startup_check as self_test
from lichessbot.uci.profiles import Machine, candidates, concessions, engines_of
from lichessbot.uci.search import BestMove, EngineDied, EngineReady
from lichessbot.uci.startup_check import Fault, StartupCheck

# A signal that comes just before a wait is noticed after it.
_LONGEST_WAIT_S: Final = 1.0
# Looking after everything takes longer than most reports do, and the next may be an opponent's move.
_BETWEEN_LOOKS_S: Final = 0.05
_ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_SIGNALS: Final = (*_ENDING_SIGNALS, signal.SIGHUP)


class ExitCode(IntEnum):
    """How the process ends; service managers should not restart after USAGE and REFUSED."""

    OK = 0
    """Everything asked for was done; for `run`: stopped by a signal with no game left."""
    FAILED = 1
    """Any other command did not succeed; for `run`: a bug, and a restart resumes the games."""
    USAGE = 2
    """The arguments or the configuration are wrong, the engine it names included."""
    REFUSED = 3
    """Lichess refuses the token, or the account is not a BOT account."""
    ABANDONED = 4
    """The second signal ended the process while games were running."""


class Daemon:
    """The daemon. Made once, run once, in the main thread."""

    def __init__(
        self, settings: Settings, access: Access, timeouts: Timeouts, store: Store, manager: ServiceManager
    ) -> None:
        self._settings = settings
        self._store = store
        self._manager = manager
        self._access = access
        self._timeouts = timeouts
        self._inbox: Inbox = SimpleQueue()
        self._log = EventLog()
        self._config = settings.config
        self._machine = Machine.here()
        self._rate_limiter = RateLimiter(timeouts)
        self._outbox = Outbox(self._open_api, self._inbox.put, timeouts, self._rate_limiter)
        self._archive = PgnArchive()
        self._context: GameContext | None = None
        self._events: StreamReader | None = None
        self._game_manager = GameManager(self._inbox)
        self._lobby = Lobby(self._outbox, self._inbox.put, store, timeouts, access.proxy)
        self._reconciler = Reconciler(timeouts)
        self._recovery = GameRecovery(store, access.url, timeouts)
        self._self_test: StartupCheck | None = None
        self._tests = 0
        self._engine_is_good = False
        self._account: Account | None = None
        self._introductions = Backoff(timeouts.backoff_first, timeouts.backoff_ceiling)
        self._listening = "connecting"
        self._has_listened = False
        self._stopping = False
        self._leave_at: float | None = None
        self._looked_at = self._look_at = -math.inf
        self._exit: ExitCode | None = None

    def run(self) -> ExitCode:
        """Play until a signal, or until Lichess refuses the token."""
        for number in _ENDING_SIGNALS:
            signal.signal(number, self._on_signal)
        signal.signal(signal.SIGHUP, lambda number, frame: self._inbox.put(ReloadRequested()))
        threading.excepthook = self._on_dead_thread
        try:
            self._outbox.send(ReadAccount())
            self._test_engines(self._config)
            while self._exit is None:
                self._turn()
            return self._exit
        finally:
            self._close()
            # A signal that comes while Python tidies up must not turn a clean end into another.
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_IGN)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._inbox.put(StopRequested(signal.Signals(number).name))

    def _on_dead_thread(self, dead: threading.ExceptHookArgs) -> None:
        if dead.exc_value is not None:
            self._inbox.put(ThreadDied(dead.thread.name if dead.thread else "?", dead.exc_value))

    def _turn(self) -> None:
        """Wait for one report, or for the next moment something is due, and deal with it."""
        due_at = _earliest(self._look_at, self._game_manager.wake_at)
        with suppress(Empty):
            self._dispatch(self._inbox.get(timeout=max(0.0, due_at - time.monotonic())))
            self._look_at = min(self._look_at, self._looked_at + _BETWEEN_LOOKS_S)
        now = time.monotonic()
        if now >= self._look_at:
            self._look_after_all(now)
        elif now >= due_at:
            self._game_manager.tick()

    def _look_after_all(self, now: float) -> None:
        """Do what is due anywhere, and find out when something will be again."""
        self._resume()
        self._game_manager.tick()
        self._outbox.tick()
        if self._context is not None:
            self._lobby.tick(self._view)
        self._look_if_due()
        busy = len(self._game_manager) or not self._lobby.is_clear or self._outbox.is_talking
        if self._stopping and not busy and self._exit is None:
            self._exit = ExitCode.OK
        if self._leave_at is not None and time.monotonic() >= self._leave_at:
            self._leave("grace over")
        self._tell_manager()
        self._looked_at = now
        self._look_at = _earliest(
            now + _LONGEST_WAIT_S,
            self._lobby.wake_at(self._view),
            self._reconciler.wake_at,
            self._recovery.wake_at,
            self._outbox.wake_at,
            self._leave_at,
            self._manager.feed_due_at,
        )

    def _tell_manager(self) -> None:
        games = len(self._game_manager)
        of_days = sum(game.is_correspondence for game in self._game_manager.games)
        waiting = len(self._lobby.waiting(self._config))
        parts = [
            self._listening,
            f"{games} {'game' if games == 1 else 'games'}",
            f"{of_days} correspondence" if of_days else "",
            f"{waiting} waiting" if waiting else "",
            self._lobby.status(self._config),
            "finishing, takes no new games" if self._stopping else "",
        ]
        self._manager.status("; ".join(filter(None, parts)))
        # Lichess may be out of reach for hours: its streams are then retried on schedule, and all is well.
        deaf = self._game_manager.overdue or (self._events is not None and self._events.overdue)
        self._manager.feed(well=not deaf)

    def _dispatch(self, report: Report) -> None:
        if isinstance(report, StreamOpened):
            self._wake_streams()
        match report:
            case StopRequested(signal_name):
                self._stop(signal_name)
            case ReloadRequested():
                self._reload()
            case ThreadDied(thread_name, error):
                # Without one of its threads the daemon may be deaf or mute and not know it.
                self._log.crash("thread.died", error, thread=thread_name)
                self._exit = ExitCode.FAILED
            case CommandDone(command=command) | CommandFailed(command=command):
                if isinstance(command, GameCommand):
                    self._game_manager.tell(command.game_id, report)
                else:
                    self._hear_answer(command, report)
            case StreamEvent(game_id=None, event=event):
                self._hear_event(report, event)
            case StreamOpened(game_id=None):
                self._hear_opening()
            case PlayingWanted(reason):
                self._doubt(reason)
            case ListFetched():
                self._lobby.list_fetched(report)
            case StreamLost(game_id=None, reason=reason, retry_in=retry_in):
                self._listening = "not connected, trying again"
                self._log.warning("events.lost", reason=reason, retry_in_s=retry_in.total_seconds())
            case StreamRefused(game_id=None, status=status, text=text):
                self._refused(f"{status}: {text}")
            case StreamEvent() | StreamOpened() | StreamLost() | StreamRefused():
                if isinstance(report, StreamEvent) and isinstance(report.event, GameFull):
                    self._lobby.game_told(report.event)
                self._game_manager.tell(report.game_id, report)
            case BestMove(game_id=self_test.GAME_ID) | EngineDied(game_id=self_test.GAME_ID):
                self._judge_engine(report)
            case BestMove() | Advice() | EngineReady() | EngineDied():
                self._game_manager.tell(report.game_id, report)

    # The engine

    def _test_engines(self, config: Config) -> None:
        self._tests += 1
        self._self_test = StartupCheck(config, self._inbox.put, self._timeouts, Limits(depth=1), self._tests)

    def _drop_test(self) -> None:
        if self._self_test is not None:
            self._self_test.close()
            self._self_test = None

    def _judge_engine(self, report: BestMove | EngineDied) -> None:
        """Nothing is accepted before every engine has answered, nor is a reload that brings others."""
        test = self._self_test
        if test is None or not test.is_meant(report):
            return
        faults = test.judge(report)
        if faults or test.over:
            self._drop_test()
        if faults:
            self._refuse_engine(faults)
        elif test.over:
            self._log.info("engine.good")
            self._engine_is_good = True
            self._use(test.config)
            self._manager.reached(Milestone.ENGINE_GOOD)
            self._recovery.engine_is_good(time.monotonic())
            self._open_house()

    def _refuse_engine(self, faults: Sequence[Fault]) -> None:
        if not self._engine_is_good:
            for fault in faults:
                self._log.error("engine.unfit", reason=fault.text)
            self._exit = ExitCode.USAGE if any(fault.is_lasting for fault in faults) else ExitCode.FAILED
            return
        for fault in faults:
            self._log.warning("reload.refused", problem=fault.text)
        self._settings.keep_engines(self._config)
        self._open_house()

    # The account and the event stream

    def _hear_answer(self, command: Command, report: CommandDone | CommandFailed) -> None:
        if isinstance(report, CommandFailed):
            self._hear_failure(command, report.error)
        if isinstance(command, LobbyCommand):
            self._lobby.hear_answer(command, report, self._view)
        elif isinstance(report, CommandDone):
            self._hear_reading(command, report)

    def _hear_reading(self, command: Command, report: CommandDone) -> None:
        match command, report.answer:
            case ReadAccount(), Account() as account:
                self._manager.reached(Milestone.CONNECTION_TRIED)
                self._account = account
                self._open_house()
            case ReadPlaying(), tuple() as games:
                self._reconcile(games, report.sent_at)

    def _hear_failure(self, command: Command, error: ApiError) -> None:
        # What comes of our own ventures is told where it is decided.
        say = self._log.debug if isinstance(command, OutgoingCommand) else self._log.warning
        say("command.failed", command=command, error=error)
        if isinstance(command, ReadAccount | ReadPlaying):
            self._recovery.list_failed(time.monotonic())
        match command:
            case ReadAccount():
                self._listening = "not connected, trying again"
                self._manager.reached(Milestone.CONNECTION_TRIED)
                if error.denies_token:
                    self._refused(str(error))
                else:
                    self._outbox.send(command, self._introductions.next_delay())
            case ReadPlaying():
                self._reconciler.done(time.monotonic(), answered=False)
                if error.denies_token:
                    self._refused(str(error))
                self._listen()
            case AcceptChallenge() | DeclineChallenge():
                self._doubt("an answer to a challenge may have taken effect all the same")

    def _open_house(self) -> None:
        """Once we know who we are and have an engine: listen for challenges, and look for games left over."""
        account = self._account
        if account is None or self._self_test is not None or self._context is not None:
            return
        if not account.is_bot:
            self._refused(f"{account.username} is not a BOT account; `lichessbot upgrade` makes it one")
            return
        if self._recovery.is_another(account):
            self._log.warning("account.changed", was=self._recovery.our_id, games_left=len(self._game_manager))
            self._game_manager.close()
        self._recovery.introduce(account)
        self._access = replace(self._access, user_name=account.username)
        if not len(self._game_manager):
            self._outbox.close()  # its next session says our name; games that go on keep the one they have
        self._context = self._furnished(account.id)
        self._lobby.open(account, self._config)
        self._look_at_books()
        self._log.info("account", name=account.username, url=self._access.url)
        self._doubt("games may be left over")

    def _furnished(self, our_id: str) -> GameContext:
        return GameContext(
            our_id=our_id,
            config=self._config,
            machine=self._machine,
            timeouts=self._timeouts,
            inbox=self._inbox,
            outbox=self._outbox,
            rate_limiter=self._rate_limiter,
            store=self._store,
            archive=self._archive,
            overhead=Overhead(self._store.round_trips(ROUND_TRIPS_USED)),
            hosts=Hosts(self._access, self._rate_limiter),
            opening_variety=OpeningVariety(self._store),
            open_api=self._open_api,
            waiting=lambda: self._lobby.waiting(self._config),
        )

    def _resume(self) -> None:
        """While Lichess does not tell which games are ours, go on with those that we remember."""
        games = self._recovery.begin(time.monotonic())
        if games:
            context = self._context or self._furnished(self._recovery.our_id)
            self._log.info("games.remembered", account=context.our_id, games=len(games))
            for info in games:
                self._game_manager.join(info, context)

    def _tell_concessions(self) -> None:
        for concession in concessions(self._config, self._machine):
            self._log.warning("memory", note=concession)

    def _look_at_books(self) -> None:
        """A book that is missing or damaged costs no game, but its operator should know before the first one."""
        files = dict.fromkeys(file for engine in engines_of(self._config) for file in engine.polyglot.files)
        for file, reason in unusable(files):
            self._log.warning("book.unusable", file=file, reason=reason)

    def _listen(self) -> None:
        """Games left over come first: only then the event stream is opened."""
        if self._events is not None or self._exit is not None:
            return
        api = self._open_api(self._timeouts.liveness)
        source = Source(None, api, api.event_stream, parse_account_event)
        self._events = StreamReader(source, self._inbox.put, self._timeouts, self._rate_limiter)
        self._events.start()

    def _refused(self, reason: str) -> None:
        self._log.error("refused", reason=reason)
        self._exit = ExitCode.REFUSED

    def _open_api(self, read_timeout: timedelta) -> LichessClient:
        return LichessClient(self._access, read_timeout)

    def _hear_opening(self) -> None:
        """What runs and what is open is told again on a new connection, but not what ended meanwhile."""
        self._listening = "listening"
        self._log.info("events.open")
        if self._has_listened:
            self._doubt("the event stream was opened again")
        self._has_listened = True

    def _wake_streams(self) -> None:
        """One got through: after an outage each need not find out for itself."""
        self._game_manager.others_got_through()
        if self._events is not None:
            self._events.others_got_through()

    def _hear_event(self, report: StreamEvent, event: StreamLine) -> None:
        match event:
            case GameStart(game=game):
                self._lobby.game_started(game, self._view)
                if self._context is not None:
                    self._game_manager.join(game, self._context)
            case GameFinish(game=game):
                self._lobby.game_finished(game.game_id)
                self._game_manager.finished(game.game_id, report)
            case ChallengeReceived() | ChallengeCanceled() | ChallengeDeclined():
                if self._context is not None:
                    self._lobby.hear(event, report.received_at, self._view)
            case _:
                self._log.debug("event.ignored", type=type(event).__name__)

    # What the streams may have lost

    def _doubt(self, reason: str) -> None:
        self._log.debug("doubt", reason=reason)
        if self._context is not None:
            self._reconciler.want(time.monotonic())

    def _look_if_due(self) -> None:
        if self._lobby.has_doubt():
            self._doubt("an accepted challenge became no game")
        self._join_untold()
        if self._reconciler.begin(time.monotonic()):
            self._outbox.send(ReadPlaying())

    def _join_untold(self) -> None:
        """A pause that Lichess asks for silences the event stream and every look, but not the streams of games."""
        if self._context is None:
            return
        for info in self._lobby.untold_games():
            self._log.info("game.untold", game=info.game_id)
            self._lobby.game_started(info, self._view)
            self._game_manager.join(info, self._context)

    def _reconcile(self, games: Sequence[GameInfo], asked_at: float) -> None:
        """Compare what we play with what is in progress."""
        self._reconciler.done(time.monotonic(), answered=True)
        self._lobby.compare(games, asked_at, self._view)
        if self._context is not None:
            self._game_manager.compare(games, asked_at, self._context)
        self._recovery.list_came(self._game_manager)
        self._listen()

    @property
    def _games(self) -> int:
        """Games being played or about to start."""
        return len(self._game_manager) + len(self._lobby)

    @property
    def _view(self) -> View:
        our_id = "" if self._context is None else self._context.our_id
        return View(self._config, our_id, self._game_manager.games, self._stopping)

    # The end

    def _stop(self, signal_name: str) -> None:
        games = self._games
        if self._stopping:
            self._leave(signal_name)
            return
        self._stopping = True
        self._lobby.stop()
        self._leave_at = time.monotonic() + self._config.leave_after.total_seconds()
        self._manager.stopping()
        hint = "a second signal leaves at once" if games else None
        self._log.info("stop.asked", signal=signal_name, games_to_finish=games, hint=hint)

    def _leave(self, why: str) -> None:
        games = self._games
        self._log.warning("stop.now", why=why, games_left=games)
        self._exit = ExitCode.ABANDONED if games else ExitCode.OK

    def _reload(self) -> None:
        """Take over what a running daemon can; a file that is not valid changes nothing."""
        self._manager.reloading()
        config = self._settings.reload_and_log(self._log)
        self._drop_test()
        if not self._engine_is_good:
            self._test_engines(config)
        elif list(candidates(config)) != list(candidates(self._config)):
            self._test_engines(config)
            config = with_engines_of(config, self._config)
        self._use(config)
        self._manager.reloaded()

    def _use(self, config: Config) -> None:
        """From now on this counts, as far as a running daemon can change."""
        self._config = config
        self._tell_concessions()
        if self._context is not None:
            self._context = replace(self._context, config=config)
            self._lobby.reload(config)
            self._look_at_books()

    def _close(self) -> None:
        if self._events is not None:
            self._events.stop()
        self._lobby.close()
        self._game_manager.close()
        self._drop_test()
        self._outbox.close()
        self._archive.close()
        self._log.info("stop", exit_code=int(self._exit) if self._exit is not None else None)


def _earliest(*moments: float | None) -> float:
    """Of those that are to come at all."""
    return min(moment for moment in moments if moment is not None)
