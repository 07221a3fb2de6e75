"""One game in progress: connects its state machine with its stream, engine, move sources, outbox, records and log.

Performs what the state machine decides; decides nothing.
"""

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from lichessbot.config import Config
from lichessbot.control.counters import Counters
from lichessbot.control.status import Evaluation, PlayerStatus, RunningGame, StreamStatus
from lichessbot.errors import EngineError
from lichessbot.games.actions import (
    Action,
    AskSources,
    ChooseLevel,
    Fallback,
    GameOver,
    KillEngine,
    PonderHit,
    PostponeAbort,
    RecordAction,
    ReopenStream,
    StartSearch,
    StopSearch,
    Withdraw,
)
from lichessbot.games.chat.chat import Chat, ChatFacts
from lichessbot.games.game import Game
from lichessbot.games.game_log import GameLog, described, time_control
from lichessbot.games.move_search import ChosenMove
from lichessbot.games.recording.archive import ArchivedGame, GameArchive
from lichessbot.games.recording.recorder import GameRecorder
from lichessbot.games.time_budget import MoveOverhead, MoveTimes
from lichessbot.inbox import Inbox, Report
from lichessbot.lichess.client import LichessClient
from lichessbot.lichess.commands import CommandDone, SendMove
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.lichess.models import GameFull, GameInfo, GameState
from lichessbot.lichess.outbox import Outbox
from lichessbot.lichess.positions import holdings
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.lichess.streams import PlayingWanted, StreamEvent, StreamLost, StreamReader
from lichessbot.log import EventLog, try_start
from lichessbot.move_sources import Hosts, MoveResolver
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.storage.store import LimitedAction, Store
from lichessbot.timeouts import Timeouts
from lichessbot.uci.machine import Machine
from lichessbot.uci.opening_variety import OpeningVariety
from lichessbot.uci.profiles import GameFacts, fitted_engine_config
from lichessbot.uci.restarting_engine import IdleEngines, RestartingEngine, fallback_move
from lichessbot.uci.search import FALLBACK, BestMove, opponent_text


@dataclass(frozen=True)
class GameContext:
    """The objects that all games share."""

    our_id: str
    config: Config
    machine: Machine
    timeouts: Timeouts
    inbox: Inbox
    outbox: Outbox
    rate_limiter: RateLimiter
    store: Store
    archive: GameArchive
    overhead: MoveOverhead
    hosts: Hosts
    opening_variety: OpeningVariety
    open_api: Callable[[timedelta], LichessClient]
    """Make a client with the given read timeout."""
    waiting: Callable[[], Sequence[str]]
    """Return the challengers that wait for a game, the next one first."""
    counters: Counters
    """What is counted for the operator."""


class GameSession:
    """Plays one game from `start` until it is `over`. For the main thread: the engine ends with its thread."""

    def __init__(self, info: GameInfo, context: GameContext, idle_engines: IdleEngines) -> None:
        self.info = info
        self.game_id = game_id = info.game_id
        self.began_at = time.monotonic()
        self.over = False
        self.over_for_certain = False
        self.archived: ArchivedGame | None = None
        """The whole game, once Lichess reported its end."""
        self._context = context
        self._log = EventLog(game_id)
        done = {kind: context.store.times_done(game_id, kind) for kind in LimitedAction}
        config, emit = context.config, context.inbox.put
        self._game = game = Game(game_id, context.our_id, config, context.timeouts, info.color, done)
        announced = replace(GameFacts.from_info(info), chosen_level=context.store.chosen_level(game_id))
        self._game.engine = fitted_engine_config(announced, config, context.machine)
        self._engine = engine = RestartingEngine(game_id, emit, context.timeouts, idle_engines)
        self._game_log = game_log = GameLog(context.our_id, config.url, info)
        # None of these leads back to the session: as part of a cycle it would keep its memory long after the game.
        facts = ChatFacts(
            config,
            engine=lambda: game.engine,
            identity=lambda: engine.identity,
            board=lambda: game.board,
            takebacks_granted=lambda: context.store.times_done(game_id, LimitedAction.TAKEBACK),
            round_trip_s=lambda: game_log.round_trip_s,
            waiting=context.waiting,
            scores=context.store.scores,
            level_results=context.store.level_results.against,
        )
        self._chat = Chat(game_id, context.our_id, facts, done, context.timeouts)
        self._recorder = GameRecorder(context.our_id, context.store)
        self._resolver = MoveResolver.for_game(game_id, self._game.engine, context.hosts, emit)
        self._reader: StreamReader | None = None
        self._evaluation: tuple[ChosenMove, Evaluation] | None = None
        """Of the move that was described last."""
        self._opponent = ""
        """As the engine is told of the opponent; empty before the game's own stream names one."""
        self._times = self._times_of_sent = MoveTimes()
        """Of our next move, and of the one sent last."""
        self._recorded: threading.Event | None = None  # of the latest action that must not be done twice

    def start(self, *, has_slot: bool = True) -> None:
        """Begin to read the game, perhaps again after `suspend`; start its engine meanwhile with clock and slot."""
        self.began_at = time.monotonic()
        self._game.join(self.began_at, self.info)
        self._read()
        self._engine.expect(self._game.engine)
        if has_slot:
            self._start_engine()

    def _start_engine(self) -> None:
        """Have the engine ready for our next move in a game with a clock; one that searches is left alone."""
        self._engine.expect(self._game.engine)
        try:
            if not (self.info.is_correspondence or self._game.search.engine_wanted):
                self._engine.start(self._game.engine)
        except EngineError as error:
            self._log.warning("engine.not_started", reason=error)  # the first search tries again

    def _read(self) -> None:
        """Start a reader with a connection of its own; an earlier reader is told to stop and not waited for."""
        context, game_id, tried_at = self._context, self.game_id, None
        if self._reader is not None:
            self._reader.stop()
            tried_at = self._reader.tried_at
        api, emit, limiter = context.open_api(context.timeouts.liveness), context.inbox.put, context.rate_limiter
        self._reader = reader = StreamReader(api, game_id, emit, context.timeouts, limiter, tried_at)
        reader.due_at = self._game.monitor.opening_due_at
        if not try_start(reader, self._log):  # the game reads again soon
            context.inbox.put(StreamLost(game_id, "no thread or memory is left", context.timeouts.game_backoff_ceiling))

    def _reopen(self, reason: str, *, hangs: bool) -> None:
        """Read the game again on a new connection, by another reader if the present one hangs or has ended."""
        reader = self._reader
        if reader is not None and reader.is_alive() and hangs and reader.is_queued:
            return  # It keeps its place among the streams that wait.
        self._log.info("stream.reopen", reason=reason)
        if reader is not None and reader.is_alive() and not hangs:
            reader.due_at = self._game.monitor.opening_due_at
            reader.reopen()
        else:
            self._read()

    @property
    def overdue(self) -> bool:
        """Return whether the reader of the stream hangs."""
        return self._reader is not None and self._reader.overdue

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        return self._game.wake_at

    @property
    def clocks_run_until(self) -> float:
        """When both clocks will have run out if we cannot move; the infinite past if that is not known."""
        return -math.inf if self._game.clock is None else self._game.clock.run_until

    @property
    def review_wanted(self) -> bool:
        """Whether the opponent is to hear of the game's turning points."""
        return self._chat.review_wanted

    @property
    def threads(self) -> int:
        """How many cores the engine takes while it searches; 0 if none runs."""
        return 0 if self._engine.process_id is None else self._game.engine.threads

    @property
    def idle_since(self) -> float | None:
        """Since when it is the opponent's turn; None if it is ours or unknown."""
        return self._game.idle_since

    @property
    def move_time_s(self) -> float:
        """The time that the engine is given for a move, whatever the clock says; 0 without such a limit."""
        return (self._game.engine.move_time_ms or 0) / 1000

    def handle(self, report: Report) -> None:
        """Take note of a report about this game, let the game and its chat react, and only then log what it tells."""
        if isinstance(report, BestMove):
            report = self._context.opening_variety.choose_move(report)
        awaited = isinstance(report, BestMove | SourceAnswer) and self._game.search.awaits(report.search_id)
        self._take_note(report, awaited=awaited)
        now = time.monotonic()
        self._perform(self._game.handle(report, now))
        if self._reader is not None:
            self._reader.due_at = self._game.monitor.opening_due_at
        if awaited or not isinstance(report, BestMove):
            # The chat tells evaluations. That of a search nobody waits for may be of another position.
            self._perform(self._chat.handle(report, now))
        self._game_log.catch_up()
        if self.info.is_correspondence and not self._game.search.engine_wanted:
            # The opponent may take days, and so an engine is started for each move.
            self._engine.end()
            self._game.search.engine_is_gone()

    def _take_note(self, report: Report, *, awaited: bool) -> None:
        """Note what a report tells before the game reacts; `awaited`: our move may come of it."""
        self._game_log.note(report, awaited=awaited)
        self._measure(report)
        self._recorder.handle(report)
        match report:
            case StreamEvent(event=GameFull() as full):
                self._choose_engine(full)
            case StreamLost(on_request=on_request):
                self._context.counters.counted.game_streams_lost += not on_request
                self._context.outbox.renew(self.game_id)
            case BestMove(summary=it) if awaited:
                self._context.counters.note_search(self._engine.identity.name, it.nodes, it.nps)

    def retry_now(self) -> None:
        """Retry at once: Lichess answers other streams again."""
        if self._reader is not None:
            self._reader.retry_now()

    def read_again(self) -> None:
        """Read the game from a new connection, because the daemon stood still."""
        self._perform(self._game.read_again("the daemon stood still"))

    def tick(self) -> None:
        """Do what is due."""
        self._perform(self._game.tick(time.monotonic()))

    def close(self) -> None:
        """Release everything at once, for good; nothing is sent to Lichess."""
        if self.over:
            self._context.store.note_left(self.game_id)
        self.suspend()

    def suspend(self) -> None:
        """Hold neither a stream nor an engine until the next `start`."""
        if self._reader is not None:
            self._reader.stop()
        self._context.outbox.close_game(self.game_id)
        self._resolver.close()
        self._context.opening_variety.forget(self.game_id)
        if self.info.is_correspondence:
            self._engine.end()
        else:
            self._engine.release()

    def _perform(self, actions: Iterable[Action]) -> None:
        context = self._context
        at_once: SourceAnswer | None = None
        for action in actions:
            match action:
                case AskSources(question):
                    at_once = self._resolver.ask(question)
                case StartSearch(search):
                    self._times.decided_at = time.monotonic()
                    engine = self._game.engine
                    if engine.variety:
                        search = context.opening_variety.prepare(self.game_id, search)
                    search = search.with_less_time(context.overhead.reserve_ms(engine))
                    search = replace(search, opponent=self._opponent)
                    self._engine.search(engine, search, context.overhead.usual_ms(engine))
                case PonderHit(search_id):
                    self._times.decided_at = time.monotonic()
                    self._log.debug("engine.ponder_hit")
                    context.opening_variety.ponder_hit(self.game_id)
                    self._engine.ponder_hit(search_id)
                case StopSearch():
                    self._engine.stop()
                case KillEngine(reason):
                    context.counters.counted.engines_replaced += 1
                    self._log.warning("engine.replaced", reason=reason)
                    self._engine.close()
                case Fallback(search_id, board, time_s):
                    context.counters.counted.moves_without_engine += 1
                    self._game_log.note_action(action)
                    found = fallback_move(board, time_s)
                    context.inbox.put(BestMove(self.game_id, search_id, found, source=FALLBACK))
                case ReopenStream(reason, hangs):
                    self._reopen(reason, hangs=hangs)
                case PlayingWanted() | BestMove():
                    context.inbox.put(action)
                case RecordAction(kind):
                    self._recorded = context.store.note_done(self.game_id, kind)
                case ChooseLevel(level):
                    self._choose_level(level)
                case PostponeAbort():
                    self._perform(self._game.postpone_abort(context.timeouts.more_time))
                case Withdraw(command):
                    context.outbox.withdraw(command)
                case GameOver():
                    self._leave(action)
                case SendMove():
                    self._send_move(action)
                case _:
                    context.outbox.send(action, recorded=self._recorded)
                    self._game_log.note_action(action)
        if at_once is not None:  # not by way of the inbox: the log is written before the next report is read
            self._perform(self._game.handle(at_once, time.monotonic()))

    def _send_move(self, command: SendMove) -> None:
        chosen, now = self._game.chosen, time.monotonic()
        assert chosen is not None, "a move is chosen before it is sent"
        self._times.pause_s, self._times.sent_at = self._game.pause_s, now
        self._times_of_sent = self._times  # the opponent's answer may come before that of the request
        self._recorder.note_sent(chosen, self._times.until(now)["reaction_ms"], now)
        # A plain move may be repeated: it does not wait for a disk that hangs.
        self._context.outbox.send(command, recorded=self._recorded if command.offering_draw else None)
        self._game_log.note_sent(command, chosen)

    def _leave(self, over: GameOver) -> None:
        self._game_log.log_end(over)
        self.over = True
        self.over_for_certain = over.certain
        archived = self._recorder.finish(over)
        if archived is not None:
            self.archived = archived
            self._context.archive.put(archived, self._context.config)
        if over.certain:
            self._perform(self._chat.say_goodbye(over.status, over.winner))
            self._report_end(over)

    def _report_end(self, over: GameOver) -> None:
        """Report the end to the main loop, for those who go on from it, if we know what was played."""
        full, colour, clock = self._game.full, self._game.colour, self._game.clock
        if full is not None and colour is not None:
            self._context.inbox.put(FinishedGame(full, colour, over.status, over.winner, over.plies, clock is not None))

    def _choose_engine(self, full: GameFull) -> None:
        """Choose the engine again: the game's own stream knows more than its announcement."""
        context = self._context
        colour = full.colour_of(context.our_id)
        if colour is None:
            return
        self._opponent = opponent_text(full.player(colour.other))
        facts = replace(GameFacts.from_full(full, colour), chosen_level=context.store.chosen_level(self.game_id))
        engine = fitted_engine_config(facts, context.config, context.machine)
        self._game_log.level = engine.level
        self._recorder.note_level(engine.level)
        if engine != self._game.engine:  # else keep the resolver, which counts the positions the sources do not know
            self._game.engine = engine
            self._resolver.close()
            self._resolver = MoveResolver.for_game(self.game_id, engine, context.hosts, context.inbox.put)
            self._start_engine()

    def _choose_level(self, level: int) -> None:
        """Play at another level; a search for our move goes on as it is."""
        self._context.store.note_chosen_level(self.game_id, level)
        if self._game.full is not None:
            self._choose_engine(self._game.full)
        self._game_log.log_choice()
        self._perform(self._game.search.stop_pondering())
        self._start_engine()

    def _measure(self, report: Report) -> None:
        """Measure the round trip of a move, and the time that we took for it beside the search."""
        match report:
            case StreamEvent(event=GameFull() | GameState() as event, received_at=received_at):
                clock, sent_at = self._game.clock, self._times_of_sent.sent_at
                if clock and isinstance(event, GameState) and (lag_s := clock.lag_s(event, sent_at)) is not None:
                    self._context.overhead.note_lag(lag_s * 1000)
                self._game.round_trip_s = self._context.overhead.now_ms(self._game.engine) / 1000
                self._times = MoveTimes(received_at)
            case BestMove(asked_at=asked_at, took_s=took_s):
                self._times.searched(asked_at, took_s)
            case SourceAnswer(moves=(_,), took_s=took_s):
                self._times.search_s = took_s
            case CommandDone(command=SendMove(ply=ply), sent_at=sent_at, answered_at=answered_at):
                round_trip_ms = (answered_at - sent_at) * 1000
                self._context.overhead.note(round_trip_ms)
                self._game_log.round_trip_s = round_trip_ms / 1000
                self._context.store.note_round_trip(round_trip_ms)
                self._log.debug("move.done", ply=ply, round_trip_ms=round_trip_ms, **self._times_of_sent.until(sent_at))

    # For the operator

    @property
    def engine_process(self) -> int | None:
        """The process of the engine; None if none runs."""
        return self._engine.process_id

    def describe(self, now: float) -> RunningGame:
        """Return the game as it is now; before its first state, as it was announced."""
        info, full, board, clock = self.info, self._game.full, self._game.board, self._game.clock
        colour, chosen, reader = self._game.colour, self._game.chosen_among_several, self._reader
        white, black = (self._player(side, now) for side in Colour)
        return RunningGame(
            game_id=self.game_id,
            url=f"{self._context.config.url}/{self.game_id}",
            white=white,
            black=black,
            our_colour=colour,
            variant=full.variant.key if full else info.variant.key,
            speed=full.speed if full else info.speed,
            time_control=time_control(full) if full else "",
            rated=full.rated if full else info.rated,
            tournament_id=full.tournament_id if full else info.tournament_id,
            fen=board.fen() if full else "",
            initial_fen=board.initial_fen if full else "",
            is_chess960=board.chess960,
            moves=tuple(board.moves) if full else (),
            to_move=board.turn if full else None,
            clock_runs=clock is not None and clock.clock_runs,
            evaluation=self._described(chosen, colour) if chosen and colour else None,
            stream=StreamStatus.of(reader.open_since, reader.heard_at, now) if reader else None,
            joined_for_s=now - self.began_at,
            played=self._game_log.played,
            chat=self._game_log.chat,
            round_trip_s=self._game_log.round_trip_s,
            level=self._game.engine.level,
        )

    def _described(self, chosen: ChosenMove, colour: Colour) -> Evaluation:
        """Return a move for the operator, who looks at the same one again and again."""
        if self._evaluation is None or self._evaluation[0] is not chosen:
            self._evaluation = chosen, described(chosen, colour)
        return self._evaluation[1]

    def _player(self, side: Colour, now: float) -> PlayerStatus:
        full, clock, board = self._game.full, self._game.clock, self._game.board
        if full is not None:
            player = full.player(side)
            clock_s = clock.shown_s(side, board.turn, now) if clock else None
            return PlayerStatus(str(player), player.title, player.rating, clock_s, holdings(board, side))
        if side is self._game.colour:
            return PlayerStatus(self._context.our_id)
        return PlayerStatus(self.info.opponent.username, rating=self.info.opponent.rating)
