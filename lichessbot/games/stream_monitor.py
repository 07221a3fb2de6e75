"""Suspicions about the stream of one game: that it kept something from us, or will come back too late.

Pure. A stream that looks alive may have lost the line with the opponent's move, with the end of the
game, or with the state that should come first; a refused one may belong to a game that goes on. The
state is then read anew, or compared with the games in progress.
"""

import math
from collections.abc import Iterator
from datetime import timedelta

from lichessbot.backoff import Backoff
from lichessbot.games.actions import Action, ReopenStream
from lichessbot.games.time_budget import GameClock
from lichessbot.inbox import Standing
from lichessbot.lichess.streams import PlayingWanted, StreamLost, StreamRefused
from lichessbot.timeouts import Timeouts

# A game that is listed as ours, but refused so often in a row, cannot be played by us.
_MOST_REFUSALS = 8


class StreamMonitor:
    """What is due when, as long as the stream says nothing."""

    def __init__(self, timeouts: Timeouts, longest_unread_s: float = math.inf) -> None:
        """`longest_unread_s` is the longest pause before the first state, which alone tells the clocks."""
        self._timeouts = timeouts
        self._longest_unread_s = longest_unread_s
        self._backoff = Backoff(timeouts.backoff_first, timeouts.game_backoff_ceiling)
        self._asked_in_vain = False
        self._patience_s = self._least_patience_s = 0.0
        self._refusals = 0
        self._refused = False
        self._heard_at: float | None = None
        self._opening_due_at: float | None = None
        self._state_due_at: float | None = None
        self._reopen_due_at: float | None = None
        self._opponent_due_at: float | None = None

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        moments = (self._opening_due_at, self._state_due_at, self._reopen_due_at, self._opponent_due_at)
        return min((moment for moment in moments if moment is not None), default=None)

    # What is heard

    def begun(self, clock: GameClock | None, now: float, pause_s: float = 0.0) -> None:
        """After a pause a connection will be opened."""
        planned_s = self._bearable_s(self._timeouts.stream_answer, clock, now + pause_s)
        self._patience_s = max(planned_s, self._least_patience_s)
        self._opening_due_at = now + pause_s + self._patience_s

    def opened(self, clock: GameClock | None, now: float) -> None:
        """A new connection stands: its first line is the state."""
        self._heard_at = now
        self._refused = False
        self._least_patience_s = 0.0
        self._opening_due_at = self._reopen_due_at = None
        self._state_due_at = now + self._bearable_s(self._timeouts.first_state, clock, now)

    def told(self, now: float, *, fresh: bool) -> None:
        """The stream told the state; `fresh` if it was written for a new connection."""
        self._heard_at = now
        if fresh:
            self._opening_due_at = self._state_due_at = None
            self._asked_in_vain = False
            self._refusals = 0
            self._backoff.reset()

    def expect_opponent(self, clock: GameClock, now: float) -> None:
        """It is the opponent's turn."""
        self._opponent_due_at = now + clock.silence_s(self._timeouts, now)

    def expect_nobody(self) -> None:
        """It is our turn, or the game is over."""
        self._opponent_due_at = None

    def lost(self, loss: StreamLost, clock: GameClock | None, now: float) -> None:
        """The connection is gone. Its reader's pause may be longer than the clock allows."""
        self._state_due_at = None
        retry_in_s = loss.retry_in.total_seconds()
        if clock is None:
            pause_s = min(retry_in_s, self._longest_unread_s)
        else:
            pause_s = clock.unseen_pause_s(retry_in_s, self._timeouts, now, as_asked=loss.as_asked)
        self._reopen_due_at = now + pause_s if pause_s < retry_in_s else None
        self.begun(clock, now, min(pause_s, retry_in_s))

    def refused(self, refusal: StreamRefused, now: float) -> Iterator[Action]:
        """Lichess denies the stream: is the game still on? Until somebody says no, it is tried again."""
        self._refused = True
        self._refusals += refusal.certain
        self._opening_due_at = self._state_due_at = self._opponent_due_at = None
        self.read_again_later(now)
        yield PlayingWanted(f"{refusal.status}: {refusal.text}")

    @property
    def is_refused_for_good(self) -> bool:
        """Whether Lichess has denied the stream so often in a row that it will go on doing so."""
        return self._refusals >= _MOST_REFUSALS

    def has_lost(self, standing: Standing) -> bool:
        """Whether a refused game is really gone, or as good as gone."""
        return self._refused and (standing.info is None or self.is_refused_for_good)

    def compare(self, standing: Standing, clock: GameClock | None, now: float) -> Iterator[Action]:
        """A look at the games in progress, which may be older than what the stream said last."""
        self._asked_in_vain = False
        if self._refused:
            return
        awaiting = self._opponent_due_at is not None
        if awaiting and clock is not None:
            self.expect_opponent(clock, now)
        if self._heard_at is None or standing.asked_at <= self._heard_at:
            return
        if standing.info is None:
            self._heard_at = None  # until the stream stands again, no look says more
            yield ReopenStream("the game is not among those in progress")
        elif awaiting and standing.info.is_my_turn:
            self._heard_at = None
            yield ReopenStream("the opponent's move did not arrive")

    def read_again_later(self, now: float) -> None:
        """What was read was of no use: read anew after a growing delay."""
        self._reopen_due_at = now + self._backoff.next_delay().total_seconds()

    # What is due

    def tick(self, clock: GameClock | None, now: float) -> Iterator[Action]:
        if _is_due(self._opening_due_at, now):
            # Each attempt begins anew: were the next not longer, a site that opens slowly would never be reached.
            self._least_patience_s = min(2 * self._patience_s, self._timeouts.liveness.total_seconds())
            self.begun(clock, now)
            yield ReopenStream("it does not open", hangs=True)
        if _is_due(self._state_due_at, now):
            self._state_due_at = None
            yield ReopenStream("its state did not come")
        if _is_due(self._reopen_due_at, now):
            self._reopen_due_at = None
            self.begun(clock, now)
            yield ReopenStream("the game cannot wait")
        if _is_due(self._opponent_due_at, now) and clock is not None:
            self.expect_opponent(clock, now)
            if self._asked_in_vain:
                # The look may have to wait out a pause, which the stream of a game need not.
                yield ReopenStream("the opponent is silent, and nobody says whether on our side")
            else:
                yield PlayingWanted("an opponent is silent")
            self._asked_in_vain = not self._asked_in_vain

    def _bearable_s(self, planned: timedelta, clock: GameClock | None, now: float) -> float:
        planned_s = planned.total_seconds()
        return planned_s if clock is None else clock.opening_s(planned_s, self._timeouts, now)


def _is_due(due_at: float | None, now: float) -> bool:
    return due_at is not None and now >= due_at
