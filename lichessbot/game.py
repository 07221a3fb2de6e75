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
    GameOver,
    Remember,
    ReopenStream,
)
from lichessbot.clock import GameClock, longest_unread_s
from lichessbot.config import Config, EngineConfig
from lichessbot.events import STANDARD_START, GameFinish, GameFull, GameInfo, GameState, OpponentGone
from lichessbot.messages import (
    Abort,
    Advice,
    AnswerTakeback,
    BestMove,
    CommandDone,
    CommandFailed,
    Deed,
    EngineDied,
    EngineReady,
    Report,
    Resign,
    SendMove,
    Standing,
    StreamEvent,
    StreamLost,
    StreamOpened,
    StreamRefused,
)
from lichessbot.owed_move import OwedMove
from lichessbot.stream_watch import StreamWatch
from lichessbot.takebacks import Takebacks
from lichessbot.thinking import Position, Thinking
from lichessbot.verdict import Judgement, Situation, Verdict
from lichessbot.vocabulary import Colour, GameStatus, Variant
from lichessbot.waits import Waits

# Until both have moved a game can be aborted, and Lichess ends it by itself only days later.
_ABORTABLE_PLIES: Final = 2
NOTHING_DONE: Final[Mapping[Deed, int]] = MappingProxyType(dict.fromkeys(Deed, 0))
# A state that our rules refuse is read so often before the game is resigned.
_READINGS: Final = 3


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
        self._thinking = Thinking(config.engine, waits)
        self._owed: OwedMove | None = None
        self._ending: _Ending | None = None
        self._verdict = Verdict(config.engine.draw_or_resign, offered_earlier=done[Deed.DRAW_OFFER] > 0)
        self._takebacks = Takebacks(game_id, config, done[Deed.TAKEBACK])
        self._absence = Absence(game_id, waits)
        self._abort_after_s = _s(config.abort_after)
        self._over = False

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do; None if only a report can change anything."""
        moments = (
            self._thinking.due_at,
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
    def engine(self) -> EngineConfig:
        """Which engine is to be asked, how, who before it, and what its scores lead to."""
        return self._thinking.engine

    @engine.setter
    def engine(self, engine: EngineConfig) -> None:
        """For whoever knows more of the game than we."""
        self._thinking.engine = engine
        self._verdict.rules = engine.draw_or_resign

    @property
    def engine_wanted(self) -> bool:
        """Whether an engine thinks for us, at whoever's turn."""
        return self._thinking.engine_wanted

    def is_asked(self, search_id: int) -> bool:
        """Return whether the answer to this search or question is waited for."""
        return self._thinking.is_asked(search_id)

    def join(self, now: float, info: GameInfo | None = None) -> None:
        """Somebody sits down at the game, perhaps not for the first time: nothing under way counts any more.

        `info` is what was announced of it.
        """
        self._watch = StreamWatch(self._waits, longest_unread_s(info, self._waits))
        self._watch.begun(None, now)
        self._idle_since = None
        self._thinking.drop()
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
            case StreamEvent(event=GameFull() as full, received_at=received_at):
                yield from self._read_full(full, received_at, now)
            case StreamEvent(event=GameState() as state, received_at=received_at) if self._full is not None:
                yield from self._read_state(self._full, state, received_at, now, fresh=False)
            case StreamEvent(event=GameFinish(game=game)):
                status = game.status.name if game.status else GameStatus.UNKNOWN_FINISH
                yield self._end(status, game.winner)
            case StreamEvent(event=OpponentGone() as absence):
                self._absence.told(absence, now)
            case StreamOpened():
                self._watch.opened(self._clock, now)
            case StreamLost():
                self._watch.lost(report, self._clock, now)
            case StreamRefused():
                yield from self._watch.refused(report, now)
                if self._colour is None and self._watch.is_refused_for_good:
                    # Only we thought that there is such a game, and a look that would tell may be long in coming.
                    yield self._end(GameStatus.UNKNOWN_FINISH, None)
            case Standing():
                yield from self._compare(report, now)
            case Advice():
                yield from self._take_advice(report, now)
            case BestMove():
                self._thinking.note(report)
                yield from self._take_best_move(report, now)
            case EngineReady() if self._clock is not None:
                self._thinking.engine_is_ready(self._clock, now)
            case EngineDied(search_id=search_id, reason=reason):
                self._thinking.died(search_id)
                if self._thinking.is_asked(search_id):
                    yield from self._replace_engine(reason, now)
            case CommandDone(command=AnswerTakeback()) | CommandFailed(command=AnswerTakeback()):
                if self._takebacks.held_until is not None:
                    yield from self._read_anew("a takeback was granted")
            case CommandDone() | CommandFailed() if self._owed and self._clock:
                yield from self._owed.hear(report, self._clock, now)

    def _keep_time(self, now: float) -> Iterator[Action]:
        if _is_due(self._thinking.due_at, now):
            yield from self._hurry(now)
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

    def _read_full(self, full: GameFull, received_at: float, now: float) -> Iterator[Action]:
        colour = self._our_colour(full)
        if colour is None:
            yield self._end(GameStatus.UNKNOWN_FINISH, None)
            return
        self._full, self._colour = full, colour
        self._rereading = False
        self._takebacks.held_until = None
        yield from self._read_state(full, full.state, received_at, now, fresh=True)

    def _our_colour(self, full: GameFull) -> Colour | None:
        """The side with our id; what was announced if neither has one; None if both are others."""
        if self._our_id == full.white.id:
            return Colour.WHITE
        if self._our_id == full.black.id:
            return Colour.BLACK
        return self._colour if None in (full.white.id, full.black.id) else None

    def _read_state(
        self, full: GameFull, state: GameState, received_at: float, now: float, *, fresh: bool
    ) -> Iterator[Action]:
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
        self._clock = clock = GameClock.read(full, state, self._colour, board.turn, received_at)
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
            if not self._thinking.is_about(self._moves):
                yield from self._begin(now)
        elif fresh:
            yield from self._owed.reread(clock, now)

    def _await_opponent(self, clock: GameClock, now: float) -> Iterator[Action]:
        self._watch.expect_opponent(clock, now)
        yield from self._thinking.await_opponent(self._moves)
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
            self._thinking.done()
            self._owed = None
            self._ending = _Ending(Resign(self.game_id, reason), now)
        yield from self._keep_time(now)

    def _end(self, status: GameStatus, winner: Colour | None, plies: int | None = None) -> GameOver:
        self._over = True
        certain = status is not GameStatus.UNKNOWN_FINISH
        return GameOver(status, winner, len(self._moves) if plies is None else plies, certain)

    # Finding the move

    @property
    def _position(self) -> Position:
        assert self._clock is not None, "only a game that was read is thought about"
        return Position(self._board, self._clock)

    def _begin(self, now: float) -> Iterator[Action]:
        """The only legal move needs nobody; any other is asked of the move sources before the engine."""
        assert self._full is not None, "only a game that was read is thought about"
        only_move, *others = self._board.legal_moves()
        if not others:
            yield from self._thinking.stop()
            yield from self._owe(only_move, now)
        elif self.engine.has_sources:
            yield self._thinking.consult(self._position, self._full, now)
        else:
            yield from self._ask_engine(now)

    def _ask_engine(self, now: float, only: tuple[str, ...] = ()) -> Iterator[Action]:
        yield from self._thinking.ask(self._position, now, only)
        early = self._thinking.early_answer()
        if early is not None:
            yield from self._take_best_move(early, now)

    def _take_advice(self, advice: Advice, now: float) -> Iterator[Action]:
        if not self._thinking.is_asked(advice.search_id):
            return
        try:
            moves = tuple(self._board.normalise(move) for move in advice.moves)
        except InvalidMove:
            moves = ()
        if moves and advice.wdl is not None:
            self._verdict.note_table(len(self._moves), advice.wdl)
        if len(moves) == 1:
            self._verdict.note(len(self._moves), advice.summary.score)
            self._thinking.done()
            yield from self._thinking.stop()
            yield from self._owe(moves[0], now)
        else:
            yield from self._ask_engine(now, moves)

    def _take_best_move(self, answer: BestMove, now: float) -> Iterator[Action]:
        if not self._thinking.is_asked(answer.search_id):
            return
        try:
            move = self._board.normalise(answer.move or "")
        except InvalidMove as error:
            yield from self._replace_engine(str(error), now)
            return
        self._verdict.note(len(self._moves), answer.summary.score)
        yield from self._owe(move, now)
        if self._owed is not None:
            yield from self._thinking.ponder(self._position, move, answer.reply, now)

    def _owe(self, move: str, now: float) -> Iterator[Action]:
        """The legal move to play was found: it is owed, unless the game is given up."""
        self._thinking.done()
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

    def _hurry(self, now: float) -> Iterator[Action]:
        """Move sources are just given up; an engine is told to stop once, and then it is hung."""
        if self._thinking.is_hung:
            yield from self._replace_engine("does not stop", now)
        elif self._clock is not None:
            yield from self._thinking.hurry(self._position, now)
            early = self._thinking.early_answer()
            if early is not None:
                yield from self._take_best_move(early, now)

    def _replace_engine(self, reason: str, now: float) -> Iterator[Action]:
        if self._thinking.has_failed:
            self._thinking.done()
            self._ending = _Ending(Resign(self.game_id, f"no move was found: {reason}"), now)
            yield from self._keep_time(now)
        else:
            yield from self._thinking.replace_engine(self._position, reason, now)

    @property
    def _moves(self) -> tuple[str, ...]:
        return tuple(self._board.moves)


def _is_due(due_at: float | None, now: float) -> bool:
    return due_at is not None and now >= due_at


def _s(duration: timedelta) -> float:
    return duration.total_seconds()
