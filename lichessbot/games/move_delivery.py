"""A move that was found is owed until the stream shows it or the game is over.

Pure. Whether a try whose answer was lost took effect is read from the stream, never guessed; after
a refusal nothing is sent before the stream was read anew.
"""

from collections.abc import Iterator
from enum import Enum, auto

from lichessbot.backoff import Backoff
from lichessbot.errors import RateLimited, Refused
from lichessbot.games.actions import Action, ReopenStream
from lichessbot.games.time_budget import GameClock
from lichessbot.lichess.commands import CommandDone, CommandFailed, SendMove
from lichessbot.timeouts import Timeouts


class _Stage(Enum):
    NEW = auto()
    SENT = auto()
    """On its way: an answer should come before it is due."""
    WAITING = auto()
    """To be sent again when due."""
    PLAYED = auto()
    """Acknowledged: the stream should show it before it is due."""
    DOUBTED = auto()
    """Refused, not answered or not shown: nothing is sent before the stream was read anew."""


class MoveDelivery:
    """One move on its way to Lichess."""

    def __init__(self, command: SendMove, moves_before: tuple[str, ...], timeouts: Timeouts) -> None:
        self._command = command
        self._moves_before = moves_before
        self._timeouts = timeouts
        self._backoff = Backoff(timeouts.backoff_first, timeouts.game_backoff_ceiling)
        self._stage = _Stage.NEW
        self.due_at: float | None = None
        """When `pursue` has something to do; None if only the stream or an answer can change anything."""

    def is_for(self, moves: tuple[str, ...]) -> bool:
        """Whether it was found in the position after `moves`."""
        return self._moves_before == moves

    def send(self, now: float) -> Iterator[Action]:
        self._move_on(_Stage.SENT, now + self._timeouts.stuck_move.total_seconds())
        yield self._command

    def send_at(self, due_at: float) -> None:
        """Keep it until then."""
        self._move_on(_Stage.WAITING, due_at)

    def doubt(self) -> None:
        """Send nothing before the stream was read anew."""
        self._move_on(_Stage.DOUBTED)

    def reread(self, clock: GameClock, now: float) -> Iterator[Action]:
        """The stream was read anew and does not show the move."""
        if self._stage is _Stage.DOUBTED:
            self._wait(clock, self._backoff.next_delay().total_seconds(), now)
            yield from self.pursue(now)

    def hear(self, report: CommandDone | CommandFailed, clock: GameClock, now: float) -> Iterator[Action]:
        """The answer to a try; not every answer is to ours."""
        if report.command != self._command or self._stage is not _Stage.SENT:
            return
        if isinstance(report, CommandDone):
            echo_s = clock.opening_s(self._timeouts.move_echo.total_seconds(), self._timeouts, now)
            self._move_on(_Stage.PLAYED, now + echo_s)
        elif isinstance(report.error, Refused):
            # Perhaps an earlier try got through, perhaps the game ended: only the stream knows.
            self.doubt()
            yield ReopenStream(str(report.error))
        elif isinstance(report.error, RateLimited):
            pause_s = clock.refused_move_pause_s(report.error.pause.total_seconds(), self._timeouts, now)
            self._move_on(_Stage.WAITING, now + pause_s)
        else:
            self._wait(clock, self._backoff.next_delay().total_seconds(), now)
            yield from self.pursue(now)

    def pursue(self, now: float) -> Iterator[Action]:
        """Time has passed."""
        if self.due_at is None or now < self.due_at:
            return
        if self._stage is _Stage.WAITING:
            yield from self.send(now)
        else:
            self.doubt()
            yield ReopenStream("our move does not show")

    def _wait(self, clock: GameClock, planned_s: float, now: float) -> None:
        self._move_on(_Stage.WAITING, now + clock.retry_pause_s(planned_s, self._timeouts, now))

    def _move_on(self, stage: _Stage, due_at: float | None = None) -> None:
        self._stage = stage
        self.due_at = due_at
