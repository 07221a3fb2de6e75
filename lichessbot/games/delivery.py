"""The delivery of our moves, and of what ends the game: repeated until the stream shows it or the game is over.

Pure. If a request got no answer, only the stream tells whether the move was played. It is repeated all the same, as it
is illegal after itself; but a king that castles in place could make the same move once more. After that, as after a
refusal, nothing is sent until the stream was read again.
"""

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum, auto

from engine.facade import Board
from lichessbot.backoff import Backoff, doubled
from lichessbot.errors import RateLimited, Refused
from lichessbot.games.actions import Action, ReopenStream, Withdraw
from lichessbot.games.time_budget import GameClock
from lichessbot.lichess.commands import Abort, CommandDone, CommandFailed, Resign, SendMove
from lichessbot.timeouts import Timeouts, is_due


class _Stage(Enum):
    NEW = auto()
    PACED = auto()
    """To be sent when due, for the first time."""
    SENT = auto()
    """The answer is due."""
    WAITING = auto()
    """To be sent again when due."""
    PLAYED = auto()
    """Acknowledged; the stream should show it before it is due."""
    HELD = auto()
    """Refused, not answered or not shown: nothing is sent until the stream was read again."""


class MoveDelivery:
    """One move on its way to Lichess."""

    def __init__(self, command: SendMove, board: Board, timeouts: Timeouts) -> None:
        """`board`: the position before the move."""
        self.command = command
        self._moves_before = tuple(board.moves)
        self._castles_in_place = castles_in_place(board, command.move)
        self._timeouts = timeouts
        self._backoff = Backoff(timeouts.backoff_first, timeouts.game_backoff_ceiling)
        self._stage = _Stage.NEW
        self.due_at: float | None = None
        """When `tick` has something to do; None if only a report can change anything."""

    def is_for(self, moves: tuple[str, ...]) -> bool:
        """Return whether the move was found in the position after `moves`."""
        return self._moves_before == moves

    def send(self, now: float) -> Iterator[Action]:
        self._enter(_Stage.SENT, now + self._timeouts.stuck_move.total_seconds())
        yield self.command

    def send_at(self, due_at: float) -> None:
        self._enter(_Stage.PACED, due_at)

    @property
    def is_paced(self) -> bool:
        """Return whether the move was not sent yet and waits only for its pace."""
        return self._stage is _Stage.PACED

    def offer_draw(self) -> None:
        """Send the move with a draw offer, which accepts the opponent's."""
        assert self.is_paced, "a move that was sent stays the same"
        self.command = replace(self.command, offering_draw=True)

    def hold(self) -> None:
        """Send nothing until the stream was read again."""
        self._enter(_Stage.HELD)

    def read_clock(self, clock: GameClock, now: float) -> None:
        """Wait no longer than the clock of a new connection allows: the old one may be wrong."""
        if self.due_at is None or self._stage not in (_Stage.PACED, _Stage.WAITING):
            return
        wait_s = self.due_at - now
        allowed_s = clock.longest_pause_s(now) if self.is_paced else clock.refused_move_pause_s(wait_s, now)
        self.due_at = now + min(wait_s, allowed_s)

    def resume(self, clock: GameClock, now: float) -> Iterator[Action]:
        """Send again: the stream was read and does not show the move."""
        if self._stage is _Stage.HELD:
            yield from self._retry(clock, now)

    def handle(self, report: CommandDone | CommandFailed, clock: GameClock, now: float) -> Iterator[Action]:
        """Handle the answer to a request of this game; other answers are ignored."""
        if report.command != self.command or self._stage is not _Stage.SENT:
            return
        if isinstance(report, CommandDone):
            echo_s = clock.opening_s(self._timeouts.move_echo.total_seconds(), now)
            self._enter(_Stage.PLAYED, now + echo_s)
        elif isinstance(report.error, Refused):
            # An earlier request may have got through, or the game may be over: only the stream tells.
            self.hold()
            yield ReopenStream(str(report.error))
        elif isinstance(report.error, RateLimited):
            pause_s = clock.refused_move_pause_s(report.error.pause.total_seconds(), now)
            self._enter(_Stage.WAITING, now + pause_s)
        elif self._castles_in_place:
            self.hold()
            yield ReopenStream("castling got no answer")
        else:
            yield from self._retry(clock, now)

    def tick(self, now: float) -> Iterator[Action]:
        """Do what is due."""
        if not is_due(self.due_at, now):
            return
        if self._stage in (_Stage.PACED, _Stage.WAITING):
            yield from self.send(now)
        else:
            self.hold()
            yield ReopenStream("our move does not show")

    def _retry(self, clock: GameClock, now: float) -> Iterator[Action]:
        self.command = replace(self.command, answer_s=clock.move_answer_s(now))
        planned_s = self._backoff.next_delay().total_seconds()
        self._enter(_Stage.WAITING, now + clock.retry_pause_s(planned_s, now))
        yield from self.tick(now)

    def _enter(self, stage: _Stage, due_at: float | None = None) -> None:
        self._stage = stage
        self.due_at = due_at


class EndDelivery:
    """The command that ends the game, repeated until the game is over or goes on."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._command: Abort | Resign | None = None
        self._is_sent = False
        self._times_sent = 0
        self.due_at: float | None = None
        """When to send it; None if the game is not to end."""

    def plan(self, command: Abort | Resign, due_at: float) -> None:
        """End the game at `due_at`."""
        self._command, self._is_sent, self._times_sent, self.due_at = command, False, 0, due_at

    def drop(self, kind: type[Abort | Resign]) -> Iterator[Action]:
        """Let the game go on if such a command was to end it, which a rate limit may still hold back."""
        if isinstance(self._command, kind):
            yield from self._withdraw()
            self._command = self.due_at = None

    def postpone_abort(self, pause_s: float) -> Iterator[Action]:
        """Give the opponent more time for the first move."""
        if self.due_at is not None and isinstance(self._command, Abort):
            yield from self._withdraw()
            self.due_at += pause_s

    def tick(self, now: float, *, sees_game: bool) -> Iterator[Action]:
        """Send the command if it is due; no abort unless the stream would show that the opponent has moved."""
        if self._command is None or not is_due(self.due_at, now):
            return
        first, ceiling = self._timeouts.abort_retry, self._timeouts.abort_retry_ceiling
        self.due_at = now + doubled(first, self._times_sent, ceiling).total_seconds()
        if isinstance(self._command, Abort) and not sees_game:
            yield from self._withdraw()
        else:
            self._is_sent = True
            self._times_sent += 1
            yield self._command

    def _withdraw(self) -> Iterator[Action]:
        if self._command is not None and self._is_sent:
            self._is_sent = False
            yield Withdraw(self._command)


def castles_in_place(board: Board, move: str) -> bool:
    """Return whether castling moves only the rook, as Chess960 allows: `g1h1` is then legal again after a reply."""
    origin = move[:2]
    if "@" in origin or board.piece_at(origin) not in ("K", "k"):
        return False
    return board.after(move).piece_at(origin) == board.piece_at(origin)
