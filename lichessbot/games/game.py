"""The state machine of one game: reports in, actions out.

Pure: no I/O, no threads, no clock; `now` is monotonic seconds, passed in. Every state holds all moves. A state that
does not continue the moves we know is believed only from a new connection, since an old line may come late. So Lichess
never gets two different moves for one ply unless the stream was read in between.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

from engine.facade import Board, InvalidFen, InvalidMove, InvalidVariant
from lichessbot.config import Config, EngineConfig
from lichessbot.games.actions import Action, GameOver, RecordAction, ReopenStream
from lichessbot.games.delivery import EndDelivery, MoveDelivery
from lichessbot.games.draw_resign import Decision, DrawResignPolicy, PositionFacts
from lichessbot.games.move_search import ChosenMove, MoveSearch, TimedPosition
from lichessbot.games.opponent import OpponentAbsence, Takebacks
from lichessbot.games.pace import Pace
from lichessbot.games.stream_monitor import StreamMonitor
from lichessbot.games.time_budget import GameClock, longest_unread_s
from lichessbot.games.told_clocks import with_known_clocks, with_possible_clock
from lichessbot.inbox import ListedGame, Report
from lichessbot.lichess.commands import Abort, AnswerTakeback, CommandDone, CommandFailed, Resign, SendMove
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import GameFinish, GameFull, GameInfo, GameState, OpponentGone
from lichessbot.lichess.positions import missing_moves, start_board
from lichessbot.lichess.streams import StreamEvent, StreamLost, StreamOpened, StreamRefused
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.storage.store import LimitedAction
from lichessbot.timeouts import Timeouts, earliest, is_due
from lichessbot.uci.search import ENGINE, FALLBACK, BestMove, EngineDied, EngineReady


class Game:
    """The state of one game, from its announcement to its end."""

    def __init__(
        self,
        game_id: str,
        our_id: str,
        config: Config,
        timeouts: Timeouts,
        announced_colour: Colour | None,
        done: Mapping[LimitedAction, int],
    ) -> None:
        """`done`: how often each limited action was done in this game by earlier processes."""
        self.game_id = game_id
        self._our_id = our_id
        self._config = config
        self._timeouts = timeouts
        self.full: GameFull | None = None
        """The latest full state, which says who plays; None before the first one."""
        self.colour = announced_colour
        """Our side; None if it is not known yet."""
        self.board = Board()
        """The position after all known moves; others must not change it."""
        self._start: tuple[str, str] | None = None
        """The variant and start position of the board, as Lichess names them; None before the first state."""
        self._known_moves: tuple[str, ...] = ()
        self.clock: GameClock | None = None
        """The clocks of the latest state; None before the first one."""
        self.round_trip_s = 0.0
        """The move overhead that the next state's clocks are read with."""
        self.idle_since: float | None = None
        """Since when we wait for the opponent; None if we do not."""
        self._pace = Pace(config, game_id)
        self.pause_s = 0.0
        """How long our latest move was to wait, as configured."""
        self.monitor = StreamMonitor(timeouts)
        """Knows until when the stream must be open, or must have told something."""
        self._rereading = False
        self.search = MoveSearch(config.engine)
        """Knows what is asked of move sources and engines."""
        self._candidates: SourceAnswer | None = None
        """Several moves of a source, best first, among which the engine chooses; None if it may play any."""
        self.chosen: ChosenMove | None = None
        """Our latest move, sent or about to be."""
        self.chosen_among_several: ChosenMove | None = None
        """The latest that was not the only legal one."""
        self._delivery: MoveDelivery | None = None
        self._ending = EndDelivery(timeouts)
        offered_earlier = done[LimitedAction.DRAW_OFFER] > 0
        self._draw_resign = DrawResignPolicy(config.engine.draw_or_resign, offered_earlier=offered_earlier)
        self._takebacks = Takebacks(game_id, config, done[LimitedAction.TAKEBACK])
        self._absence = OpponentAbsence(game_id, timeouts)
        self._abort_after_s: float = config.abort_time
        self._over = False

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do; None if only a report can change anything."""
        if self._over:
            return None
        return earliest(
            self.search.due_at,
            self._delivery.due_at if self._delivery else None,
            self._ending.due_at,
            self.monitor.wake_at,
            self._takebacks.held_until,
            self._absence.claim_at,
        )

    @property
    def engine(self) -> EngineConfig:
        """The configuration of the engine, its move sources, and its rules for draws and resigning."""
        return self.search.engine

    @engine.setter
    def engine(self, engine: EngineConfig) -> None:
        self.search.engine_is_gone()
        self.search.engine = engine
        self._draw_resign.rules = engine.draw_or_resign

    def join(self, now: float, info: GameInfo | None = None) -> None:
        """(Re)join the game: discard everything in flight. `info`: the game as it was announced."""
        self.monitor = StreamMonitor(self._timeouts, longest_unread_s(info, self._timeouts))
        self.monitor.connecting(None, now)
        self.idle_since = None
        self.search.discard()
        self.search.engine_is_gone()
        self._rereading = True
        if self._delivery is not None:
            self._delivery.hold()

    def postpone_abort(self, pause: timedelta) -> Iterator[Action]:
        """Give the opponent more time for the first move."""
        self._abort_after_s += pause.total_seconds()
        yield from self._ending.postpone_abort(pause.total_seconds())

    def read_again(self, reason: str) -> Iterator[Action]:
        """Read the state from a new connection, as the present one may be late or dead; moves go on meanwhile."""
        if self.monitor.is_open:
            yield self.monitor.reopen(reason)

    def handle(self, report: Report, now: float) -> Iterator[Action]:
        """Yield the actions that follow from a report about this game."""
        if self._over:
            return
        match report:
            case StreamEvent(event=GameFull() as full, received_at=received_at):
                yield from self._read_full(full, received_at, now)
            case StreamEvent(event=GameState() as state, received_at=received_at) if self.full is not None:
                yield from self._read_state(self.full, state, received_at, now, fresh=False)
            case StreamEvent(event=GameFinish(game=GameInfo(status=GameStatus.CREATED | GameStatus.STARTED))):
                self.monitor.end_told(now)  # not how, and perhaps in error: the game's own stream ends or goes on
            case StreamEvent(event=GameFinish(game=game)) if self.full is not None:
                status = game.status or GameStatus.UNKNOWN_FINISH
                missing = missing_moves(self.board, game, self._delivery.command.move if self._delivery else None)
                yield self._end(GameOver(status, game.winner, len(self._moves) + len(missing), missing=missing))
            case StreamEvent(event=GameFinish()):
                self.monitor.end_told(now)  # the game's own stream, which is not read yet, tells it with all moves
            case StreamEvent(event=OpponentGone() as absence):
                self._absence.note(absence, now)
            case StreamOpened():
                self.monitor.opened(self.clock, now)
            case StreamLost():
                self.monitor.lost(report, self.clock, now)
            case StreamRefused():
                yield from self.monitor.refused(report, now)
                if self.colour is None and self.monitor.is_refused_for_good:
                    # Only our records say that this game exists, and the list of games may be long in coming.
                    yield self._give_up()
            case ListedGame() if self.monitor.is_gone(report):
                yield self._give_up()
            case ListedGame():
                yield from self.monitor.compare(report, self.clock, now)
            case SourceAnswer() if self.search.awaits(report.search_id):
                yield from self._take_source_answer(report, now)
            case BestMove():
                self.search.note_answer(report)
                if self.search.awaits(report.search_id):
                    yield from self._take_best_move(report, now)
            case EngineReady():
                self.search.engine_is_ready(None if self.clock is None else self._position, now)
            case EngineDied(search_id=search_id, reason=reason):
                self.search.engine_died(search_id)
                if not self.search.is_settled_for(search_id):
                    yield from self._replace_engine(reason, now)
            case CommandDone(command=AnswerTakeback()) | CommandFailed(command=AnswerTakeback()):
                if self._takebacks.held_until is not None:
                    yield from self._reread("a takeback was granted")
            case CommandDone() | CommandFailed() if self._delivery and self.clock:
                yield from self._if_open(self._delivery.handle(report, self.clock, now))

    def tick(self, now: float) -> Iterator[Action]:
        """Yield the actions that are due; harmless at any moment."""
        if self._over:
            return
        if is_due(self.search.due_at, now):
            if self.search.is_hung:
                yield from self._replace_engine("does not stop", now)
            elif self.clock is not None:
                yield from self.search.time_out(self._position, now)
        if self._delivery is not None:
            yield from self._if_open(self._delivery.tick(now))
        yield from self._ending.tick(now, sees_game=self.monitor.is_read and not self._rereading)
        yield from self.monitor.tick(self.clock, now)
        if is_due(self._takebacks.held_until, now):
            yield from self._reread("the answer to a takeback got no reply")
        if self.colour is not None:
            yield from self._absence.claim(self.board, self.colour, now)

    # The stream

    def _read_full(self, full: GameFull, received_at: float, now: float) -> Iterator[Action]:
        colour = self._our_colour(full)
        if colour is None:
            yield self._give_up()
            return
        self.full, self.colour = full, colour
        self._rereading = False
        self._takebacks.held_until = None
        yield from self._read_state(full, full.state, received_at, now, fresh=True)

    def _our_colour(self, full: GameFull) -> Colour | None:
        """Return the side with our id, else the announced one if an id is missing; None if both are others."""
        announced = self.colour if None in (full.white.id, full.black.id) else None
        return full.colour_of(self._our_id) or announced

    def _read_state(
        self, full: GameFull, state: GameState, received_at: float, now: float, *, fresh: bool
    ) -> Iterator[Action]:
        """Take over a state; `fresh`: the first one of a connection."""
        assert self.colour is not None, "known since the first full state"
        if state.status.is_over:
            yield self._end(GameOver(state.status, state.winner, len(state.moves.split())))
            return
        self.monitor.state_received(now, fresh=fresh)
        try:
            board = self._replay(full, state)
        except (InvalidFen, InvalidMove, InvalidVariant) as error:
            yield from self._reject_state(str(error), now, fresh=fresh)
            return
        self.monitor.state_followed()
        yield from self._ending.drop(Resign)
        if not fresh and tuple(board.moves[: len(self._moves)]) != self._moves:
            yield from self._reread("a move was taken back, or an old line came late")
            return
        shows_our_move = not fresh and self.board.turn == self.colour and len(board.moves) == len(self._moves) + 1
        self.board, self._known_moves = board, tuple(state.moves.split())
        self._start = full.variant.key, full.initial_fen
        if fresh or not {"wtime", "btime"} <= state.model_fields_set:  # a clock could not be read
            state = with_known_clocks(full, state, self.clock, received_at)
        state = with_possible_clock(full, state, self.colour, self.clock)
        self.clock = clock = GameClock.read(
            full, state, self.colour, board.turn, received_at, self._timeouts, self.round_trip_s, self.clock
        )
        if self._delivery is not None and not self._delivery.is_for(self._moves):
            self._delivery = None
        self._absence.note_turn(len(self._moves), our_turn=board.turn == self.colour)
        # A request that crosses our move is answered if it stands after the move. In the state that shows the move also
        # one stands that came before it, and that the move declines.
        if not shows_our_move and (self._delivery is None or self._delivery.is_paced):
            yield from self._takebacks.read(clock, full.player(self.colour.other), now, fresh=fresh)
        if board.turn == self.colour and board.legal_moves():
            yield from self._take_turn(full, clock, now, fresh=fresh)
        else:
            yield from self._await_opponent(clock, now)

    def _replay(self, full: GameFull, state: GameState) -> Board:
        """Return the position after all moves. Raises InvalidFen, InvalidMove or InvalidVariant."""
        start = full.variant.key, full.initial_fen
        moves = tuple(state.moves.split())
        known = len(self._known_moves)
        if self._start != start or moves[:known] != self._known_moves:
            return start_board(*start).after(*moves)
        return self.board.after(*moves[known:])

    def _take_turn(self, full: GameFull, clock: GameClock, now: float, *, fresh: bool) -> Iterator[Action]:
        """Find our move, or go on delivering it. The only legal move needs no search."""
        self.idle_since = None
        yield from self._ending.drop(Abort)
        self.monitor.expect_nobody()
        if self._delivery is not None:
            if fresh:
                self._delivery.read_clock(clock, now)
            if self._delivery.is_paced:
                yield from self._reconsider(self._delivery, full, clock, now)
            elif fresh:
                yield from self._delivery.resume(clock, now)
            return
        if self.search.is_about(self._moves):
            if fresh:
                self.search.read_clock(self._position, now)
            return
        self._draw_resign.forget_from(len(self._moves))
        self._candidates = None
        only_move, *others = self.board.legal_moves()
        if not others:
            yield from self.search.stop()
            yield from self._deliver(only_move, now)
        elif self.engine.sources:
            yield self.search.ask_sources(self._position, full, now)
        else:
            yield from self.search.ask_engine(self._position, now)

    def _await_opponent(self, clock: GameClock, now: float) -> Iterator[Action]:
        self.monitor.expect_opponent(clock, now)
        yield from self.search.await_opponent(self._moves)
        if self.idle_since is None:
            self.idle_since = now
        if clock.clock_runs or not clock.timed or clock.in_arena:
            yield from self._ending.drop(Abort)
        elif self._ending.due_at is None:
            self._ending.plan(Abort(self.game_id, "the opponent does not move"), now + self._abort_after_s)

    def _reread(self, reason: str) -> Iterator[Action]:
        """Read the stream again; until then nothing is sent, and a search goes on."""
        self._rereading = True
        self._takebacks.held_until = None
        if self._delivery is not None:
            self._delivery.hold()
        yield from self._if_open([ReopenStream(reason)])

    def _if_open(self, actions: Iterable[Action]) -> Iterator[Action]:
        """Pass actions on, but reopen no stream that waits to be opened, perhaps after a 429: it is read anyway."""
        return (it for it in actions if self.monitor.is_open or not isinstance(it, ReopenStream))

    def _reject_state(self, reason: str, now: float, *, fresh: bool) -> Iterator[Action]:
        """Read again a state that our rules refuse; resign if it stays so, so that nobody waits for our move."""
        if not fresh:
            yield from self._reread(reason)
            return
        self._rereading = True
        if self.monitor.state_rejected(now):
            yield from self.tick(now)
        else:
            self.search.finish()
            self._delivery = None
            yield from self._resign(reason, now)

    def _resign(self, reason: str, now: float) -> Iterator[Action]:
        self._ending.plan(Resign(self.game_id, reason), now)
        yield from self.tick(now)

    def _end(self, over: GameOver) -> GameOver:
        self._over = True
        return over

    def _give_up(self) -> GameOver:
        """Leave a game whose end nobody told."""
        return self._end(GameOver(GameStatus.UNKNOWN_FINISH, None, len(self._moves), told=False))

    # Our move

    @property
    def _position(self) -> TimedPosition:
        assert self.clock is not None, "a search needs a state"
        return TimedPosition(self.board, self.clock)

    def _take_source_answer(self, answer: SourceAnswer, now: float) -> Iterator[Action]:
        """Play the only move of the sources, or have the engine choose among several."""
        try:
            moves = tuple(self.board.normalise(move) for move in answer.moves)
        except InvalidMove:
            moves = ()
        self._draw_resign.note_wdl(answer.wdl if moves else None)
        if len(moves) == 1:
            self._draw_resign.note_score(len(self._moves), answer.summary.score)
            self.search.finish()
            yield from self.search.stop()
            yield from self._deliver(moves[0], now, answer)
        else:
            self._candidates = replace(answer, moves=moves) if moves else None
            yield from self.search.ask_engine(self._position, now, moves)

    def _take_best_move(self, answer: BestMove, now: float) -> Iterator[Action]:
        try:
            move = self.board.normalise(answer.move or "")
        except InvalidMove as error:
            if answer.source != ENGINE or not self.search.is_settled_for(answer.search_id):
                reason = str(error) if answer.move else f"named no move: {self.board.fen()}"
                yield from self._replace_engine(reason, now)
            return
        if self._candidates and move not in self._candidates.moves:
            # From an engine that ignores `searchmoves`, or from the fallback. Its score is that of another move.
            move = self._candidates.moves[0]
            answer = BestMove(self.game_id, answer.search_id, move, took_s=answer.took_s, source=FALLBACK)
        self._draw_resign.note_score(len(self._moves), answer.summary.score)
        yield from self._deliver(move, now, answer)
        if self._delivery is not None:
            yield from self.search.ponder(self._position, move, answer.ponder, now + self.pause_s)

    def _deliver(self, move: str, now: float, answer: BestMove | SourceAnswer | None = None) -> Iterator[Action]:
        """Send a legal move, with a draw offer if the scores say so; or resign instead."""
        assert self.full is not None, "a move needs a state"
        clock = self._position.clock
        self.search.finish()
        self.chosen = ChosenMove(self.board, move, answer, self._candidates.source if self._candidates else "")
        if answer is not None:
            self.chosen_among_several = self.chosen
        command = SendMove(self.game_id, len(self._moves) + 1, move, answer_s=clock.move_answer_s(now))
        holds_back = self._rereading or self._takebacks.held_until is not None
        match self._draw_resign.decide(PositionFacts.of(self.board, move, clock, self.full, now)):
            case Decision.DRAW:
                command = replace(command, offering_draw=True)
                yield RecordAction(LimitedAction.DRAW_OFFER)
            case Decision.RESIGN if not holds_back:
                yield from self._resign("the game is lost", now)
                return
        self._delivery = MoveDelivery(command, self.board, self._timeouts)
        self.pause_s = pause_s = self._pace.pause_s(self.board, move, answer, clock, self.full.initial_s, now)
        if holds_back:
            self._delivery.hold()
        elif pause_s > 0.0:
            self._delivery.send_at(now + pause_s)
        else:
            yield from self._delivery.send(now)

    def _reconsider(self, paced: MoveDelivery, full: GameFull, clock: GameClock, now: float) -> Iterator[Action]:
        """Hold a move that waits for its pace if a takeback was granted; let it accept an offered draw."""
        command = paced.command
        if self._takebacks.held_until is not None:
            paced.hold()
        elif clock.state.offers_draw(clock.colour.other) and not command.offering_draw:
            facts = PositionFacts.of(self.board, command.move, clock, full, now)
            if self._draw_resign.decide(facts) is Decision.DRAW:
                paced.offer_draw()
                yield RecordAction(LimitedAction.DRAW_OFFER)

    def _replace_engine(self, reason: str, now: float) -> Iterator[Action]:
        if self.search.has_failed:
            self.search.finish()
            yield from self._resign(f"no move was found: {reason}", now)
        else:
            yield from self.search.replace_engine(self._position, reason, now)

    @property
    def _moves(self) -> tuple[str, ...]:
        return tuple(self.board.moves)
