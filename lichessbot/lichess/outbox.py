"""The outbox: every command leaves through it, on a thread for each game's moves, one for chat and one for the rest.

Each thread has its own HTTP session, so that a slow request delays neither another game's move nor, if it is a chat
line, an acceptance. Commands other than moves go one at a time, by priority, as often as the rate limiter allows.
Without a free thread for a game, its moves go first among them. Must not know: what a command does.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from queue import Empty, SimpleQueue
from typing import Final

from lichessbot.backoff import Backoff
from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable
from lichessbot.lichess.client import LichessClient
from lichessbot.lichess.commands import Command, CommandDone, CommandFailed, GameCommand, Priority, Say, SendMove
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.log import EventLog, try_start
from lichessbot.timeouts import Timeouts, earliest, is_due

# Chat lines that may wait to be sent, in all games together.
_MOST_CHAT_LINES: Final = 20
# The threads that several games share, by name.
_COMMANDS, _CHAT = "commands", "chat"

Emit = Callable[[CommandDone | CommandFailed], None]


class Outbox:
    """Sends commands; reports each once, except a move that a newer move of its game replaced before it was sent."""

    def __init__(
        self, open_api: Callable[[timedelta], LichessClient], emit: Emit, timeouts: Timeouts, rate_limiter: RateLimiter
    ) -> None:
        """`open_api` opens a session with the given read timeout."""
        self._open_api = open_api
        self._emit = emit
        self._timeouts = timeouts
        self._rate_limiter = rate_limiter
        self._log = EventLog()
        self._shared: dict[str, _SharedSender] = {}
        self._move_senders: dict[str, _MoveSender] = {}

    @property
    def wake_at(self) -> float | None:
        """When `tick` must run next, in monotonic seconds; None while no command but moves is in flight."""
        return earliest(*(sender.stuck_at for sender in self._shared.values()))

    def tick(self) -> None:
        """Give up a request whose answer never ends, and send the waiting commands on a new thread.

        Also start a thread that could not be started when its first command was queued.
        """
        for name, sender in list(self._shared.items()):
            if (waiting := sender.abandon_if_stuck()) is not None:
                del self._shared[name]
                if waiting:
                    self._shared_sender(name).take_over(waiting)
        for sender in self._shared.values():
            self._start(sender)

    def send(
        self, command: Command, after: timedelta = timedelta(), recorded: threading.Event | None = None
    ) -> None:
        """Send `command` from another thread, a move at once, any other command not before `after`.

        It waits for `recorded`, that it was written down for good: a crash then repeats nothing. But no longer than
        `record_patience`: a slow disk must not hold up a game.
        """
        if isinstance(command, SendMove):
            for shared in self._shared.values():
                shared.drop(lambda it: isinstance(it, SendMove) and it.is_for(command.game_id))
            if self._start(mover := self._move_sender(command)):
                mover.send(command, recorded)
                return
        # Also a move whose game gets no thread: it cannot wait until another game ends.
        shared = self._shared_sender(_CHAT if isinstance(command, Say) else _COMMANDS)
        shared.send(command, after, recorded)
        self._start(shared)

    @property
    def pause_s(self) -> float:
        """The seconds for which only moves are sent, because Lichess asked for a pause."""
        return self._rate_limiter.pause_s

    @property
    def unanswered(self) -> Counter[str]:
        """How many commands of each kind are due, and wait or are in flight, by the words of its name."""
        moves = sum(sender.unanswered for sender in self._move_senders.values())
        in_hand = (pending for sender in self._shared.values() for pending in sender.in_hand)
        now = time.monotonic()
        kinds = Counter(pending.command.kind() for pending in in_hand if pending.due_at <= now)
        return kinds + Counter({SendMove.kind(): moves})

    @property
    def is_talking(self) -> bool:
        """Whether a chat line is waiting or in flight."""
        chat = self._shared.get(_CHAT)
        return chat is not None and bool(chat.in_hand)

    def renew(self, game_id: str) -> None:
        """Send the next move of this game on a new connection: the kept one may be as dead as the game's stream."""
        if (sender := self._move_senders.get(game_id)) is not None:
            sender.renew()

    def withdraw(self, command: Command) -> bool:
        """Drop a command, no move, that waits to be sent; return whether it did."""
        return any(shared.drop(lambda it: it == command) for shared in self._shared.values())

    def settle(self, command: Command) -> None:
        """Report a command, no move, that waits or is in flight as done, because an event shows its effect."""
        for shared in self._shared.values():
            shared.settle(command)

    def close_game(self, game_id: str) -> None:
        """Drop the unsent commands of this game."""
        sender = self._move_senders.pop(game_id, None)
        if sender is not None:
            sender.stop()
        for shared in self._shared.values():
            shared.drop(lambda it: it.is_for(game_id))

    def close(self) -> None:
        """Drop all unsent commands."""
        for game_id in list(self._move_senders):
            self.close_game(game_id)
        for shared in self._shared.values():
            shared.stop()
        self._shared.clear()

    def _move_sender(self, move: SendMove) -> "_MoveSender":
        game_id = move.game_id
        sender = self._move_senders.get(game_id)
        if sender is not None and sender.is_stuck(self._timeouts.stuck_move.total_seconds()):
            sender.stop()
            sender = None
        elif sender is not None and sender.awaits_only_the_answer(move.ply):
            sender.finish()
            sender = None
        if sender is None:
            api = self._open_api(self._timeouts.game_answer)
            sender = _MoveSender(game_id, api, self._emit, self._rate_limiter, self._timeouts)
            self._move_senders[game_id] = sender
        return sender

    def _shared_sender(self, name: str) -> "_SharedSender":
        sender = self._shared.get(name)
        if sender is None:
            api = self._open_api(self._timeouts.request_answer)
            sender = self._shared[name] = _SharedSender(name, api, self._emit, self._rate_limiter, self._timeouts)
        return sender

    def _start(self, sender: threading.Thread) -> bool:
        """Start a thread unless it was started; return whether it runs, as the system may refuse it."""
        return sender.ident is not None or try_start(sender, self._log)


class _MoveSender(threading.Thread):
    """Sends the moves of one game, each once and at once.

    Of several waiting moves it sends only the newest: the others may be for positions that are gone.
    """

    def __init__(
        self, game_id: str, api: LichessClient, emit: Emit, rate_limiter: RateLimiter, timeouts: Timeouts
    ) -> None:
        super().__init__(name=f"moves-{game_id}", daemon=True)
        self._api = api
        self._emit = emit
        self._rate_limiter = rate_limiter
        self._timeouts = timeouts
        self._moves: SimpleQueue[tuple[SendMove, threading.Event | None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self.unanswered = 0
        """How many moves wait or are in flight."""
        self._busy_since: float | None = None
        self._first_try_of: int | None = None
        """The ply of the move in flight, unless it was sent before."""
        self._in_doubt = False
        """Whether the kept connection may be dead."""
        self._stopping = False

    def renew(self) -> None:
        """Send the next move on a new connection."""
        self._in_doubt = True

    def send(self, command: SendMove, recorded: threading.Event | None) -> None:
        self._count(1)
        self._moves.put((command, recorded))

    def stop(self) -> None:
        """End the thread after the request in flight, if any, without a report."""
        self._stopping = True
        self.finish()

    def finish(self) -> None:
        """End the thread after the report of the request in flight."""
        self._moves.put(None)

    def _count(self, change: int) -> None:
        with self._lock:
            self.unanswered += change

    def is_stuck(self, patience_s: float) -> bool:
        """Return whether the answer takes too long: one that arrives byte by byte never meets the read timeout."""
        busy_since = self._busy_since
        return busy_since is not None and time.monotonic() - busy_since > patience_s

    def awaits_only_the_answer(self, next_ply: int) -> bool:
        """Return whether a move for `next_ply` shows that the move in flight has been played.

        If that was sent more than once, it may still be on its way to Lichess, and must not arrive after its successor.
        """
        ply = self._first_try_of
        return ply is not None and ply < next_ply

    def run(self) -> None:
        latest_ply: int | None = None
        while (newest := self._newest()) is not None and not self._stopping:
            command, recorded = newest
            _await_record(recorded, self._timeouts)
            self._busy_since = time.monotonic()
            self._first_try_of, latest_ply = None if command.ply == latest_ply else command.ply, command.ply
            if self._in_doubt:
                self._in_doubt = False
                self._api.close()
            report = _send(self._api, command, self._rate_limiter)
            self._busy_since = self._first_try_of = None
            self._count(-1)
            if not self._stopping:
                self._emit(report)
        self._api.close()

    def _newest(self) -> tuple[SendMove, threading.Event | None] | None:
        """Wait for a move and return the newest; None ends the thread."""
        newest = self._moves.get()
        with suppress(Empty):
            while newest is not None:
                newest = self._moves.get_nowait()
                self._count(-1)
        return newest


@dataclass(order=True)
class _Pending:
    """A command that waits to be sent; sorted by priority, then by age."""

    priority: Priority
    number: int
    command: Command = field(compare=False)
    backoff: Backoff = field(compare=False)
    deadline: float = field(compare=False)
    recorded: threading.Event | None = field(compare=False)
    due_at: float = field(compare=False)
    """When it may be sent for the first time."""
    not_before: float = field(default=0.0, compare=False)
    perhaps_done: bool = field(default=False, compare=False)
    """Whether an attempt had no answer."""
    settled: bool = field(default=False, compare=False)
    """Whether it has taken effect, as an event shows, so that its answer tells nothing new."""

    def wait_until(self, not_before: float) -> None:
        """Have it sent later, or reported at its deadline if it expires."""
        self.not_before = min(not_before, self.deadline) if self.command.expires else not_before


class _SharedSender(threading.Thread):
    """Sends one command at a time, by priority; repeats those without an answer from Lichess until their deadline."""

    def __init__(
        self, name: str, api: LichessClient, emit: Emit, rate_limiter: RateLimiter, timeouts: Timeouts
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._api = api
        self._emit = emit
        self._rate_limiter = rate_limiter
        self._timeouts = timeouts
        self._numbers = count()
        self._pending: list[_Pending] = []
        self._changed = threading.Condition()
        self._in_flight: _Pending | None = None
        self._begun_at = 0.0
        self._stopping = False

    @property
    def stuck_at(self) -> float | None:
        """When the request in flight will have taken too long; a read timeout does not bound the whole answer."""
        with self._changed:
            if (pending := self._in_flight) is None:
                return None
            patience = self._timeouts.settled_request if pending.settled else self._timeouts.stuck_request
            return self._begun_at + patience.total_seconds()

    def abandon_if_stuck(self) -> list[_Pending] | None:
        """Report a request that takes too long, end the thread when it ends, and return what waits; else None."""
        with self._changed:
            stuck = self._in_flight
            if stuck is None or not is_due(self.stuck_at, time.monotonic()):
                return None
            self._stopping, self._in_flight = True, None
            failed = CommandFailed(stuck.command, Unreachable("no complete answer in time"), perhaps_done=True)
            self._emit(CommandDone(stuck.command) if stuck.settled else failed)
            return list(self._pending)  # to which the thread may still put back its own

    def take_over(self, pending: list[_Pending]) -> None:
        """Take over the waiting commands of an abandoned sender."""
        with self._changed:
            self._pending += pending
            self._numbers = count(1 + max((it.number for it in pending), default=0))
            self._changed.notify()

    def send(self, command: Command, after: timedelta, recorded: threading.Event | None) -> None:
        due_at = time.monotonic() + after.total_seconds()
        backoff = Backoff(self._timeouts.backoff_first, self._timeouts.backoff_ceiling)
        deadline = command.deadline(due_at, self._timeouts)
        with self._changed:
            if isinstance(command, GameCommand) and any(it.command == command for it in self._pending):
                return  # A game repeats a command without effect, also during a rate limit pause.
            self._pending.append(
                _Pending(command.priority, next(self._numbers), command, backoff, deadline, recorded, due_at, due_at)
            )
            self._drop_old_chat_lines()
            self._changed.notify()

    @property
    def in_hand(self) -> list[_Pending]:
        """The commands that wait or are in flight."""
        with self._changed:
            return [it for it in (*self._pending, self._in_flight) if it is not None]

    def _drop_old_chat_lines(self) -> None:
        """Keep only the newest chat lines if too many wait."""
        chat_lines = sorted(it for it in self._pending if isinstance(it.command, Say))
        for pending in chat_lines[:-_MOST_CHAT_LINES]:
            self._pending.remove(pending)
            self._emit(CommandFailed(pending.command, Unreachable("not sent: too many chat lines are waiting")))

    def drop(self, is_useless: Callable[[Command], bool]) -> bool:
        """Drop the waiting commands that are useless; return whether there were any."""
        with self._changed:
            before, self._pending = self._pending, [it for it in self._pending if not is_useless(it.command)]
            return len(self._pending) < len(before)

    def settle(self, command: Command) -> None:
        """Report a waiting command as done, or mark that in flight."""
        with self._changed:
            if self._in_flight is not None and self._in_flight.command == command:
                self._in_flight.settled = True
            elif self.drop(lambda it: it == command):
                self._emit(CommandDone(command))

    def stop(self) -> None:
        """End the thread after the request in flight, if any."""
        with self._changed:
            self._stopping = True
            self._changed.notify()

    def run(self) -> None:
        while (pending := self._next()) is not None:
            report = self._attempt(pending)
            with self._changed:
                self._in_flight = None
                if pending.settled and not isinstance(report, CommandDone):
                    report = CommandDone(pending.command)
                if report is None:
                    self._drop_repetitions(pending.command)
                    self._pending.append(pending)
                elif not self._stopping:
                    self._emit(report)
        self._api.close()

    def _next(self) -> _Pending | None:
        """Wait for a command that is due and return it; None when the thread must end."""
        with self._changed:
            while not self._stopping:
                now = time.monotonic()
                pending = min((it for it in self._pending if it.not_before <= now), default=None)
                if pending is not None:
                    self._pending.remove(pending)
                    self._in_flight, self._begun_at = pending, now
                    return pending
                next_at = min((it.not_before for it in self._pending), default=None)
                self._changed.wait(None if next_at is None else next_at - now)
        return None

    def _attempt(self, pending: _Pending) -> CommandDone | CommandFailed | None:
        """Send the command if the rate limiter allows it; None if it must wait or be repeated."""
        command = pending.command
        _await_record(pending.recorded, self._timeouts)
        if pending.settled:
            return CommandDone(command)
        now = time.monotonic()
        if command.expires and now >= pending.deadline:
            return CommandFailed(command, Unreachable("not sent: too late to be useful"), pending.perhaps_done)
        wait_s = 0.0 if isinstance(command, SendMove) else self._rate_limiter.ask(command.purpose)
        if wait_s > 0:
            pending.wait_until(now + wait_s)
            return None
        self._drop_repetitions(command)
        report = _send(self._api, command, self._rate_limiter)
        if isinstance(report, CommandDone):
            return report
        had_no_answer = isinstance(report.error, Unreachable)
        pending.perhaps_done |= had_no_answer
        is_uncertain = isinstance(report.error, Refused) and not report.error.certain
        if (had_no_answer or is_uncertain) and command.is_repeated:
            retry_at = time.monotonic() + pending.backoff.next_delay().total_seconds()
            if retry_at <= pending.deadline:
                pending.number = next(self._numbers)  # the others come first
                pending.wait_until(retry_at)
                return None
        return replace(report, perhaps_done=pending.perhaps_done)

    def _drop_repetitions(self, command: Command) -> None:
        """Drop what a game has sent again while its command was looked at."""
        if isinstance(command, GameCommand):
            self.drop(lambda it: it == command)


def _await_record(recorded: threading.Event | None, timeouts: Timeouts) -> None:
    """Wait until a command was written down that must not be sent twice, but not for a disk that is slow."""
    if recorded is not None:
        recorded.wait(timeouts.record_patience.total_seconds())


def _send(api: LichessClient, command: Command, rate_limiter: RateLimiter) -> CommandDone | CommandFailed:
    """Send the command once and report; a pause that Lichess asks for then holds for all threads."""
    try:
        answer = command.request(api)
    except RateLimited as error:
        rate_limiter.hold_back(error.pause, error.quota)
        return CommandFailed(command, error)
    except ApiError as error:
        return CommandFailed(command, error)
    except Exception as error:
        EventLog().crash("command.crashed", error, command=command.kind())
        return CommandFailed(command, Unreachable(f"internal error: {error!r}"))
    return CommandDone(command, answer, api.sent_at, time.monotonic())
