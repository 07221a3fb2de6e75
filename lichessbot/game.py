"""One game as a state machine: what happened goes in, what to do comes out.

Pure: no I/O, no threads, no clock; `now` is monotonic seconds, passed in. The position is rebuilt
from the start position and the whole move list at every state, which may be shorter than before.
A move that was found is owed until the stream shows it or the game is over; Lichess never gets two
different moves for one ply unless the stream was read in between.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from typing import Final

from engine.facade import STARTING_FEN, Board, InvalidFen, InvalidMove
from lichessbot.backoff import Backoff
from lichessbot.clock import GameClock
from lichessbot.config import Config
from lichessbot.errors import RateLimited, Refused
from lichessbot.events import STANDARD_START, GameFinish, GameFull, GameState
from lichessbot.messages import (
    Abort,
    BestMove,
    CommandDone,
    CommandFailed,
    EngineDied,
    Report,
    Resign,
    Search,
    SendMove,
    StreamEvent,
    StreamRefused,
)
from lichessbot.vocabulary import Colour, GameStatus, Variant
from lichessbot.waits import Waits

# Until both have moved a game can be aborted, and Lichess ends it by itself only days later.
_ABORTABLE_PLIES: Final = 2


@dataclass(frozen=True, slots=True)
class Think:
    """Ask the engine, starting one if none runs; a search under way is dropped."""

    search: Search


@dataclass(frozen=True, slots=True)
class StopThinking:
    """Have the engine answer now."""


@dataclass(frozen=True, slots=True)
class KillEngine:
    reason: str


@dataclass(frozen=True, slots=True)
class Fallback:
    """Find a legal move without the engine, as the answer to `search_id`."""

    search_id: int
    board: Board
    time_s: float


@dataclass(frozen=True, slots=True)
class ReopenStream:
    """Read the game anew from a new connection."""

    reason: str


@dataclass(frozen=True, slots=True)
class GameOver:
    """Nothing more to do; always the last action."""

    status: GameStatus
    winner: Colour | None
    plies: int


Action = Think | StopThinking | KillEngine | Fallback | ReopenStream | GameOver | SendMove | Abort | Resign


class _Stage(Enum):
    """Where an owed move stands."""

    SENT = auto()
    """On its way: an answer will come."""
    WAITING = auto()
    """To be sent again when due."""
    PLAYED = auto()
    """Acknowledged: the stream should show it before it is due."""
    DOUBTED = auto()
    """Refused, or acknowledged and not shown: nothing is sent before the stream was read anew."""


@dataclass(slots=True)
class _OwedMove:
    command: SendMove
    moves_before: tuple[str, ...]
    backoff: Backoff
    stage: _Stage = _Stage.SENT
    due_at: float | None = None

    def move_on(self, stage: _Stage, due_at: float | None = None) -> None:
        self.stage = stage
        self.due_at = due_at


@dataclass(slots=True)
class _Thought:
    search: Search
    due_at: float | None
    """When the engine is told to stop and, once told, counts as hung; None: no engine is asked."""
    second_try: bool
    told_to_stop: bool = False


@dataclass(slots=True)
class _Ending:
    """A command that would end the game, given again and again until the game is over."""

    command: Abort | Resign
    due_at: float


class Game:
    """The state of one game, from its announcement to its end."""

    def __init__(self, game_id: str, our_id: str, config: Config, waits: Waits) -> None:
        self.game_id = game_id
        self._our_id = our_id
        self._config = config
        self._waits = waits
        self._full: GameFull | None = None
        self._colour = Colour.WHITE
        self._board = Board()
        self._clock: GameClock | None = None
        self._searches = 0
        self._thought: _Thought | None = None
        self._owed: _OwedMove | None = None
        self._ending: _Ending | None = None
        self._over = False

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do; None if only a report can change anything."""
        moments = (
            self._thought.due_at if self._thought else None,
            self._owed.due_at if self._owed else None,
            self._ending.due_at if self._ending else None,
        )
        return min((moment for moment in moments if moment is not None), default=None)

    def handle(self, report: Report, now: float) -> list[Action]:
        """What to do about a report that concerns this game."""
        return [] if self._over else list(self._react(report, now))

    def tick(self, now: float) -> list[Action]:
        """What to do because time has passed; harmless at any moment."""
        return [] if self._over else list(self._keep_time(now))

    def _react(self, report: Report, now: float) -> Iterator[Action]:
        match report:
            case StreamEvent(event=GameFull() as full):
                yield from self._read_full(full, now)
            case StreamEvent(event=GameState() as state) if self._full is not None:
                yield from self._read_state(self._full, state, now, fresh=False)
            case StreamEvent(event=GameFinish(game=game)):
                status = game.status.name if game.status else GameStatus.UNKNOWN_FINISH
                yield self._end(status, game.winner, len(self._moves))
            case StreamRefused():
                yield self._end(GameStatus.UNKNOWN_FINISH, None, len(self._moves))
            case BestMove(search_id=search_id, move=move):
                yield from self._take_best_move(search_id, move, now)
            case EngineDied(search_id=search_id, reason=reason):
                if self._thought is not None and self._thought.search.search_id == search_id:
                    yield from self._replace_engine(self._thought, reason, now)
            case CommandDone() | CommandFailed() if self._owed and self._owed.command == report.command:
                yield from self._hear_answer(self._owed, report, now)

    def _keep_time(self, now: float) -> Iterator[Action]:
        if self._thought is not None and _is_due(self._thought.due_at, now):
            yield from self._hurry_engine(self._thought, now)
        if self._owed is not None and _is_due(self._owed.due_at, now):
            yield from self._pursue_move(self._owed)
        if self._ending is not None and _is_due(self._ending.due_at, now):
            self._ending.due_at = now + _s(self._waits.abort_retry)
            yield self._ending.command

    # What the stream says

    def _read_full(self, full: GameFull, now: float) -> Iterator[Action]:
        if self._our_id not in (full.white.id, full.black.id):
            yield self._end(GameStatus.UNKNOWN_FINISH, None, len(self._moves))
            return
        self._full = full
        self._colour = Colour.WHITE if full.white.id == self._our_id else Colour.BLACK
        yield from self._read_state(full, full.state, now, fresh=True)

    def _read_state(self, full: GameFull, state: GameState, now: float, *, fresh: bool) -> Iterator[Action]:
        """Take over what the stream says; `fresh` if it was written for a new connection."""
        if state.status.is_over:
            yield self._end(state.status, state.winner, len(state.moves.split()))
            return
        try:
            self._board = _board(full, state)
        except (InvalidFen, InvalidMove) as error:
            yield from self._cannot_follow(str(error), now, fresh=fresh)
            return
        self._clock = GameClock.read(full, state, self._colour, self._board.turn, now)
        if self._owed is not None and self._owed.moves_before != self._moves:
            self._owed = None
        if self._board.turn == self._colour and self._board.legal_moves():
            yield from self._take_turn(self._clock, now, fresh=fresh)
        else:
            yield from self._await_opponent(now)

    def _take_turn(self, clock: GameClock, now: float, *, fresh: bool) -> Iterator[Action]:
        self._ending = None
        if self._owed is None:
            if self._thought is None or self._thought.search.moves != self._moves:
                yield self._think(clock, now, second_try=False)
        elif fresh and self._owed.stage is _Stage.DOUBTED:
            self._owed.move_on(_Stage.WAITING, now + _s(self._owed.backoff.next_delay()))
            yield from self._keep_time(now)

    def _await_opponent(self, now: float) -> Iterator[Action]:
        if self._thought is not None:
            self._thought = None
            yield StopThinking()
        if len(self._moves) >= _ABORTABLE_PLIES:
            self._ending = None
        elif self._ending is None:
            command = Abort(self.game_id, "the opponent does not move")
            self._ending = _Ending(command, now + _s(self._config.abort_after))

    def _cannot_follow(self, reason: str, now: float, *, fresh: bool) -> Iterator[Action]:
        """Our rules refuse what the stream says: once that is sure, nobody shall wait for our move."""
        self._thought = self._owed = None
        if not fresh:
            yield ReopenStream(reason)
            return
        self._ending = _Ending(Resign(self.game_id, reason), now)
        yield from self._keep_time(now)

    def _end(self, status: GameStatus, winner: Colour | None, plies: int) -> GameOver:
        self._over = True
        self._thought = self._owed = self._ending = None
        return GameOver(status, winner, plies)

    # Finding the move

    def _think(self, clock: GameClock, now: float, *, second_try: bool) -> Think:
        self._searches += 1
        limits = clock.limits(self._config.engine, self._waits, now)
        search = Search(self._searches, self._board.initial_fen, self._board.chess960, self._moves, limits)
        self._thought = _Thought(search, now + clock.patience_s(limits, self._waits, now), second_try)
        return Think(search)

    def _take_best_move(self, search_id: int, move: str | None, now: float) -> Iterator[Action]:
        thought = self._thought
        if thought is None or thought.search.search_id != search_id:
            return
        try:
            command = SendMove(self.game_id, len(self._moves) + 1, self._board.normalise(move or ""))
        except InvalidMove as error:
            yield from self._replace_engine(thought, str(error), now)
            return
        self._thought = None
        backoff = Backoff(self._waits.backoff_first, self._waits.game_backoff_ceiling)
        self._owed = _OwedMove(command, self._moves, backoff)
        yield command

    def _hurry_engine(self, thought: _Thought, now: float) -> Iterator[Action]:
        """The engine used up its time: it is told to stop once, and then it is hung."""
        if thought.told_to_stop:
            yield from self._replace_engine(thought, "does not stop", now)
        elif self._clock is not None:
            thought.told_to_stop = True
            thought.due_at = now + self._clock.stopping_s(self._waits, now)
            yield StopThinking()

    def _replace_engine(self, thought: _Thought, reason: str, now: float) -> Iterator[Action]:
        """A new engine gets one try if the clock allows; then the daemon itself finds a move."""
        if thought.due_at is None:
            yield from self._cannot_follow(f"no move was found: {reason}", now, fresh=True)
            return
        yield KillEngine(reason)
        clock = self._clock
        assert clock is not None, "only a game that was read is thought about"
        floor_s = _s(self._waits.engine_restart_floor)
        if not thought.second_try and clock.remaining_s(now) > floor_s:
            yield self._think(clock, now, second_try=True)
        else:
            thought.due_at = None
            yield Fallback(thought.search.search_id, self._board.copy(), clock.fallback_s(self._waits, now))

    # Getting the move across

    def _hear_answer(self, owed: _OwedMove, report: CommandDone | CommandFailed, now: float) -> Iterator[Action]:
        if owed.stage is not _Stage.SENT:
            return
        if isinstance(report, CommandDone):
            owed.move_on(_Stage.PLAYED, now + _s(self._waits.move_echo))
        elif isinstance(report.error, Refused):
            # Perhaps an earlier try got through, perhaps the game ended: only the stream knows.
            owed.move_on(_Stage.DOUBTED)
            yield ReopenStream(str(report.error))
        elif isinstance(report.error, RateLimited) and self._clock is not None:
            asked_s = _s(report.error.pause)
            pause_s = self._clock.refused_move_pause_s(asked_s, self._waits, now)
            owed.move_on(_Stage.WAITING, now + pause_s)
        else:
            owed.move_on(_Stage.WAITING, now + _s(owed.backoff.next_delay()))
            yield from self._keep_time(now)

    def _pursue_move(self, owed: _OwedMove) -> Iterator[Action]:
        if owed.stage is _Stage.WAITING:
            owed.move_on(_Stage.SENT)
            yield owed.command
        else:
            owed.move_on(_Stage.DOUBTED)
            yield ReopenStream("our move does not show")

    @property
    def _moves(self) -> tuple[str, ...]:
        return tuple(self._board.moves)


def _board(full: GameFull, state: GameState) -> Board:
    """The position after all moves. Raises InvalidFen or InvalidMove."""
    fen = STARTING_FEN if full.initial_fen == STANDARD_START else full.initial_fen
    # Here Lichess spells castling king-takes-rook, and so does a board in this mode.
    board = Board(fen, chess960=full.variant.key != Variant.STANDARD)
    for move in state.moves.split():
        board.push(move)
    return board


def _is_due(due_at: float | None, now: float) -> bool:
    return due_at is not None and now >= due_at


def _s(duration: timedelta) -> float:
    return duration.total_seconds()
