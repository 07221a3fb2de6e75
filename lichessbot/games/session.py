"""One game in progress: its state machine with the stream, the engine and the lane that serve it.

Carries out what the game decides and says it in the log; decides nothing.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from weakref import WeakMethod

from engine.facade import InvalidFen, InvalidMove
from lichessbot.config import Config, EngineConfig
from lichessbot.errors import EngineError
from lichessbot.games.actions import (
    Action,
    AskSources,
    Fallback,
    GameOver,
    GiveTime,
    KillEngine,
    PonderHit,
    RecordAction,
    ReopenStream,
    StartSearch,
    StopSearch,
)
from lichessbot.games.chat import Chat, Hearsay
from lichessbot.games.game import Game
from lichessbot.games.opening_variety import OpeningVariety
from lichessbot.games.pgn import GameRecord, PgnArchive, PgnRecorder
from lichessbot.games.time_budget import MoveOverhead
from lichessbot.inbox import Inbox, Report
from lichessbot.lichess.client import LichessClient
from lichessbot.lichess.commands import (
    Abort,
    AnswerTakeback,
    ClaimDraw,
    ClaimVictory,
    CommandDone,
    CommandFailed,
    Resign,
    Say,
    SendMove,
)
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.models import GameFull, GameInfo, GameState, OpponentGone
from lichessbot.lichess.outbox import Outbox
from lichessbot.lichess.parsing import parse_game_event
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.lichess.streams import PlayingWanted, Source, StreamEvent, StreamLost, StreamReader, StreamRefused
from lichessbot.log import EventLog
from lichessbot.move_sources import Hosts, MoveResolver
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.storage.records import LimitedAction
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts
from lichessbot.uci.engine import UciEngine, fallback_move
from lichessbot.uci.profiles import GameFacts, Machine, engine_for
from lichessbot.uci.search import BestMove, EngineDied, Search


@dataclass(frozen=True)
class GameContext:
    """What all games share."""

    our_id: str
    config: Config
    machine: Machine
    timeouts: Timeouts
    inbox: Inbox
    outbox: Outbox
    rate_limiter: RateLimiter
    store: Store
    archive: PgnArchive
    overhead: MoveOverhead
    hosts: Hosts
    opening_variety: OpeningVariety
    open_api: Callable[[timedelta], LichessClient]
    """Makes a session with the given read time-out."""
    waiting: Callable[[], Sequence[str]]
    """Who waits for a game, who goes first first."""


class GameSession:
    """Plays one game from `start` until it is `over`. For the main thread: an engine lives no longer than it."""

    def __init__(self, info: GameInfo, context: GameContext) -> None:
        self.info = info
        self.game_id = game_id = info.game_id
        self.began_at = time.monotonic()
        self.over = False
        self.over_for_certain = False
        self._context = context
        self._log = EventLog(game_id)
        done = {deed: context.store.times_done(game_id, deed) for deed in LimitedAction}
        config = context.config
        self._game = Game(game_id, context.our_id, config, context.timeouts, info.color, done)
        self._game.engine = engine_for(GameFacts.from_info(info), config, context.machine)
        # Objects in a circle keep their files open until the collector comes by.
        engine_name = WeakMethod(self._engine_name)
        hearsay = Hearsay(lambda: name() if (name := engine_name()) else "", context.waiting)
        self._talk = Chat(game_id, context.our_id, config.greeting, context.timeouts, done, hearsay)
        self._sheet = PgnRecorder(config.url, context.our_id)
        self._desk = MoveResolver(game_id, self._game.engine, context.hosts, context.inbox.put)
        self._engine: UciEngine | None = None
        self._failed_starts = 0
        self._told_at = 0.0
        self._thought_s = 0.0
        self._move_owed_at = 0.0
        self._reader: StreamReader | None = None

    def start(self) -> None:
        """Begin to read the game, perhaps again after a `rest`; the engine starts meanwhile, if there is any hurry."""
        self.began_at = time.monotonic()
        self._game.join(self.began_at, self.info)
        self._read()
        if self.info.is_correspondence:
            return
        try:
            self._start_engine()
        except EngineError as error:
            self._log.warning("engine.not_started", reason=error)  # the first search tries again

    def _read(self) -> None:
        """Begin with a reader and a session of their own; an earlier reader is left to itself."""
        context, game_id = self._context, self.game_id
        if self._reader is not None:
            self._reader.stop()
        api = context.open_api(context.timeouts.liveness)
        source = Source(game_id, api, lambda: api.game_stream(game_id), parse_game_event)
        self._reader = StreamReader(source, context.inbox.put, context.timeouts, context.rate_limiter)
        self._reader.start()

    @property
    def overdue(self) -> bool:
        """Whether its stream hangs."""
        return self._reader is not None and self._reader.overdue

    @property
    def wake_at(self) -> float | None:
        return self._game.wake_at

    @property
    def idle_since(self) -> float | None:
        """Since when it is the opponent's turn; None if it is ours, or nobody knows yet."""
        return self._game.idle_since

    def _engine_name(self) -> str:
        return self._engine.name if self._engine is not None else ""

    def handle(self, report: Report) -> None:
        if isinstance(report, BestMove):
            report = self._context.opening_variety.settle(report)
        self._tell(report)
        self._measure(report)
        self._sheet.hear(report)
        self._choose_engine(report)
        now = time.monotonic()
        self._carry_out(self._game.handle(report, now))
        self._carry_out(self._talk.hear(report, now))
        if self.info.is_correspondence and not self._game.engine_wanted:
            self._close_engine()

    def others_got_through(self) -> None:
        """Lichess answers the others again."""
        if self._reader is not None:
            self._reader.others_got_through()

    def tick(self) -> None:
        self._carry_out(self._game.tick(time.monotonic()))

    def close(self) -> None:
        """Let go of everything at once, for ever; nothing is sent to Lichess."""
        if self.over:
            self._context.store.note_left(self.game_id)
        self.rest()

    def rest(self) -> None:
        """Hold neither a stream nor an engine until the next `start`."""
        if self._reader is not None:
            self._reader.stop()
        self._context.outbox.close_game(self.game_id)
        self._desk.close()
        self._context.opening_variety.forget(self.game_id)
        self._close_engine()

    def _carry_out(self, actions: Iterable[Action]) -> None:
        for action in actions:
            match action:
                case AskSources(question):
                    self._desk.ask(question)
                case StartSearch(search):
                    self._search(search)
                case PonderHit(search_id):
                    self._log.debug("engine.ponder_hit")
                    self._context.opening_variety.ponder_hit(self.game_id)
                    if self._engine is not None:
                        self._engine.ponder_hit(search_id)
                case StopSearch():
                    if self._engine is not None:
                        self._engine.stop()
                case KillEngine(reason):
                    self._log.warning("engine.replaced", reason=reason)
                    self._close_engine()
                case Fallback(search_id, board, time_s):
                    self._log.warning("engine.fallback", time_s=time_s)
                    self._context.inbox.put(BestMove(self.game_id, search_id, fallback_move(board, time_s)))
                case ReopenStream(reason, hangs):
                    self._log.info("stream.reopen", reason=reason)
                    if hangs:
                        self._read()
                    elif self._reader is not None:
                        self._reader.reopen()
                case SendMove():
                    self._move_owed_at = self._told_at + self._thought_s  # nobody thinks about the only legal move
                    self._context.outbox.send(action)  # before anything is said of it
                    self._log.debug("move.send", ply=action.ply, move=action.move, offer=action.offering_draw)
                case Abort(_, reason) | Resign(_, reason):
                    self._log.info(f"game.{type(action).__name__.lower()}", reason=reason)
                    self._context.outbox.send(action)
                case PlayingWanted():
                    self._context.inbox.put(action)
                case RecordAction(deed):
                    self._context.store.note_done(self.game_id, deed)
                case GiveTime():
                    self._game.postpone_abort(self._context.timeouts.more_time)
                case AnswerTakeback(_, granted):
                    self._log.info("takeback.granted" if granted else "takeback.denied")
                    self._context.outbox.send(action)
                case ClaimVictory() | ClaimDraw():
                    self._log.info("game.claim", victory=isinstance(action, ClaimVictory))
                    self._context.outbox.send(action)
                case Say():
                    self._context.outbox.send(action)
                case GameOver():
                    self._leave(action)

    def _leave(self, over: GameOver) -> None:
        self._log.info("game.over", status=over.status, winner=over.winner, plies=over.plies)
        self.over = True
        self.over_for_certain = over.certain
        if over.certain:
            self._carry_out(self._talk.part(over.status))
            self._record(over)

    def _record(self, over: GameOver) -> None:
        """Hand the finished game to the archive, if one is wanted."""
        config = self._context.config
        if config.pgn_directory is None:
            return
        try:
            pgn = self._sheet.pgn(over)
        except (InvalidFen, InvalidMove) as error:
            self._log.warning("pgn.lost", reason=error)
            return
        if pgn is not None:
            record = GameRecord(self.game_id, *self._sheet.names, pgn)
            self._context.archive.put(record, config.pgn_directory, config.pgn_file_grouping)

    def _choose_engine(self, report: Report) -> None:
        """The game itself knows more than its announcement said."""
        match report:
            case StreamEvent(event=GameFull() as full) if self._context.our_id in (full.white.id, full.black.id):
                colour = Colour.WHITE if full.white.id == self._context.our_id else Colour.BLACK
                facts = GameFacts.from_full(full, colour)
                self._play_with(engine_for(facts, self._context.config, self._context.machine))

    def _play_with(self, engine: EngineConfig) -> None:
        """The desk remembers whom it asked in vain, so it stays unless something else is wanted."""
        if engine != self._game.engine:
            self._game.engine = engine
            self._desk.close()
            self._desk = MoveResolver(self.game_id, engine, self._context.hosts, self._context.inbox.put)

    def _search(self, search: Search) -> None:
        context = self._context
        if self._game.engine.variety:
            search = context.opening_variety.prepare(self.game_id, search)
        self._sheet.ask(search)
        try:
            self._start_engine().search(search, context.overhead.now_ms(self._game.engine))
        except EngineError as error:
            context.inbox.put(EngineDied(self.game_id, search.search_id, str(error)))

    def _start_engine(self) -> UciEngine:
        """The engine that runs, or a new one. Raises EngineError."""
        engine, wanted = self._engine, self._game.engine
        if engine is None or not engine.alive or engine.config != wanted:
            self._close_engine()
            context, failed_starts = self._context, self._failed_starts
            engine = self._engine = UciEngine(self.game_id, wanted, context.inbox.put, context.timeouts, failed_starts)
        return engine

    def _close_engine(self) -> None:
        if self._engine is not None:
            self._failed_starts = 0 if self._engine.ready else self._failed_starts + 1
            self._engine.close()
            self._engine = None

    def _measure(self, report: Report) -> None:
        """How long the way to Lichess takes, and how long we ourselves, the engine apart."""
        match report:
            case StreamEvent(event=GameFull() | GameState(), received_at=received_at):
                self._told_at, self._thought_s = received_at, 0.0
            case BestMove(took_s=took_s) | SourceAnswer(moves=(_,), took_s=took_s):
                self._thought_s = took_s
            case CommandDone(command=SendMove(ply=ply), sent_at=sent_at, answered_at=answered_at):
                round_trip_ms = (answered_at - sent_at) * 1000
                self._context.overhead.note(round_trip_ms)
                self._context.store.note_round_trip(round_trip_ms)
                reaction_ms = (sent_at - self._move_owed_at) * 1000
                self._log.debug("move.done", ply=ply, round_trip_ms=round_trip_ms, reaction_ms=reaction_ms)

    def _tell(self, report: Report) -> None:
        match report:
            case StreamEvent(event=GameFull() as full):
                self._log.info(
                    "game.state",
                    white=full.white,
                    black=full.black,
                    variant=full.variant.key,
                    plies=len(full.state.moves.split()),
                )
            case StreamEvent(event=OpponentGone(gone=gone)):
                self._log.info("opponent.gone" if gone else "opponent.back")
            case StreamLost(reason=reason, retry_in=retry_in):
                self._log.warning("stream.lost", reason=reason, retry_in_s=retry_in.total_seconds())
            case StreamRefused(status=status, text=text):
                self._log.warning("stream.refused", status=status, text=text)
            case CommandFailed(command=command, error=error):
                self._log.warning("command.failed", command=type(command).__name__, error=error)
            case BestMove(search_id=search_id, move=move, summary=summary) if self._game.awaits(search_id):
                self._log.debug(
                    "engine.move", move=move, depth=summary.depth, nodes=summary.nodes, score=summary.score
                )
            case BestMove(move=move, summary=summary):
                # Most of these answer a ponder search that was stopped.
                self._log.debug("engine.unused", move=move, depth=summary.depth)
            case SourceAnswer(moves=moves, source=source, took_s=took_s) if moves:
                self._log.debug("source.move", source=source, moves=" ".join(moves), took_s=took_s)
            case EngineDied(reason=reason):
                self._log.warning("engine.died", reason=reason)
