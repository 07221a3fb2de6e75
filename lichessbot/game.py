"""One game as a state machine: what happened goes in, what to do comes out.

Pure: no I/O, no threads, no clock; `now` is monotonic seconds, passed in. Every state tells the
whole list of moves. A list that no longer begins with the moves we know is believed only from a new
connection: an old line may come late, and Lichess never gets two different moves for one ply unless
the stream was read in between.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from engine.facade import STARTING_FEN, Board, InvalidFen, InvalidMove
from lichessbot.absence import Absence
from lichessbot.actions import (
    Action,
    Consult,
    Fallback,
    GameOver,
    KillEngine,
    PonderHit,
    Remember,
    ReopenStream,
    StopThinking,
    Think,
)
from lichessbot.clock import GameClock
from lichessbot.config import Config
from lichessbot.events import STANDARD_START, GameFinish, GameFull, GameState, OpponentGone
from lichessbot.messages import (
    Abort,
    Advice,
    AnswerTakeback,
    BestMove,
    CommandDone,
    CommandFailed,
    Deed,
    EngineDied,
    Question,
    Report,
    Resign,
    Search,
    SendMove,
    Standing,
    StreamEvent,
    StreamLost,
    StreamOpened,
    StreamRefused,
)
from lichessbot.owed_move import OwedMove
from lichessbot.pondering import Pondering
from lichessbot.stream_watch import StreamWatch
from lichessbot.takebacks import Takebacks
from lichessbot.verdict import Judgement, Situation, Verdict
from lichessbot.vocabulary import Colour, GameStatus, Variant
from lichessbot.waits import Waits

# Until both have moved a game can be aborted, and Lichess ends it by itself only days later.
_ABORTABLE_PLIES: Final = 2
NOTHING_DONE: Final[Mapping[Deed, int]] = MappingProxyType(dict.fromkeys(Deed, 0))
# A state that our rules refuse is read so often before the game is resigned.
_READINGS: Final = 3


@dataclass(slots=True)
class _Thought:
    search: Search | Question
    due_at: float | None
    """When the engine is told to stop and, once told, counts as hung; None: no engine is asked.

    For a question to the move sources: when the engine is asked instead.
    """
    second_try: bool
    told_to_stop: bool = False


@dataclass(slots=True)
class _Ending:
    """A command that would end the game, given again and again until the game is over."""

    command: Abort | Resign
    due_at: float


class Game:
    """The state of one game, from its announcement to its end."""

    def __init__(
        self,
        game_id: str,
        our_id: str,
        config: Config,
        waits: Waits,
        announced_colour: Colour | None = None,
        done: Mapping[Deed, int] = NOTHING_DONE,
    ) -> None:
        """`done`: how often what is to be remembered was done in this game by processes before this one."""
        self.game_id = game_id
        self.engine = config.engine
        """Which engine is to be asked, and how; whoever knows more of the game than we says so."""
        self._our_id = our_id
        self._config = config
        self._waits = waits
        self._full: GameFull | None = None
        self._colour = announced_colour
        self._board = Board()
        self._told: tuple[str, ...] = ()
        self._clock: GameClock | None = None
        self._idle_since: float | None = None
        self._earliest_move_at = -math.inf
        self._watch = StreamWatch(waits)
        self._rereading = False
        self._misreadings = 0
        self._searches = 0
        self._thought: _Thought | None = None
        self._pondering = Pondering()
        self._owed: OwedMove | None = None
        self._ending: _Ending | None = None
        rules = config.engine.draw_or_resign
        self._verdict = Verdict(rules, offered_earlier=done[Deed.DRAW_OFFER] > 0)
        self._takebacks = Takebacks(game_id, config, done[Deed.TAKEBACK])
        self._absence = Absence(game_id, waits)
        self._abort_after_s = _s(config.abort_after)
        self._over = False

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do; None if only a report can change anything."""
        moments = (
            self._thought.due_at if self._thought else None,
            self._owed.due_at if self._owed else None,
            self._ending.due_at if self._ending else None,
            self._watch.wake_at,
            self._takebacks.held_until,
            self._absence.claim_at,
        )
        return None if self._over else min((moment for moment in moments if moment is not None), default=None)

    @property
    def idle_since(self) -> float | None:
        """Since when there is nothing for us to do but wait for the opponent; None if there is."""
        return self._idle_since

    @property
    def engine_wanted(self) -> bool:
        """Whether an engine thinks for us, at whoever's turn."""
        return self._thought is not None or self._pondering.active

    def join(self) -> None:
        """Somebody sits down at the game, perhaps not for the first time: nothing under way counts any more."""
        self._watch = StreamWatch(self._waits)
        self._thought = self._idle_since = None
        self._pondering.drop()
        self._rereading = True
        if self._owed is not None:
            self._owed.doubt()

    def handle(self, report: Report, now: float) -> list[Action]:
        """What to do about a report that concerns this game."""
        return [] if self._over else list(self._react(report, now))

    def tick(self, now: float) -> list[Action]:
        """What to do because time has passed; harmless at any moment."""
        return [] if self._over else list(self._keep_time(now))

    def postpone_abort(self, pause: timedelta) -> None:
        """Give the opponent more time for the first move."""
        self._abort_after_s += _s(pause)
        if self._ending is not None and isinstance(self._ending.command, Abort):
            self._ending.due_at += _s(pause)

    def _react(self, report: Report, now: float) -> Iterator[Action]:
        match report:
            case StreamEvent(event=GameFull() as full):
                yield from self._read_full(full, now)
            case StreamEvent(event=GameState() as state) if self._full is not None:
                yield from self._read_state(self._full, state, now, fresh=False)
            case StreamEvent(event=GameFinish(game=game)):
                status = game.status.name if game.status else GameStatus.UNKNOWN_FINISH
                yield self._end(status, game.winner)
            case StreamEvent(event=OpponentGone() as absence):
                self._absence.told(absence, now)
            case StreamOpened():
                self._watch.opened(now)
            case StreamLost(retry_in=retry_in):
                self._watch.lost(_s(retry_in), self._clock, now)
            case StreamRefused(status=status, text=text):
                yield from self._watch.refused(f"{status}: {text}", now)
            case Standing():
                yield from self._compare(report, now)
            case Advice():
                yield from self._take_advice(report, now)
            case BestMove():
                self._pondering.note(report)
                yield from self._take_best_move(report, now)
            case EngineDied(search_id=search_id, reason=reason):
                self._pondering.died(search_id)
                if self._thought is not None and self._thought.search.search_id == search_id:
                    yield from self._replace_engine(self._thought, reason, now)
            case CommandDone(command=AnswerTakeback()) | CommandFailed(command=AnswerTakeback()):
                if self._takebacks.held_until is not None:
                    yield from self._read_anew("a takeback was granted")
            case CommandDone() | CommandFailed() if self._owed and self._clock:
                yield from self._owed.hear(report, self._clock, now)

    def _keep_time(self, now: float) -> Iterator[Action]:
        if self._thought is not None and _is_due(self._thought.due_at, now):
            yield from self._hurry_engine(self._thought, now)
        if self._owed is not None:
            yield from self._owed.pursue(now)
        if self._ending is not None and _is_due(self._ending.due_at, now):
            self._ending.due_at = now + _s(self._waits.abort_retry)
            yield self._ending.command
        yield from self._watch.tick(self._clock, now)
        if _is_due(self._takebacks.held_until, now):
            yield from self._read_anew("nobody says whether a takeback was granted")
        if self._colour is not None:
            yield from self._absence.claim(self._board, self._colour, now)

    # What the stream says

    def _read_full(self, full: GameFull, now: float) -> Iterator[Action]:
        colour = self._our_colour(full)
        if colour is None:
            yield self._end(GameStatus.UNKNOWN_FINISH, None)
            return
        self._full, self._colour = full, colour
        self._rereading = False
        self._takebacks.held_until = None
        yield from self._read_state(full, full.state, now, fresh=True)

    def _our_colour(self, full: GameFull) -> Colour | None:
        """The side with our id; what was announced if neither has one; None if both are others."""
        if self._our_id == full.white.id:
            return Colour.WHITE
        if self._our_id == full.black.id:
            return Colour.BLACK
        return self._colour if None in (full.white.id, full.black.id) else None

    def _read_state(self, full: GameFull, state: GameState, now: float, *, fresh: bool) -> Iterator[Action]:
        """Take over what the stream says; `fresh` if it was written for a new connection."""
        assert self._colour is not None, "known since the first full state"
        if state.status.is_over:
            yield self._end(state.status, state.winner, len(state.moves.split()))
            return
        self._watch.told(now, fresh=fresh)
        try:
            board = self._follow(full, state)
        except (InvalidFen, InvalidMove) as error:
            yield from self._cannot_follow(str(error), now, fresh=fresh)
            return
        self._misreadings = 0
        if self._ending is not None and isinstance(self._ending.command, Resign):
            self._ending = None
        if not fresh and tuple(board.moves[: len(self._moves)]) != self._moves:
            yield from self._read_anew("a move was taken back, or an old line came late")
            return
        self._board, self._told = board, tuple(state.moves.split())
        self._clock = clock = GameClock.read(full, state, self._colour, board.turn, now)
        if self._owed is not None and not self._owed.is_for(self._moves):
            self._owed = None
        self._absence.follow(len(self._moves), our_turn=board.turn == self._colour)
        if self._owed is None:  # else the request crosses our move, and the next state shows which came first
            opponent = full.player(self._colour.other)
            yield from self._takebacks.read(clock, opponent, self._waits, now, fresh=fresh)
        if board.turn == self._colour and board.legal_moves():
            yield from self._take_turn(clock, now, fresh=fresh)
        else:
            yield from self._await_opponent(clock, now)

    def _follow(self, full: GameFull, state: GameState) -> Board:
        """The position after all moves. Raises InvalidFen or InvalidMove."""
        fen = STARTING_FEN if full.initial_fen == STANDARD_START else full.initial_fen
        # Here Lichess spells castling king-takes-rook, and so does a board in this mode.
        chess960 = full.variant.key != Variant.STANDARD
        moves = tuple(state.moves.split())
        known = len(self._told)
        if (self._board.initial_fen, self._board.chess960) != (fen, chess960) or moves[:known] != self._told:
            board, known = Board(fen, chess960=chess960), 0
        else:
            board = self._board.copy()
        for move in moves[known:]:
            board.push(move)
        return board

    def _take_turn(self, clock: GameClock, now: float, *, fresh: bool) -> Iterator[Action]:
        self._ending = self._idle_since = None
        self._watch.expect_nobody()
        if self._owed is None:
            if self._thought is None or self._thought.search.moves != self._moves:
                yield from self._begin(clock, now)
        elif fresh:
            yield from self._owed.reread(clock, now)

    def _await_opponent(self, clock: GameClock, now: float) -> Iterator[Action]:
        self._watch.expect_opponent(clock, now)
        if self._thought is not None or not self._pondering.still_possible(self._moves):
            yield from self._stop_engine()
        if self._idle_since is None:
            self._idle_since = now
        if len(self._moves) >= _ABORTABLE_PLIES or not clock.timed:
            self._ending = None
        elif self._ending is None:
            command = Abort(self.game_id, "the opponent does not move")
            self._ending = _Ending(command, now + self._abort_after_s)

    def _read_anew(self, reason: str) -> Iterator[Action]:
        """Until the stream was read anew nothing is sent; a search under way goes on."""
        self._rereading = True
        self._takebacks.held_until = None
        if self._owed is not None:
            self._owed.doubt()
        yield ReopenStream(reason)

    def _compare(self, standing: Standing, now: float) -> Iterator[Action]:
        if self._watch.has_lost(standing):
            yield self._end(GameStatus.UNKNOWN_FINISH, None)
        else:
            yield from self._watch.compare(standing, self._clock, now)

    def _cannot_follow(self, reason: str, now: float, *, fresh: bool) -> Iterator[Action]:
        """Our rules refuse what the stream says: once that is sure, nobody shall wait for our move."""
        if not fresh:
            yield from self._read_anew(reason)
            return
        self._misreadings += 1
        self._rereading = True
        if self._misreadings < _READINGS:
            self._watch.read_again_later(now)
        else:
            self._thought = self._owed = None
            self._ending = _Ending(Resign(self.game_id, reason), now)
        yield from self._keep_time(now)

    def _end(self, status: GameStatus, winner: Colour | None, plies: int | None = None) -> GameOver:
        self._over = True
        certain = status is not GameStatus.UNKNOWN_FINISH
        return GameOver(status, winner, len(self._moves) if plies is None else plies, certain)

    # Finding the move

    def _begin(self, clock: GameClock, now: float) -> Iterator[Action]:
        """The only legal move needs nobody; any other is asked of the move sources before the engine."""
        only_move, *others = self._board.legal_moves()
        if not others:
            yield from self._stop_engine()
            yield from self._owe(only_move, now)
        elif self._config.engine.has_sources:
            yield self._consult(clock, now)
        else:
            yield from self._ask_engine(clock, now)

    def _stop_engine(self) -> Iterator[Action]:
        """Whatever it thinks about is of no use any more."""
        if self._thought is not None or self._pondering.active:
            self._thought = None
            self._pondering.drop()
            yield StopThinking()

    def _consult(self, clock: GameClock, now: float) -> Consult:
        self._searches += 1
        patience_s = clock.consulting_s(self._waits, now)
        remaining_s = clock.remaining_s(now) if clock.timed else None
        assert self._full is not None, "only a game that was read is thought about"
        variant, initial_s = self._full.variant.key, self._full.initial_s
        question = Question(self._searches, variant, self._board.copy(), remaining_s, initial_s, patience_s)
        self._thought = _Thought(question, now + patience_s, second_try=False)
        return Consult(question)

    def _take_advice(self, advice: Advice, now: float) -> Iterator[Action]:
        if self._thought is None or self._thought.search.search_id != advice.search_id or self._clock is None:
            return
        try:
            moves = tuple(self._board.normalise(move) for move in advice.moves)
        except InvalidMove:
            moves = ()
        if moves and advice.wdl is not None:
            self._verdict.note_table(len(self._moves), advice.wdl)
        if len(moves) == 1:
            self._verdict.note(len(self._moves), advice.summary.score)
            self._thought = None
            yield from self._stop_engine()
            yield from self._owe(moves[0], now)
        else:
            yield from self._ask_engine(self._clock, now, moves)

    def _ask_engine(self, clock: GameClock, now: float, only: tuple[str, ...] = ()) -> Iterator[Action]:
        """It may be at it already, if the opponent did what it expected."""
        search = self._pondering.hit(self._moves)
        if search is None or only or not clock.bears(search.limits, now):
            yield self._think(clock, now, only=only)
            return
        self._thought = _Thought(search, now + clock.patience_s(search.limits, self._waits, now), second_try=False)
        yield PonderHit(search.search_id)
        early = self._pondering.early_answer(search)
        if early is not None:
            yield from self._take_best_move(early, now)

    def _think(
        self, clock: GameClock, now: float, *, second_try: bool = False, only: tuple[str, ...] = ()
    ) -> Think:
        self._searches += 1
        limits = clock.limits(self.engine, self._waits, now)
        search = Search(self._searches, self._board.initial_fen, self._board.chess960, self._moves, limits, only)
        self._thought = _Thought(search, now + clock.patience_s(limits, self._waits, now), second_try)
        return Think(search)

    def _take_best_move(self, answer: BestMove, now: float) -> Iterator[Action]:
        thought = self._thought
        if thought is None or thought.search.search_id != answer.search_id:
            return
        try:
            move = self._board.normalise(answer.move or "")
        except InvalidMove as error:
            yield from self._replace_engine(thought, str(error), now)
            return
        self._verdict.note(len(self._moves), answer.summary.score)
        yield from self._owe(move, now)
        if self._owed is not None:
            yield from self._ponder(move, answer.reply, now)

    def _owe(self, move: str, now: float) -> Iterator[Action]:
        """The legal move to play was found: it is owed, unless the game is given up."""
        self._thought = None
        command = SendMove(self.game_id, len(self._moves) + 1, move)
        holds_back = self._rereading or self._takebacks.held_until is not None
        match self._judge(move, now):
            case Judgement.DRAW:
                command = replace(command, offering_draw=True)
                yield Remember(Deed.DRAW_OFFER)
            case Judgement.RESIGN if not holds_back:
                self._ending = _Ending(Resign(self.game_id, "the game is lost"), now)
                yield from self._keep_time(now)
                return
        self._owed = OwedMove(command, self._moves, self._waits)
        pause_s = self._pause_s(now)
        self._earliest_move_at = now + pause_s + _s(self._config.move_spacing)
        if holds_back:
            self._owed.doubt()
        elif pause_s > 0.0:
            self._owed.send_at(now + pause_s)
        else:
            yield from self._owed.send(now)

    def _judge(self, move: str, now: float) -> Judgement:
        """What the scores, or a tablebase, say about playing on."""
        assert self._full is not None, "only a game that was read is thought about"
        assert self._clock is not None, "the same"
        opponent = self._full.player(self._clock.colour.other)
        return self._verdict.judge(Situation.of(self._board, move, self._clock, opponent, now))

    def _pause_s(self, now: float) -> float:
        """How much longer the operator wants a move to take that could leave now."""
        clock = self._clock
        assert clock is not None, "only a game that was read is played"
        earliest_at = self._earliest_move_at
        if self._config.fake_think_time:
            earliest_at = max(earliest_at, clock.read_at + clock.fake_think_s(len(self._moves)))
        return clock.bearable_pause_s(earliest_at - now, now)

    def _ponder(self, move: str, reply: str | None, now: float) -> Iterator[Action]:
        if not self.engine.ponder or self._clock is None:
            return
        limits = self._clock.limits_after_move(self.engine, self._waits, now)
        search = self._pondering.suppose(self._board, move, reply, self._searches + 1, limits)
        if search is not None:
            self._searches += 1
            yield Think(search)

    def _hurry_engine(self, thought: _Thought, now: float) -> Iterator[Action]:
        """The engine used up its time: it is told to stop once, and then it is hung. Move sources are just given up."""
        if isinstance(thought.search, Question) and self._clock is not None:
            yield from self._ask_engine(self._clock, now)
        elif thought.told_to_stop:
            yield from self._replace_engine(thought, "does not stop", now)
        elif self._clock is not None:
            thought.told_to_stop = True
            thought.due_at = now + self._clock.stopping_s(self._waits, now)
            yield StopThinking()

    def _replace_engine(self, thought: _Thought, reason: str, now: float) -> Iterator[Action]:
        """A new engine gets one try if the clock allows; then the daemon itself finds a move."""
        if thought.due_at is None:
            self._thought = None
            self._ending = _Ending(Resign(self.game_id, f"no move was found: {reason}"), now)
            yield from self._keep_time(now)
            return
        assert isinstance(thought.search, Search), "only an engine is replaced"
        yield KillEngine(reason)
        clock = self._clock
        assert clock is not None, "only a game that was read is thought about"
        floor_s = _s(self._waits.engine_restart_floor)
        if not thought.second_try and clock.remaining_s(now) > floor_s:
            yield self._think(clock, now, second_try=True, only=thought.search.only)
        else:
            thought.due_at = None
            yield Fallback(thought.search.search_id, self._board.copy(), clock.fallback_s(self._waits, now))

    @property
    def _moves(self) -> tuple[str, ...]:
        return tuple(self._board.moves)


def _is_due(due_at: float | None, now: float) -> bool:
    return due_at is not None and now >= due_at


def _s(duration: timedelta) -> float:
    return duration.total_seconds()
