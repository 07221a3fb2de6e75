"""The gate through which every command leaves: a lane for the moves of each game, one for all else.

A lane is a thread with a session of its own, so that no slow request holds up another game's move.
Everything but moves goes one request at a time, the most urgent first, as often as courtesy allows.
Knows threads and their order; what a command means to Lichess is told by `errands`.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from queue import Empty, SimpleQueue
from typing import Final

from lichessbot.backoff import Backoff
from lichessbot.errors import Unreachable
from lichessbot.lichess.client import LichessClient
from lichessbot.lichess.commands import (
    AcceptChallenge,
    Command,
    CommandDone,
    CommandFailed,
    DeclineChallenge,
    GameCommand,
    Say,
    SendMove,
)
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.lichess.requests import (
    Urgency,
    carry_out,
    goes_stale,
    is_for,
    is_worth_repeating,
    patience_for,
    purpose_of,
    urgency_of,
)
from lichessbot.timeouts import Timeouts

# Lines of chat that wait to be sent, of all games together.
_MOST_TALK: Final = 20


Emit = Callable[[CommandDone | CommandFailed], None]


class Outbox:
    """Routes commands to their lanes; each is answered by one report, unless overtaken by a newer move of its game."""

    def __init__(
        self, open_api: Callable[[timedelta], LichessClient], emit: Emit, timeouts: Timeouts, rate_limiter: RateLimiter
    ) -> None:
        """`open_api` makes a session with the given read time-out."""
        self._open_api = open_api
        self._emit = emit
        self._timeouts = timeouts
        self._rate_limiter = rate_limiter
        self._context: _SharedLane | None = None
        self._games: dict[str, _MoveLane] = {}

    @property
    def wake_at(self) -> float | None:
        """When `tick` is to look after the house lane; None while nothing is under way there."""
        return self._context.stuck_at if self._context is not None else None

    def tick(self) -> None:
        """Give up a house request whose answer trickles in for ever; what waited behind it goes on."""
        stuck_at = self.wake_at
        if self._context is not None and stuck_at is not None and time.monotonic() >= stuck_at:
            waiting = self._context.abandon()
            self._context = None
            if waiting:
                self._house_lane().take_over(waiting)

    def send(self, command: Command, after: timedelta = timedelta()) -> None:
        """Carry out `command` off this thread. A move of a game without a lane opens one; only it is never put off."""
        if isinstance(command, SendMove):
            self._move_lane(command.game_id).send(command)
        else:
            self._house_lane().send(command, after)

    @property
    def is_talking(self) -> bool:
        """Whether something is still to be said."""
        return self._context is not None and self._context.is_talking

    def close_game(self, game_id: str) -> None:
        """Forget the game: commands not yet begun are dropped."""
        lane = self._games.pop(game_id, None)
        if lane is not None:
            lane.stop()
        if self._context is not None:
            self._context.drop(game_id)

    def close(self) -> None:
        """Drop everything not yet begun."""
        for game_id in list(self._games):
            self.close_game(game_id)
        if self._context is not None:
            self._context.stop()
            self._context = None

    def _move_lane(self, game_id: str) -> "_MoveLane":
        lane = self._games.get(game_id)
        if lane is not None and lane.is_stuck(self._timeouts.stuck_answer.total_seconds()):
            lane.stop()
            lane = None
        if lane is None:
            api = self._open_api(self._timeouts.game_answer)
            lane = self._games[game_id] = _MoveLane(game_id, api, self._emit, self._rate_limiter)
            lane.start()
        return lane

    def _house_lane(self) -> "_SharedLane":
        if self._context is None:
            api = self._open_api(self._timeouts.house_answer)
            self._context = _SharedLane(api, self._emit, self._rate_limiter, self._timeouts)
            self._context.start()
        return self._context


class _MoveLane(threading.Thread):
    """Sends the moves of one game, each once and at once; of those that had to wait only the newest.

    Whoever sends a second move while a first one waits knows more by then: the first may be for a
    position that is gone.
    """

    def __init__(self, game_id: str, api: LichessClient, emit: Emit, rate_limiter: RateLimiter) -> None:
        super().__init__(name=f"lane-{game_id}", daemon=True)
        self._api = api
        self._emit = emit
        self._rate_limiter = rate_limiter
        self._moves: SimpleQueue[SendMove | None] = SimpleQueue()
        self._busy_since: float | None = None
        self._stopping = False

    def send(self, command: SendMove) -> None:
        self._moves.put(command)

    def stop(self) -> None:
        """End after the request under way, if any."""
        self._stopping = True
        self._moves.put(None)

    def is_stuck(self, patience_s: float) -> bool:
        """An answer that trickles in byte by byte never meets the read time-out."""
        busy_since = self._busy_since
        return busy_since is not None and time.monotonic() - busy_since > patience_s

    def run(self) -> None:
        while (command := self._newest()) is not None and not self._stopping:
            self._busy_since = time.monotonic()
            report = carry_out(self._api, command, self._rate_limiter)
            self._busy_since = None
            if not self._stopping:
                self._emit(report)
        self._api.close()

    def _newest(self) -> SendMove | None:
        """Wait for a move; None to end."""
        command = self._moves.get()
        with suppress(Empty):
            while command is not None:
                command = self._moves.get_nowait()
        return command


@dataclass(order=True)
class _Errand:
    """A command on its way through the house lane; sorted by urgency, then by age."""

    urgency: Urgency
    number: int
    command: Command = field(compare=False)
    backoff: Backoff = field(compare=False)
    give_up_at: float = field(compare=False)
    not_before: float = field(default=0.0, compare=False)
    perhaps_done: bool = field(default=False, compare=False)
    """An attempt had no answer."""


class _SharedLane(threading.Thread):
    """One request at a time; repeats what got no answer while that has a chance."""

    def __init__(self, api: LichessClient, emit: Emit, rate_limiter: RateLimiter, timeouts: Timeouts) -> None:
        super().__init__(name="lane-house", daemon=True)
        self._api = api
        self._emit = emit
        self._rate_limiter = rate_limiter
        self._timeouts = timeouts
        self._numbers = count()
        self._errands: list[_Errand] = []
        self._changed = threading.Condition()
        self._under_way: _Errand | None = None
        self._begun_at = 0.0
        self._stopping = False

    @property
    def stuck_at(self) -> float | None:
        """When the request under way will have taken too long, which no read time-out notices."""
        return None if self._under_way is None else self._begun_at + self._timeouts.stuck_house_answer.total_seconds()

    def abandon(self) -> list[_Errand]:
        """End the thread when it comes free, fail what is under way, and hand over what waits."""
        with self._changed:
            self._stopping = True
            stuck, self._under_way = self._under_way, None
            if stuck is not None:
                error = Unreachable("no whole answer in time")
                self._emit(CommandFailed(stuck.command, error, perhaps_done=True))
            return list(self._errands)

    def take_over(self, errands: list[_Errand]) -> None:
        """Go on where another lane was abandoned."""
        with self._changed:
            self._errands += errands
            self._changed.notify()

    def send(self, command: Command, after: timedelta) -> None:
        backoff = Backoff(self._timeouts.backoff_first, self._timeouts.backoff_ceiling)
        not_before = time.monotonic() + after.total_seconds()
        give_up_at = not_before + patience_for(command, self._timeouts).total_seconds()
        if isinstance(command, AcceptChallenge | DeclineChallenge) and command.until is not None:
            give_up_at = command.until
        with self._changed:
            if isinstance(command, GameCommand) and any(errand.command == command for errand in self._errands):
                return  # a game repeats what has no effect, also while a pause holds everything up
            errand = _Errand(urgency_of(command), next(self._numbers), command, backoff, give_up_at, not_before)
            self._errands.append(errand)
            self._drop_old_talk()
            self._changed.notify()

    @property
    def is_talking(self) -> bool:
        """Whether something is still to be said."""
        with self._changed:
            return any(isinstance(errand.command, Say) for errand in (*self._errands, self._under_way) if errand)

    def _drop_old_talk(self) -> None:
        """While nothing may be sent, talk is not heaped up."""
        talk = sorted(errand for errand in self._errands if errand.urgency is Urgency.TALK)
        for errand in talk[:-_MOST_TALK]:
            self._errands.remove(errand)
            self._emit(CommandFailed(errand.command, Unreachable("not sent: there is too much to say")))

    def drop(self, game_id: str) -> None:
        """The commands of this game need not be sent any more."""
        with self._changed:
            self._errands = [errand for errand in self._errands if not is_for(errand.command, game_id)]

    def stop(self) -> None:
        """End after the request under way, if any."""
        with self._changed:
            self._stopping = True
            self._changed.notify()

    def run(self) -> None:
        while (errand := self._next()) is not None:
            report = self._attempt(errand)
            with self._changed:
                self._under_way = None
                if report is not None and not self._stopping:
                    self._emit(report)
        self._api.close()

    def _next(self) -> _Errand | None:
        """Wait for a command that may be sent, or has waited too long; None at the end."""
        with self._changed:
            while not self._stopping:
                now = time.monotonic()
                errand = min((it for it in self._errands if it.not_before <= now), default=None)
                if errand is not None:
                    self._errands.remove(errand)
                    self._under_way, self._begun_at = errand, now
                    return errand
                next_at = min((it.not_before for it in self._errands), default=None)
                self._changed.wait(None if next_at is None else next_at - now)
        return None

    def _attempt(self, errand: _Errand) -> CommandDone | CommandFailed | None:
        """Send the command if courtesy allows; None if it shall be tried again."""
        now = time.monotonic()
        if goes_stale(errand.command) and now >= errand.give_up_at:
            error = Unreachable("not sent: too late to be of use")
            return CommandFailed(errand.command, error, errand.perhaps_done)
        wait_s = self._rate_limiter.ask(purpose_of(errand.command))
        if wait_s > 0:
            self._put_back(errand, now + wait_s)
            return None
        report = carry_out(self._api, errand.command, self._rate_limiter)
        if isinstance(report, CommandDone):
            return report
        errand.perhaps_done |= isinstance(report.error, Unreachable)
        report = replace(report, perhaps_done=errand.perhaps_done)
        if not is_worth_repeating(errand.command, report.error):
            return report
        retry_at = time.monotonic() + errand.backoff.next_delay().total_seconds()
        if retry_at > errand.give_up_at:
            return report
        self._put_back(errand, retry_at)
        return None

    def _put_back(self, errand: _Errand, not_before: float) -> None:
        if goes_stale(errand.command):
            not_before = min(not_before, errand.give_up_at)
        errand.not_before = not_before
        with self._changed:
            self._errands.append(errand)
