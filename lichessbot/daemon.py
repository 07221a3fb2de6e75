"""The daemon's main loop: reports in, decisions out; signals, reload and shutdown.

The main thread owns all state. Every other thread reads or writes one thing and puts reports on the inbox:

    stream-events, stream-ID     one per stream: reads its lines. `StreamReader.stop` sets a flag and shuts its socket.
    moves-ID                     one per game: sends its moves. `Outbox.close_game` and `close` put a mark in its queue.
    commands, chat               send and retry all other commands, and chat. `Outbox.close` notifies them.
    engine-ID, -errors-, -alarm- three per engine: read its pipes, kill it if it is too slow. They end when it ends.
    sources-ID                   up to three per game: ask for a move. `MoveResolver.close` puts a mark in their queues.
    list-ADDRESS                 one per shared block list: fetches it. `PlayerLists.close` sets an event.
    store                        writes the records. `Store.close` puts a mark in its queue and joins it.
    notifier                     runs the operator's program. `Notifier.close` puts a mark in its queue and joins it.
    archive                      names openings, writes PGN. `GameArchive.close` puts a mark in its queue and joins it.
    review                       waits for the engine that reviews games. `Reviewer.close` sets a flag.
    control, control-client      accept operators, and answer one each. `ControlServer.close` shuts the socket.
    lookup-HOST, ...-check       look a name up, and check the records, books and tables (store-, file-). Not stopped.
    log                          writes the log. Never stopped: it ends with the process.
    Thread-N (Timer)             end an answer that takes too long.
    web, AnyIO worker thread     serve the operator's page, if wanted, with an event loop, and read the records for it.
                                 `WebServer.close` ends its streams and joins `web`.

None keeps the process alive. A bug in a thread or a step of the main loop is logged with its traceback, counted in the
status, and ends only that task. An exception that a thread does not catch ends the process: events could be missed.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Final

from lichessbot.config import Config
from lichessbot.config.reload import Settings, with_engines_of
from lichessbot.connection import Connection
from lichessbot.control.commands import ControlRequest
from lichessbot.control.counters import Counters
from lichessbot.control.handler import ControlHandler
from lichessbot.control.server import ControlServer
from lichessbot.control.shutdown import Shutdown
from lichessbot.control.web.server import WebServer
from lichessbot.errors import ApiError, ExitCode, Refused
from lichessbot.games.manager import GameManager
from lichessbot.games.recording.archive import GameArchive
from lichessbot.games.recovery import Reconciler
from lichessbot.games.session import GameContext
from lichessbot.games.time_budget import ROUND_TRIPS_USED, MoveOverhead
from lichessbot.inbox import Inbox, ReloadRequested, Report, ReviewDone, StopRequested, ThreadDied, count_fault
from lichessbot.lichess.answers import Account
from lichessbot.lichess.client import Access
from lichessbot.lichess.commands import (
    ChallengeAnswer,
    Command,
    CommandDone,
    CommandFailed,
    GameCommand,
    MatchCommand,
    ReadAccount,
    ReadPlaying,
    TournamentCommand,
)
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.lichess.models import (
    ChallengeCanceled,
    ChallengeDeclined,
    ChallengeReceived,
    GameFinish,
    GameFull,
    GameStart,
    StreamLine,
    UnknownEvent,
    UnreadableChallenge,
)
from lichessbot.lichess.streams import PlayingWanted, StreamEvent, StreamLost, StreamOpened, StreamRefused
from lichessbot.lobby import Lobby
from lichessbot.log import EventLog
from lichessbot.move_sources import Hosts, warn_of_unusable_files
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.notify import Notifier
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import Store
from lichessbot.systemd import Milestone, ServiceManager
from lichessbot.timeouts import Timeouts, earliest
from lichessbot.uci import startup_check
from lichessbot.uci.configured_engines import configured_engines, engines_of, with_playable_variants
from lichessbot.uci.engine_checks import EngineChecks
from lichessbot.uci.machine import Machine, memory_warnings
from lichessbot.uci.opening_variety import OpeningVariety
from lichessbot.uci.search import BestMove, EngineDied, EngineReady

# A signal that comes just before a wait is noticed after it.
_LONGEST_WAIT_S: Final = 1.0
# A tick takes longer than most reports, and the next report may be an opponent's move.
_BETWEEN_TICKS_S: Final = 0.05
_ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Daemon:
    """The daemon. Made once, run once, in the main thread."""

    def __init__(
        self,
        settings: Settings,
        access: Access,
        timeouts: Timeouts,
        store: Store,
        manager: ServiceManager,
        web: WebServer | None = None,
    ) -> None:
        self._settings = settings
        self._store = store
        self._manager = manager
        self._timeouts = timeouts
        self._inbox: Inbox = SimpleQueue()
        self._log = EventLog()
        self._given = self._config = settings.config  # as given, and with the variants that the engines decide
        self._machine = Machine.detect()
        self._connection = Connection(access, self._inbox.put, timeouts)
        self._outbox = self._connection.outbox
        self._counters = counters = Counters()
        self._archive = GameArchive(store, counters.counted)
        self._notifier = Notifier(settings, self._outbox, timeouts)
        self._context: GameContext | None = None
        """What games share; None until the account is known and the engines are good."""
        self._games = GameManager(self._inbox, timeouts)
        self._lobby = Lobby(
            self._config, self._outbox, self._inbox.put, store, timeouts, access.proxy, lambda: self._games.games
        )
        self._reconciler = Reconciler(self._games, self._lobby, self._outbox, store, access.url, timeouts)
        self._shutdown = shutdown = Shutdown(self._games, self._reconciler, self._lobby, manager, timeouts)
        self._control_handler = ControlHandler(self._connection, self._games, self._lobby, store, shutdown, counters)
        self._control = ControlServer(settings.loaded.state_dir, self._inbox.put)
        self._web = web
        self._engine_checks = EngineChecks(self._new_engine_check, timeouts)
        self._engine_is_good = False
        self._ticked_at = self._tick_at = -math.inf

    def run(self) -> ExitCode:
        """Play until a signal, or until Lichess denies the token for good."""
        for number in _ENDING_SIGNALS:
            signal.signal(number, self._on_signal)
        signal.signal(signal.SIGHUP, lambda number, frame: self._inbox.put(ReloadRequested()))
        threading.excepthook = self._on_dead_thread
        try:
            self._control.start()
            if self._web is not None:
                self._web.start(self._inbox.put)
            self._connection.read_account()
            self._engine_checks.begin(self._config, time.monotonic())
            while self._shutdown.exit_code is None:
                self._turn()
            return self._shutdown.exit_code
        finally:
            self._close()
            # A signal that comes while Python exits must not change the exit code.
            for number in (*_ENDING_SIGNALS, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._inbox.put(StopRequested(signal.Signals(number).name))

    def _on_dead_thread(self, dead: threading.ExceptHookArgs) -> None:
        if dead.exc_value is not None:
            self._inbox.put(ThreadDied(dead.thread.name if dead.thread else "?", dead.exc_value))

    def _turn(self) -> None:
        """Wait for one report, or for the next moment something is due, and handle it."""
        due_at = earliest(self._tick_at, self._games.wake_at) or self._tick_at
        with suppress(Empty):
            report = self._inbox.get(timeout=max(0.0, due_at - time.monotonic()))
            self._guarded(lambda: self._dispatch(report))
            self._guarded(lambda: self._notifier.handle(report))
            self._tick_at = min(self._tick_at, self._ticked_at + _BETWEEN_TICKS_S)
        now = time.monotonic()
        if now >= self._tick_at:
            self._guarded(lambda: self._tick(now))
        elif now >= due_at:
            self._guarded(self._games.tick)

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run one step of the main loop; a bug in it is logged and ends this step only."""
        try:
            step()
        except Exception as error:
            self._log.crash("daemon.crashed", error)

    def _tick(self, now: float) -> None:
        """Do what is due anywhere, and find out when something will be due again."""
        self._ticked_at, self._tick_at = now, now + _LONGEST_WAIT_S
        context = self._context
        self._guarded(lambda: self._reconciler.resume_remembered(lambda our_id: context or self._game_context(our_id)))
        self._guarded(self._games.tick)
        self._guarded(self._connection.tick)
        if context is not None:
            self._guarded(self._lobby.tick)
            self._guarded(lambda: self._reconciler.tick(context, has_events=self._connection.is_open))
        if self._engine_is_good and self._engine_checks.is_due(now):
            self._engine_checks.begin(self._given, now)
        talking = self._outbox.is_talking and not self._outbox.pause_s
        self._shutdown.tick(is_connected=self._connection.is_open, is_talking=talking)
        self._guarded(self._report_status)
        lobby_at = None if context is None else self._lobby.wake_at
        moments = (lobby_at, self._reconciler.wake_at, self._outbox.wake_at, self._manager.feed_due_at)
        self._tick_at = earliest(self._tick_at, self._shutdown.leave_at, *moments) or self._tick_at

    def _report_status(self) -> None:
        """Tell the service manager what goes on, and that all is well."""
        self._manager.status(self._control_handler.summary)
        # Lichess may be unreachable for hours: its streams are then retried on schedule, and all is well.
        self._manager.feed(well=not self._games.overdue)

    def _dispatch(self, report: Report) -> None:
        count_fault(report, self._counters.counted)
        self._engine_checks.note(report)
        if isinstance(report, CommandDone | StreamOpened):
            self._connection.succeeded()
        if isinstance(report, StreamEvent) and (report.game_id is None or isinstance(report.event, GameFull)):
            # Lichess answers again: after an outage the other streams need not wait for their next attempt.
            self._games.retry_now()
            self._connection.retry_now()
        match report:
            case StopRequested(signal_name):
                self._shutdown.signal(signal_name, self._config.stop_grace)
            case ReloadRequested():
                self._reload()
            case ControlRequest():
                self._control_handler.handle(report, self._config.stop_grace)
            case ThreadDied(thread_name, error):
                # Without one of its threads the daemon may miss events or send nothing without noticing.
                self._log.crash("thread.died", error, thread=thread_name)
                self._shutdown.exit_code = ExitCode.FAILED
            case CommandDone(command=GameCommand() as command) | CommandFailed(command=GameCommand() as command):
                self._games.tell(command.game_id, report)
            case CommandDone() | CommandFailed():
                self._command_answered(report)
            case StreamEvent(game_id=None, event=event):
                self._handle_event(report, event)
            case StreamOpened(game_id=None):
                if self._connection.stream_opened():
                    self._want_playing("the event stream was opened again")
            case PlayingWanted(reason, again):
                self._want_playing(reason, again=again)
            case PlayerList():
                self._lobby.block_list_fetched(report)
            case FinishedGame():
                self._lobby.game_over(report)
            case StreamLost(game_id=None):
                self._connection.stream_lost(report)
            case StreamRefused(game_id=None, status=status, text=text):
                self._connection.stream_refused()
                self._denied(Refused(status, text))
            case StreamEvent() | StreamOpened() | StreamLost() | StreamRefused():
                if isinstance(report, StreamEvent) and isinstance(report.event, GameFull):
                    self._lobby.game_opened(report.event)
                self._games.tell(report.game_id, report)
            case BestMove(game_id=startup_check.GAME_ID) | EngineDied(game_id=startup_check.GAME_ID):
                self._engine_answered(report)
            case BestMove() | SourceAnswer() | EngineReady() | EngineDied() | ReviewDone():
                self._games.tell(report.game_id, report)

    def _handle_event(self, report: StreamEvent, event: StreamLine) -> None:
        """Handle one line of the event stream."""
        match event:
            case GameStart(game=game):
                self._lobby.game_started(game)
                if self._context is not None:
                    self._games.join(game, self._context)
            case GameFinish(game=game):
                self._games.finished(game, report)
            case ChallengeReceived() | UnreadableChallenge() | ChallengeCanceled() | ChallengeDeclined():
                if self._context is not None:
                    self._lobby.challenge_event(event, report.received_at)
            case UnknownEvent(type=kind):
                self._log.debug("event.ignored", type=kind)

    # Engines

    def _new_engine_check(self, config: Config) -> startup_check.StartupCheck:
        location, keep = self._settings.location, self._games.idle_engines.keep_one
        return startup_check.StartupCheck(
            config, self._inbox.put, self._timeouts, location=location, machine=self._machine, release=keep
        )

    def _engine_answered(self, report: BestMove | EngineDied) -> None:
        """Go on once every engine has answered: accept challenges, or use the reloaded configuration."""
        if (answered := self._engine_checks.answered(report)) is None:
            return
        check, faults = answered
        if faults:
            self._refuse_engines(check.config, [fault.text for fault in faults], startup_check.exit_code(faults))
            return
        self._reconciler.engine_is_good()
        if check.over:
            self._engine_is_good, self._lobby.playable = True, check.playable
            self._log.info("engine.good", variants=" ".join(check.playable))
            self._engine_checks.passed()
            self._lobby.engines_work()
            self._use(check.config)
            self._manager.reached(Milestone.ENGINE_GOOD)
            self._begin_if_ready()

    def _refuse_engines(self, checked: Config, faults: Sequence[str], exit_code: ExitCode) -> None:
        if self._engine_is_good and checked is self._given:
            if self._lobby.engines_fail(reason := "; ".join(faults)):
                self._notifier.engines_fail(reason)
        elif self._engine_is_good:
            self._settings.keep_engines(self._given, self._log, faults)
        else:
            for fault in faults:
                self._log.error("engine.unfit", reason=fault)
            if not self._shutdown.engine_failed(exit_code):
                return
            self._reconciler.engine_is_good()  # our own engine replaces one that fails
            self._manager.reached(Milestone.ENGINE_GOOD)
        self._begin_if_ready()

    # The account, and the answers of Lichess

    def _command_answered(self, report: CommandDone | CommandFailed) -> None:
        if isinstance(report, CommandFailed):
            self._command_failed(report.command, report.error)
        self._lobby.command_answered(report)
        match report:
            case CommandDone(command=ReadAccount(), answer=Account() as account):
                self._manager.reached(Milestone.CONNECTION_TRIED)
                self._connection.account_answered(account)
                self._begin_if_ready()
            case CommandDone(command=ReadPlaying(), answer=tuple() as games) if self._context is not None:
                self._reconciler.compare(games, report.sent_at, self._context)
                self._shutdown.games_known(self._config.stop_grace)
                self._connection.listen()

    def _command_failed(self, command: Command, error: ApiError) -> None:
        # Failures of our own challenges and tournaments are logged where they are handled.
        say = self._log.debug if isinstance(command, MatchCommand | TournamentCommand) else self._log.warning
        say("command.failed", command=command, error=error)
        self._connection.warn_of_missing_scope(error)
        match command:
            case ReadAccount():
                self._manager.reached(Milestone.CONNECTION_TRIED)
                self._reconciler.account_failed()
                self._connection.account_failed(error)
                if error.denies_token:
                    self._denied(error)
            case ReadPlaying():
                if self._reconciler.list_failed(error):
                    self._shutdown.games_known(self._config.stop_grace)
                self._connection.listen()
                if error.denies_token and error.missing_scope is None:
                    self._denied(error)
            case ChallengeAnswer():
                self._want_playing("an answer to a challenge may have taken effect all the same")

    def _begin_if_ready(self) -> None:
        """Listen for challenges and join games in progress, once the account is known and the engines are good."""
        account = self._connection.account
        if account is None or self._engine_checks.running is not None or self._context is not None:
            return
        if not account.is_bot:
            self._refused(f"{account.username} is not a BOT account; `lichessbot upgrade` makes it one")
            return
        self._reconciler.introduce(account)
        # Games that go on keep their sessions, which do not say our name.
        self._connection.introduce(account, renew_sessions=not len(self._games))
        self._context = self._game_context(account.id)
        self._want_playing("games may be left over")
        self._lobby.open(account, self._config)
        warn_of_unusable_files(engines_of(self._config), self._log)
        self._log.info("account", name=account.username, url=self._connection.access.url)

    def _game_context(self, our_id: str) -> GameContext:
        return GameContext(
            our_id=our_id,
            config=self._config,
            machine=self._machine,
            timeouts=self._timeouts,
            inbox=self._inbox,
            outbox=self._outbox,
            rate_limiter=self._connection.rate_limiter,
            store=self._store,
            archive=self._archive,
            overhead=MoveOverhead(self._store.round_trips(ROUND_TRIPS_USED)),
            hosts=Hosts(self._connection.access, self._connection.rate_limiter),
            opening_variety=OpeningVariety(self._store),
            open_api=self._connection.open_client,
            waiting=lambda: self._lobby.waiting,
            counters=self._counters,
        )

    def _denied(self, error: ApiError) -> None:
        """Leave if the token is dead: with a game in progress only once that is certain, as without `bot:play`."""
        has_games = self._games or self._store.left_over or self._store.left_over_by_days
        is_doubtful = self._connection.was_open or (has_games and "bot:play" not in (error.missing_scope or ""))
        if not is_doubtful or self._connection.token_denied(str(error), self._games.clocks_run_until):
            self._refused(f"Lichess denied the token ({error})")

    def _refused(self, reason: str) -> None:
        self._log.error("refused", reason=reason)
        self._shutdown.exit_code = ExitCode.REFUSED

    def _want_playing(self, reason: str, *, again: bool = False) -> None:
        """Read the list of games in progress soon, and more often for a while if `again`."""
        if self._context is not None:
            self._reconciler.want(reason, again=again)

    # Reloading

    def _reload(self) -> None:
        """Use the new configuration as far as a running daemon can; an invalid file changes nothing."""
        self._manager.reloading()
        config = self._settings.reload_and_log(self._log)
        self._engine_checks.end()
        if not self._engine_is_good:
            self._engine_checks.begin(config, time.monotonic())
        elif list(configured_engines(config)) != list(configured_engines(self._given)):
            self._engine_checks.begin(config, time.monotonic())
            config = with_engines_of(config, self._given)
        self._use(config)
        self._settings.log_use(self._log, old_engines=self._engine_checks.running is not None)
        self._manager.reloaded()
        self._begin_if_ready()  # the account may have come during a check that is given up now

    def _use(self, config: Config) -> None:
        """Go by this configuration from now on."""
        self._given, self._config = config, with_playable_variants(config, self._lobby.playable)
        for warning in memory_warnings(config, self._machine):
            self._log.warning("memory", note=warning)
        if self._context is not None:
            self._context = replace(self._context, config=self._config)
            self._lobby.reload(self._config)
            warn_of_unusable_files(engines_of(self._config), self._log)

    def _close(self) -> None:
        self._control.close()
        if self._web is not None:
            self._web.close()
        self._connection.stop_listening()
        self._lobby.close()
        self._games.close()
        self._engine_checks.end()
        self._outbox.close()
        self._archive.close()
        code = self._shutdown.exit_code
        self._notifier.close(code)
        self._log.info("stop", exit_code=None if code is None else int(code))
