"""Checks that the stream of one game told everything, and that it comes back in time.

Pure. A stream that looks alive may have lost the line with the opponent's move, with the end of the game, or with the
first state; a refused one may belong to a game that goes on. The state is then read again, or compared with the list
of games in progress.
"""

import math
from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus

from lichessbot.backoff import Backoff, doubled
from lichessbot.games.actions import Action, ReopenStream
from lichessbot.games.time_budget import GameClock
from lichessbot.inbox import ListedGame
from lichessbot.lichess.streams import PlayingWanted, StreamLost, StreamRefused
from lichessbot.timeouts import Timeouts, earliest, is_due

# A listed game whose stream is refused this often in a row cannot be played.
_MAX_REFUSALS = 8


class StreamMonitor:
    """The deadlines of one game's stream: one that passes means that something may be lost."""

    def __init__(self, timeouts: Timeouts, longest_unread_s: float = math.inf) -> None:
        """`longest_unread_s`: the longest pause before the first state, while the clocks are unknown."""
        self._timeouts = timeouts
        self._longest_unread_s = longest_unread_s
        self._backoff = Backoff(timeouts.backoff_first, timeouts.game_backoff_ceiling)
        self._asked_in_vain = False
        self._patience_s = self._min_patience_s = 0.0
        self._refusals = 0
        self._refused = False
        self._rejected_since: float | None = None
        """Since when our rules refuse all states; None after a good one or an outage."""
        self._end_told_at = math.inf
        self._looks = 0
        self._heard_at: float | None = None
        """When the connection opened or last told the state; None while none is open."""
        self.opening_due_at: float | None = None
        """When another connection is tried; None while none is awaited."""
        self._state_due_at: float | None = None
        self._reopen_due_at: float | None = None
        self._opponent_due_at: float | None = None

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        return earliest(self.opening_due_at, self._state_due_at, self._reopen_due_at, self._opponent_due_at)

    @property
    def is_open(self) -> bool:
        """Return whether a connection is open; else one is expected, whose first line will tell the state."""
        return self._heard_at is not None

    @property
    def is_read(self) -> bool:
        """Return whether a connection is open and has told the state."""
        return self.is_open and self._state_due_at is None

    # Reports

    def connecting(self, clock: GameClock | None, now: float, pause_s: float = 0.0) -> None:
        """Expect a connection after `pause_s`."""
        planned_s = self._limited_s(self._timeouts.stream_answer, clock, now + pause_s)
        self._patience_s = max(planned_s, self._min_patience_s)
        self.opening_due_at = now + pause_s + self._patience_s

    def opened(self, clock: GameClock | None, now: float) -> None:
        """Expect the state as the first line of a new connection."""
        self._heard_at = now
        self._refused = False
        self._min_patience_s = 0.0
        self.opening_due_at = self._reopen_due_at = None
        self._state_due_at = now + self._limited_s(self._timeouts.first_state, clock, now)

    def state_received(self, now: float, *, fresh: bool) -> None:
        """Note that the stream told the state; `fresh`: as the first line of a connection."""
        self._heard_at = now
        if fresh:
            self.opening_due_at = self._state_due_at = None
            self._asked_in_vain = False
            self._end_told_at = math.inf
            self._refusals = 0

    def state_followed(self) -> None:
        """Note that our rules accept the state: the next delay is short again."""
        self._backoff.reset()
        self._rejected_since = None

    def state_rejected(self, now: float) -> bool:
        """Read the state again, as our rules refuse it; return False if they have refused all for too long."""
        if self._rejected_since is None:
            self._rejected_since = now
        is_patient = now < self._rejected_since + self._timeouts.rejected_states.total_seconds()
        if is_patient:
            self.retry_later(now)
        return is_patient

    def expect_opponent(self, clock: GameClock, now: float) -> None:
        """Expect the opponent's move."""
        self._looks = 0
        self._wait_for_opponent(clock, now)

    def _wait_for_opponent(self, clock: GameClock, now: float) -> None:
        """Look for a lost move after a while, which grows with each list in which none was lost."""
        ceiling_s = max(clock.silence_s(now), self._timeouts.silence_ceiling.total_seconds())
        self._opponent_due_at = now + doubled(clock.silence_s(now), self._looks, ceiling_s)

    def expect_nobody(self) -> None:
        """Expect nothing: it is our turn, or the game is over."""
        self._opponent_due_at = None

    def lost(self, loss: StreamLost, clock: GameClock | None, now: float) -> None:
        """Note that the connection is gone; the game may not allow for its reader's pause."""
        self._heard_at = self._state_due_at = self._opponent_due_at = None
        if not loss.on_request:
            self._rejected_since = None
        retry_in_s = loss.retry_in.total_seconds()
        if clock is None:
            pause_s = min(retry_in_s, self._longest_unread_s)
        else:
            pause_s = clock.reopen_pause_s(retry_in_s, now, as_asked=loss.as_asked)
        self._reopen_due_at = now + pause_s if pause_s < retry_in_s else None
        self.connecting(clock, now, min(pause_s, retry_in_s))

    def refused(self, refusal: StreamRefused, now: float) -> Iterator[Action]:
        """Ask whether the game goes on, and try again until it is known to be over."""
        self._refused = True
        self._rejected_since = None
        self._refusals += refusal.certain and refusal.status != HTTPStatus.UNAUTHORIZED  # which is about our token
        self._heard_at = self.opening_due_at = self._state_due_at = self._opponent_due_at = None
        self.retry_later(now)
        yield PlayingWanted(f"{refusal.status}: {refusal.text}")

    @property
    def is_refused_for_good(self) -> bool:
        """Return whether the stream was refused so often in a row that it will not open any more."""
        return self._refusals >= _MAX_REFUSALS

    def end_told(self, now: float) -> None:
        """Note that the event stream tells the end of a game whose own stream is not read yet."""
        self._end_told_at = now

    def is_gone(self, listed: ListedGame) -> bool:
        """Return whether a game is over, or cannot be played, although its own stream does not tell so."""
        had_time = listed.asked_at >= self._end_told_at + self._timeouts.first_state.total_seconds()
        is_over = listed.info is None and listed.is_whole and (self._refused or had_time)
        return is_over or (self._refused and self.is_refused_for_good)

    def compare(self, listed: ListedGame, clock: GameClock | None, now: float) -> Iterator[Action]:
        """Compare with a list of the games in progress, which may be older than the last state."""
        if listed.info is None and not listed.is_whole:
            return
        self._asked_in_vain = False
        awaiting = self._opponent_due_at is not None
        if awaiting and clock is not None:
            self._looks += 1
            self._wait_for_opponent(clock, now)
        if self._heard_at is None or listed.asked_at <= self._heard_at:
            return
        if listed.info is None:
            yield self.reopen("the game is not among those in progress")
        elif awaiting and listed.info.is_my_turn:
            yield self.reopen("the opponent's move did not arrive")

    def retry_later(self, now: float) -> None:
        """Read the state again after a growing delay."""
        self._reopen_due_at = now + self._backoff.next_delay().total_seconds()

    # What is due

    def tick(self, clock: GameClock | None, now: float) -> Iterator[Action]:
        """Do what is due."""
        if is_due(self.opening_due_at, now):
            # Each attempt starts from scratch: without growing patience a slow site would never be reached.
            self._min_patience_s = min(2 * self._patience_s, self._timeouts.liveness.total_seconds())
            self.connecting(clock, now)
            yield ReopenStream("no connection within the time limit", hangs=True)
        if is_due(self._state_due_at, now):
            self._state_due_at = None
            yield self.reopen("the game's state did not arrive")
        if is_due(self._reopen_due_at, now):
            self._reopen_due_at = None
            self.connecting(clock, now)
            yield ReopenStream("the next attempt is due")
        if is_due(self._opponent_due_at, now) and clock is not None:
            self._wait_for_opponent(clock, now)
            if self._asked_in_vain:
                # The list may be delayed by a rate limit that does not apply to the stream of a game.
                yield self.reopen("the opponent is silent, and the list of games did not come")
            else:
                yield PlayingWanted("an opponent is silent")
            self._asked_in_vain = not self._asked_in_vain

    def reopen(self, reason: str) -> ReopenStream:
        """Replace a connection that is open: until the next one is, no list of games is newer, and no state is read."""
        self._heard_at = None
        return ReopenStream(reason)

    def _limited_s(self, planned: timedelta, clock: GameClock | None, now: float) -> float:
        planned_s = planned.total_seconds()
        return planned_s if clock is None else clock.opening_s(planned_s, now)
