"""The main thread: one queue in, games and answers out; slots, signals and the end.

Knows who plays and who waits; how a game is played, a stream read or a command sent is others' work.
"""

import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import IntEnum
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Final

from lichessbot.api import Access, Api
from lichessbot.challenges import Accept, Decline, Ignore, decide
from lichessbot.config import Config
from lichessbot.errors import ApiError, Refused
from lichessbot.events import (
    Account,
    ChallengeCanceled,
    ChallengeReceived,
    GameFinish,
    GameInfo,
    GameStart,
    StreamLine,
    parse_house_event,
)
from lichessbot.game_task import GameTask, House
from lichessbot.gate import Gate
from lichessbot.journal import Journal
from lichessbot.messages import (
    AcceptChallenge,
    BestMove,
    Command,
    CommandDone,
    CommandFailed,
    DeclineChallenge,
    EngineDied,
    GameCommand,
    HouseCommand,
    Inbox,
    ReadAccount,
    ReadPlaying,
    Report,
    StopRequested,
    StreamEvent,
    StreamLost,
    StreamOpened,
    StreamRefused,
    ThreadDied,
)
from lichessbot.streams import Source, StreamReader
from lichessbot.vocabulary import Variant
from lichessbot.waits import Waits

_ANSWERED_CHALLENGES_KEPT: Final = 1000


class ExitCode(IntEnum):
    """How the process ends; service managers should not restart after USAGE and REFUSED."""

    OK = 0
    """Everything asked for was done; for `run`: stopped by a signal with no game left."""
    FAILED = 1
    """`check`, `upgrade` or `rehearse` did not succeed; for `run`: a bug, and a restart resumes the games."""
    USAGE = 2
    """The arguments or the configuration are wrong."""
    REFUSED = 3
    """Lichess refuses the token, or the account is not a BOT account."""
    ABANDONED = 4
    """The second signal ended the process while games were running."""


@dataclass(slots=True)
class _Reservation:
    """A slot kept for an accepted challenge until its game starts."""

    due_at: float
    questioned: bool = False


class Supervisor:
    """The daemon. Made once, run once, in the main thread."""

    def __init__(self, config: Config, access: Access, waits: Waits) -> None:
        self._config = config
        self._access = access
        self._waits = waits
        self._inbox: Inbox = SimpleQueue()
        self._journal = Journal()
        self._gate = Gate(self._open_api, self._inbox, waits)
        self._house: House | None = None
        self._events: StreamReader | None = None
        self._tasks: dict[str, GameTask] = {}
        self._reservations: dict[str, _Reservation] = {}
        self._answered: OrderedDict[str, None] = OrderedDict()
        self._stopping = False
        self._exit: ExitCode | None = None

    def run(self) -> ExitCode:
        """Play until a signal, or until Lichess refuses the token."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        threading.excepthook = self._on_dead_thread
        self._gate.send(ReadAccount())
        try:
            while self._exit is None:
                self._turn()
            return self._exit
        finally:
            self._close()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._inbox.put(StopRequested(signal.Signals(number).name))

    def _on_dead_thread(self, dead: threading.ExceptHookArgs) -> None:
        if dead.exc_value is not None:
            self._inbox.put(ThreadDied(dead.thread.name if dead.thread else "?", dead.exc_value))

    def _turn(self) -> None:
        """Wait for one report, or for the next moment something is due, and deal with it."""
        due = [task.wake_at for task in self._tasks.values()]
        due += [reservation.due_at for reservation in self._reservations.values()]
        next_due = min((moment for moment in due if moment is not None), default=None)
        timeout_s = None if next_due is None else max(0.0, next_due - time.monotonic())
        try:
            self._dispatch(self._inbox.get(timeout=timeout_s))
        except Empty:
            self._question_reservations()
        for task in list(self._tasks.values()):
            if task.wake_at is not None and time.monotonic() >= task.wake_at:
                self._guarded(task, task.tick)
        if self._stopping and not self._tasks and not self._reservations and self._exit is None:
            self._exit = ExitCode.OK

    def _dispatch(self, report: Report) -> None:
        match report:
            case StopRequested(signal_name):
                self._stop(signal_name)
            case ThreadDied(thread_name, error):
                # Without one of its threads the daemon may be deaf or mute and not know it.
                self._journal.crash("thread.died", error, thread=thread_name)
                self._exit = ExitCode.FAILED
            case CommandDone(command=command) | CommandFailed(command=command):
                if isinstance(command, GameCommand):
                    self._tell_game(command.game_id, report)
                else:
                    self._hear_answer(command, report)
            case StreamEvent(game_id=None, event=event):
                self._hear_event(report, event)
            case StreamOpened(game_id=None):
                self._journal.info("events.open")
            case StreamLost(game_id=None, reason=reason, retry_in=retry_in):
                self._journal.warning("events.lost", reason=reason, retry_in_s=retry_in.total_seconds())
            case StreamRefused(game_id=None, status=status, text=text):
                self._refused(f"{status}: {text}")
            case StreamEvent() | StreamOpened() | StreamLost() | StreamRefused():
                self._tell_game(report.game_id, report)
            case BestMove() | EngineDied():
                self._tell_game(report.game_id, report)

    # The account and the event stream

    def _hear_answer(self, command: HouseCommand, report: CommandDone | CommandFailed) -> None:
        if isinstance(report, CommandFailed):
            self._hear_failure(command, report.error)
            return
        match command, report.answer:
            case ReadAccount(), Account() as account:
                self._open_house(account)
            case ReadPlaying(), tuple() as games:
                for game in games:
                    self._join(game)
                self._release_questioned()

    def _hear_failure(self, command: HouseCommand, error: ApiError) -> None:
        self._journal.warning("command.failed", command=command, error=error)
        match command:
            case ReadAccount():
                if isinstance(error, Refused):
                    self._refused(str(error))
                else:
                    self._gate.send(command)
            case AcceptChallenge(challenge_id):
                self._reservations.pop(challenge_id, None)
                self._forget_answer(challenge_id, error)
            case DeclineChallenge(challenge_id):
                self._forget_answer(challenge_id, error)

    def _open_house(self, account: Account) -> None:
        """We know who we are: listen for challenges, and look for games left over."""
        if not account.is_bot:
            self._refused(f"{account.username} is not a BOT account; `lichessbot upgrade` makes it one")
            return
        self._access = replace(self._access, user_name=account.username)
        self._gate.close()  # its next session says our name
        self._house = House(account.id, self._config, self._waits, self._inbox, self._gate, self._open_api)
        self._journal.info("account", name=account.username, url=self._access.url)
        api = self._open_api(self._waits.liveness)
        self._events = StreamReader(Source(None, api, api.event_stream, parse_house_event), self._inbox, self._waits)
        self._events.start()
        self._gate.send(ReadPlaying())

    def _refused(self, reason: str) -> None:
        self._journal.error("refused", reason=reason)
        self._exit = ExitCode.REFUSED

    def _open_api(self, read_timeout: timedelta) -> Api:
        return Api(self._access, read_timeout)

    def _hear_event(self, report: StreamEvent, event: StreamLine) -> None:
        match event:
            case GameStart(game=game):
                self._join(game)
            case GameFinish(game=game):
                self._tell_game(game.game_id, report)
            case ChallengeReceived():
                self._consider(event)
            case ChallengeCanceled(challenge=challenge):
                self._journal.info("challenge.canceled", challenge=challenge.id)
            case _:
                self._journal.debug("event.ignored", type=type(event).__name__)

    # Challenges and slots

    @property
    def _free_slots(self) -> int:
        if self._stopping:
            return 0
        return self._config.challenge.concurrency - len(self._tasks) - len(self._reservations)

    def _consider(self, received: ChallengeReceived) -> None:
        challenge = received.challenge
        if self._house is None or challenge.id in self._answered:
            return
        decision = decide(received, self._config.challenge, self._house.our_id, self._free_slots)
        challenger = challenge.challenger.id if challenge.challenger else "anonymous"
        facts = {"challenge": challenge.id, "challenger": challenger, "speed": challenge.speed}
        match decision:
            case Accept():
                self._journal.info("challenge.accept", **facts)
                self._reservations[challenge.id] = _Reservation(self._start_due())
                self._answer(challenge.id, AcceptChallenge(challenge.id))
            case Decline(reason, because):
                self._journal.info("challenge.decline", **facts, reason=reason, because=because)
                self._answer(challenge.id, DeclineChallenge(challenge.id, reason))
            case Ignore(because):
                self._journal.debug("challenge.ignore", **facts, because=because)

    def _answer(self, challenge_id: str, command: Command) -> None:
        self._answered[challenge_id] = None
        if len(self._answered) > _ANSWERED_CHALLENGES_KEPT:
            self._answered.popitem(last=False)
        self._gate.send(command)

    def _forget_answer(self, challenge_id: str, error: ApiError) -> None:
        """An answer that may not have arrived can be given again if the challenge is repeated."""
        if not isinstance(error, Refused):
            self._answered.pop(challenge_id, None)

    def _start_due(self) -> float:
        return time.monotonic() + self._waits.game_start.total_seconds()

    def _question_reservations(self) -> None:
        """An accepted challenge that became no game: perhaps its start was lost, perhaps it died."""
        now = time.monotonic()
        overdue = [slot for slot in self._reservations.values() if now >= slot.due_at]
        for reservation in overdue:
            reservation.questioned = True
            reservation.due_at = self._start_due()
        if overdue:
            self._gate.send(ReadPlaying())

    def _release_questioned(self) -> None:
        for game_id, reservation in list(self._reservations.items()):
            if reservation.questioned:
                self._journal.warning("challenge.no_game", challenge=game_id)
                del self._reservations[game_id]

    # Games

    def _join(self, info: GameInfo) -> None:
        """Play a game that began or goes on; announced again, nothing happens."""
        self._reservations.pop(info.game_id, None)
        if info.game_id in self._tasks or self._house is None:
            return
        journal = Journal(info.game_id)
        if not info.compat.bot or info.variant.key not in tuple(Variant):
            journal.warning("game.left_alone", variant=info.variant.key, bot_api=info.compat.bot)
            return
        journal.info(
            "game.join",
            opponent=info.opponent.username,
            speed=info.speed,
            rated=info.rated,
            games=len(self._tasks) + 1,
        )
        task = self._tasks[info.game_id] = GameTask(info.game_id, self._house)
        self._guarded(task, task.start)

    def _tell_game(self, game_id: str | None, report: Report) -> None:
        task = self._tasks.get(game_id or "")
        if task is not None:
            self._guarded(task, lambda: task.handle(report))

    def _guarded(self, task: GameTask, step: Callable[[], None]) -> None:
        """Whatever goes wrong in one game, the others go on."""
        try:
            step()
        except Exception as error:
            Journal(task.game_id).crash("game.crashed", error)
            task.over = True
        if task.over:
            del self._tasks[task.game_id]
            task.close()

    # The end

    def _stop(self, signal_name: str) -> None:
        games = len(self._tasks) + len(self._reservations)
        if self._stopping:
            self._journal.warning("stop.now", signal=signal_name, games_left=games)
            self._exit = ExitCode.ABANDONED if games else ExitCode.OK
            return
        self._stopping = True
        hint = "a second signal leaves at once" if games else None
        self._journal.info("stop.asked", signal=signal_name, games_to_finish=games, hint=hint)

    def _close(self) -> None:
        if self._events is not None:
            self._events.stop()
        for task in self._tasks.values():
            task.close()
        self._gate.close()
        self._journal.info("stop", exit_code=int(self._exit) if self._exit is not None else None)
