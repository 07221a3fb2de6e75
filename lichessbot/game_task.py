"""One game in progress: its state machine with the stream, the engine and the lane that serve it.

Carries out what the game decides and says it in the log; decides nothing.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from weakref import WeakMethod

from engine.facade import InvalidFen, InvalidMove
from lichessbot.actions import (
    Action,
    Consult,
    Fallback,
    GameOver,
    GiveTime,
    KillEngine,
    PonderHit,
    Remember,
    ReopenStream,
    StopThinking,
    Think,
)
from lichessbot.api import Api
from lichessbot.archive import Archive, GameRecord
from lichessbot.config import Config, EngineConfig
from lichessbot.conversation import Conversation, Hearsay
from lichessbot.courtesy import Courtesy
from lichessbot.engine_process import EngineProcess, fallback_move
from lichessbot.errors import EngineError
from lichessbot.events import GameFull, GameInfo, GameState, OpponentGone
from lichessbot.game import Game
from lichessbot.gate import Gate
from lichessbot.journal import Journal
from lichessbot.messages import (
    Abort,
    Advice,
    AnswerTakeback,
    BestMove,
    ClaimDraw,
    ClaimVictory,
    CommandDone,
    CommandFailed,
    Deed,
    EngineDied,
    Inbox,
    PlayingWanted,
    Report,
    Resign,
    Say,
    Search,
    SendMove,
    StreamEvent,
    StreamLost,
    StreamRefused,
)
from lichessbot.overhead import Overhead
from lichessbot.parsing import parse_game_event
from lichessbot.profiles import GameFacts, Machine, engine_for
from lichessbot.repertoire import Repertoire
from lichessbot.score_sheet import ScoreSheet
from lichessbot.sources import Desk, Hosts
from lichessbot.store import Store
from lichessbot.streams import Source, StreamReader
from lichessbot.vocabulary import Colour
from lichessbot.waits import Waits


@dataclass(frozen=True)
class House:
    """What all games share."""

    our_id: str
    config: Config
    machine: Machine
    waits: Waits
    inbox: Inbox
    gate: Gate
    courtesy: Courtesy
    store: Store
    archive: Archive
    overhead: Overhead
    hosts: Hosts
    repertoire: Repertoire
    open_api: Callable[[timedelta], Api]
    """Makes a session with the given read time-out."""
    waiting: Callable[[], Sequence[str]]
    """Who waits for a game, who goes first first."""


class GameTask:
    """Plays one game from `start` until it is `over`. For the main thread: an engine lives no longer than it."""

    def __init__(self, info: GameInfo, house: House) -> None:
        self.info = info
        self.game_id = game_id = info.game_id
        self.began_at = time.monotonic()
        self.over = False
        self.over_for_certain = False
        self._house = house
        self._journal = Journal(game_id)
        done = {deed: house.store.times_done(game_id, deed) for deed in Deed}
        config = house.config
        self._game = Game(game_id, house.our_id, config, house.waits, info.color, done)
        self._game.engine = engine_for(GameFacts.announced(info), config, house.machine)
        # Objects in a circle keep their files open until the collector comes by.
        engine_name = WeakMethod(self._engine_name)
        hearsay = Hearsay(lambda: name() if (name := engine_name()) else "", house.waiting)
        self._talk = Conversation(game_id, house.our_id, config.greeting, house.waits, done, hearsay)
        self._sheet = ScoreSheet(config.url, house.our_id)
        self._desk = Desk(game_id, self._game.engine, house.hosts, house.inbox)
        self._engine: EngineProcess | None = None
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
            self._journal.warning("engine.not_started", reason=error)  # the first search tries again

    def _read(self) -> None:
        """Begin with a reader and a session of their own; an earlier reader is left to itself."""
        house, game_id = self._house, self.game_id
        if self._reader is not None:
            self._reader.stop()
        api = house.open_api(house.waits.liveness)
        source = Source(game_id, api, lambda: api.game_stream(game_id), parse_game_event)
        self._reader = StreamReader(source, house.inbox, house.waits, house.courtesy)
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
            report = self._house.repertoire.settle(report)
        # The answer to a search or a question that was given up is no move of this game.
        counts = not isinstance(report, BestMove | Advice) or self._game.is_asked(report.search_id)
        self._tell(report, counts=counts)
        if counts:
            self._measure(report)
        self._sheet.hear(report)
        self._choose_engine(report)
        now = time.monotonic()
        self._carry_out(self._game.handle(report, now))
        if counts:
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
            self._house.store.note_left(self.game_id)
        self.rest()

    def rest(self) -> None:
        """Hold neither a stream nor an engine until the next `start`."""
        if self._reader is not None:
            self._reader.stop()
        self._house.gate.close_game(self.game_id)
        self._desk.close()
        self._house.repertoire.forget(self.game_id)
        self._close_engine()

    def _carry_out(self, actions: Iterable[Action]) -> None:
        for action in actions:
            match action:
                case Consult(question):
                    self._desk.ask(question)
                case Think(search):
                    self._search(search)
                case PonderHit(search_id):
                    self._journal.debug("engine.ponder_hit")
                    self._house.repertoire.ponder_hit(self.game_id)
                    if self._engine is not None:
                        self._engine.ponder_hit(search_id)
                case StopThinking():
                    if self._engine is not None:
                        self._engine.stop()
                case KillEngine(reason):
                    self._journal.warning("engine.replaced", reason=reason)
                    self._close_engine()
                case Fallback(search_id, board, time_s):
                    self._journal.warning("engine.fallback", time_s=time_s)
                    self._house.inbox.put(BestMove(self.game_id, search_id, fallback_move(board, time_s)))
                case ReopenStream(reason, hangs):
                    self._journal.info("stream.reopen", reason=reason)
                    if hangs:
                        self._read()
                    elif self._reader is not None:
                        self._reader.reopen()
                case SendMove():
                    self._move_owed_at = self._told_at + self._thought_s  # nobody thinks about the only legal move
                    self._house.gate.send(action)  # before anything is said of it
                    self._journal.debug("move.send", ply=action.ply, move=action.move, offer=action.offering_draw)
                case Abort(_, reason) | Resign(_, reason):
                    self._journal.info(f"game.{type(action).__name__.lower()}", reason=reason)
                    self._house.gate.send(action)
                case PlayingWanted():
                    self._house.inbox.put(action)
                case Remember(deed):
                    self._house.store.note_done(self.game_id, deed)
                case GiveTime():
                    self._game.postpone_abort(self._house.waits.more_time)
                case AnswerTakeback(_, granted):
                    self._journal.info("takeback.granted" if granted else "takeback.denied")
                    self._house.gate.send(action)
                case ClaimVictory() | ClaimDraw():
                    self._journal.info("game.claim", victory=isinstance(action, ClaimVictory))
                    self._house.gate.send(action)
                case Say():
                    self._house.gate.send(action)
                case GameOver():
                    self._leave(action)

    def _leave(self, over: GameOver) -> None:
        self._journal.info("game.over", status=over.status, winner=over.winner, plies=over.plies)
        self.over = True
        self.over_for_certain = over.certain
        if over.certain:
            self._carry_out(self._talk.part(over.status))
            self._record(over)

    def _record(self, over: GameOver) -> None:
        """Hand the finished game to the archive, if one is wanted."""
        config = self._house.config
        if config.pgn_directory is None:
            return
        try:
            pgn = self._sheet.pgn(over)
        except (InvalidFen, InvalidMove) as error:
            self._journal.warning("pgn.lost", reason=error)
            return
        if pgn is not None:
            record = GameRecord(self.game_id, *self._sheet.names, pgn)
            self._house.archive.put(record, config.pgn_directory, config.pgn_file_grouping)

    def _choose_engine(self, report: Report) -> None:
        """The game itself knows more than its announcement said."""
        match report:
            case StreamEvent(event=GameFull() as full) if self._house.our_id in (full.white.id, full.black.id):
                colour = Colour.WHITE if full.white.id == self._house.our_id else Colour.BLACK
                facts = GameFacts.told(full, colour)
                self._play_with(engine_for(facts, self._house.config, self._house.machine))

    def _play_with(self, engine: EngineConfig) -> None:
        """The desk remembers whom it asked in vain, so it stays unless something else is wanted."""
        if engine != self._game.engine:
            self._game.engine = engine
            self._desk.close()
            self._desk = Desk(self.game_id, engine, self._house.hosts, self._house.inbox)

    def _search(self, search: Search) -> None:
        house = self._house
        if self._game.engine.variety:
            search = house.repertoire.prepare(self.game_id, search)
        self._sheet.ask(search)
        try:
            self._start_engine().search(search, house.overhead.now_ms(self._game.engine))
        except EngineError as error:
            house.inbox.put(EngineDied(self.game_id, search.search_id, str(error)))

    def _start_engine(self) -> EngineProcess:
        """The engine that runs, or a new one. Raises EngineError."""
        engine, wanted = self._engine, self._game.engine
        if engine is None or not engine.alive or engine.config != wanted:
            self._close_engine()
            house, failed_starts = self._house, self._failed_starts
            engine = self._engine = EngineProcess(self.game_id, wanted, house.inbox, house.waits, failed_starts)
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
            case BestMove(took_s=took_s) | Advice(moves=(_,), took_s=took_s):
                self._thought_s = took_s
            case CommandDone(command=SendMove(ply=ply), sent_at=sent_at, answered_at=answered_at):
                round_trip_ms = (answered_at - sent_at) * 1000
                self._house.overhead.note(round_trip_ms)
                self._house.store.note_round_trip(round_trip_ms)
                reaction_ms = (sent_at - self._move_owed_at) * 1000
                self._journal.debug("move.done", ply=ply, round_trip_ms=round_trip_ms, reaction_ms=reaction_ms)

    def _tell(self, report: Report, *, counts: bool) -> None:
        match report:
            case StreamEvent(event=GameFull() as full):
                self._journal.info(
                    "game.state",
                    white=full.white,
                    black=full.black,
                    variant=full.variant.key,
                    plies=len(full.state.moves.split()),
                )
            case StreamEvent(event=OpponentGone(gone=gone)):
                self._journal.info("opponent.gone" if gone else "opponent.back")
            case StreamLost(reason=reason, retry_in=retry_in):
                self._journal.warning("stream.lost", reason=reason, retry_in_s=retry_in.total_seconds())
            case StreamRefused(status=status, text=text):
                self._journal.warning("stream.refused", status=status, text=text)
            case CommandFailed(command=command, error=error):
                self._journal.warning("command.failed", command=type(command).__name__, error=error)
            case BestMove(move=move, summary=summary):
                event = "engine.move" if counts else "engine.unused"
                self._journal.debug(event, move=move, depth=summary.depth, nodes=summary.nodes, score=summary.score)
            case Advice(moves=moves, source=source, took_s=took_s) if moves:
                event = "source.move" if counts else "source.unused"
                self._journal.debug(event, source=source, moves=" ".join(moves), took_s=took_s)
            case EngineDied(reason=reason):
                self._journal.warning("engine.died", reason=reason)
