"""Tell the operator's program what happens: facts in its environment, and as JSON on its standard input.

`Notifier` watches the reports of the main loop and decides, in the main thread, what is worth telling. A thread of its
own runs the program, one event at a time and with a time limit. Whatever the program does, it costs no game more than
a line in the log: if it does not keep up, events are dropped.
"""

import json
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from queue import Empty, Full, Queue
from typing import Final

from lichessbot import __version__
from lichessbot.config.credentials import inherited_environment
from lichessbot.config.notify import NotifyConfig, NotifyEvent
from lichessbot.config.reload import Settings
from lichessbot.errors import ExitCode
from lichessbot.inbox import Report
from lichessbot.lichess.answers import Account, TokenInfo
from lichessbot.lichess.commands import CommandDone, CommandFailed, ReadAccount, ReadToken
from lichessbot.lichess.enums import Colour, GameStatus, player_label
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.lichess.models import GameFull, Player
from lichessbot.lichess.outbox import Outbox
from lichessbot.lichess.streams import StreamEvent, StreamLost, StreamOpened, StreamRefused
from lichessbot.log import EventLog, counted, inert, try_start
from lichessbot.timeouts import Timeouts
from lichessbot.uci import startup_check
from lichessbot.uci.search import NO_GAME, EngineDied

PREFIX: Final = "LICHESSBOT_"
_MOST_WAITING: Final = 20
_CLOSE_WAITS_AT_MOST: Final = timedelta(seconds=30)  # less than the watchdog of the service
_LONGEST_OUTPUT_BYTES: Final = 2000
_FIRST_PLIES: Final = 2
_MOST_REMEMBERED: Final = 1000
_DAY_S: Final = timedelta(days=1).total_seconds()
DAYS_TOLD_AHEAD: Final = 14
_TOLD_DAYS_BEFORE: Final = (DAYS_TOLD_AHEAD, 7, 3, 1)

Facts = Mapping[str, str | int | bool | None]


@dataclass(frozen=True, slots=True)
class Notice:
    """One event: `text` for people, `facts` for programs."""

    event: str
    text: str
    facts: Facts

    def given(self) -> dict[str, str | int | bool]:
        """Return all facts that are known, by name."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        given = {"event": self.event, "text": self.text, "time": moment, **self.facts, "version": __version__}
        return {name: value for name, value in given.items() if value is not None}


class Notifier:
    """For the main thread."""

    def __init__(self, settings: Settings, outbox: Outbox, timeouts: Timeouts) -> None:
        self._settings = settings
        self._outbox = outbox
        self._token_look = timeouts.token_look
        self._log = EventLog()
        self._account: Account | None = None
        self._offline_since: float | None = None
        self._is_told_offline = self._is_listening = self._is_token_asked = False
        self._token_days_told = DAYS_TOLD_AHEAD + 1
        self._told_games: dict[tuple[NotifyEvent, str], None] = {}
        self._worker: _Worker | None = None

    def handle(self, report: Report) -> None:
        """Tell what a report means to the operator, if anything."""
        match report:
            case CommandDone(command=ReadAccount(), answer=Account() as account):
                self._account = account
            case StreamLost(game_id=None, reason=reason):
                self._is_listening = False
                self._offline(reason)
            case StreamRefused(game_id=None, status=status, text=text):
                self._is_listening = False
                self._offline(f"{status}: {text}")
            case CommandFailed(command=ReadAccount(), error=error) if not self._is_listening:
                self._offline(str(error))
            case StreamOpened(game_id=None):
                self._is_listening = True
                self._online()
                if not self._is_token_asked:
                    self._is_token_asked = True
                    self._outbox.send(ReadToken())
            case CommandDone(command=ReadToken()) | CommandFailed(command=ReadToken()):
                self._outbox.send(ReadToken(), self._token_look)
                if isinstance(report, CommandDone) and isinstance(report.answer, TokenInfo):
                    self._token_answered(report.answer, time.time())
            case StreamEvent(event=GameFull() as full):
                self._told_games.pop((NotifyEvent.ENGINE_DIED, NO_GAME), None)  # one that dies after this game is news
                self._game_opened(full)
            case FinishedGame() if report.has_result:
                self._game_ended(report)
            case EngineDied(game_id=game_id, reason=reason) if game_id != startup_check.GAME_ID:
                where = "between two games" if game_id == NO_GAME else f"in game {game_id}"
                text = f"an engine died {where}: {reason}"
                self._tell_once(NotifyEvent.ENGINE_DIED, text, game_id, {"reason": reason})

    def engines_fail(self, reason: str) -> None:
        """Tell that no new games are taken, as engines of the running games fail."""
        self._tell(NotifyEvent.ENGINE_FAILS, f"no new games until the engines work again: {reason}", {"reason": reason})

    def close(self, exit_code: ExitCode | None) -> None:
        """Tell the end of the daemon, and wait some seconds for the program. `exit_code`: None after an exception."""
        code = ExitCode.FAILED if exit_code is None else exit_code
        if code is ExitCode.REFUSED:
            self._tell(NotifyEvent.TOKEN_REFUSED, "Lichess denied the token, or the account is not a BOT account", {})
        self._tell(NotifyEvent.DAEMON_STOPPED, f"the daemon ended: {_ENDS[code]}", {"exit_code": int(code)})
        if self._worker is not None:
            self._worker.close()

    # Lichess

    def _offline(self, reason: str) -> None:
        now = time.monotonic()
        if self._offline_since is None:
            self._offline_since = now
        seconds = int(now - self._offline_since)
        if not self._is_told_offline and seconds >= self._settings.config.notify.offline_after:
            self._is_told_offline = True
            facts: Facts = {"reason": reason, "seconds": seconds}
            self._tell(NotifyEvent.OFFLINE, f"no connection to Lichess for {seconds} s: {reason}", facts)

    def _online(self) -> None:
        if self._is_told_offline and self._offline_since is not None:
            seconds = int(time.monotonic() - self._offline_since)
            self._tell(NotifyEvent.ONLINE, f"connected to Lichess again, after {seconds} s", {"seconds": seconds})
        self._is_told_offline, self._offline_since = False, None

    def _token_answered(self, token: TokenInfo, now_s: float) -> None:
        """Warn at each of the days in `_TOLD_DAYS_BEFORE`, once."""
        end = token_end(token, now_s)
        if end is None:
            return
        day, days = end
        due = min((it for it in _TOLD_DAYS_BEFORE if days <= it), default=None)
        if due is None or due >= self._token_days_told:
            return
        self._token_days_told = due
        page = f"{self._settings.config.url}/account/oauth/token"
        self._log.warning("token.expires", day=day, days_left=days, remedy=f"make a new token at {page}")
        text = f"the token expires on {day}, in {counted(days, 'day')}: make a new one at {page}"
        self._tell(NotifyEvent.TOKEN_EXPIRES, text, {"day": day, "days_left": days})

    # Games

    def _game_opened(self, full: GameFull) -> None:
        colour = None if self._account is None else full.colour_of(self._account.id)
        if colour is None or full.state.status.is_over or len(full.state.moves.split()) >= _FIRST_PLIES:
            return
        text = f"game {full.id} started: {colour} against {_label(full.player(colour.other))}"
        self._tell_once(NotifyEvent.GAME_STARTED, text, full.id, self._game_facts(full, colour))

    def _game_ended(self, it: FinishedGame) -> None:
        event = NotifyEvent(f"game_{it.result}")
        on_time = it.result == "lost" and it.status is GameStatus.OUT_OF_TIME
        if on_time and NotifyEvent.LOST_ON_TIME in self._settings.config.notify.on:
            event = NotifyEvent.LOST_ON_TIME
        ending: Facts = {"result": it.result, "how": it.status, "plies": it.plies}
        facts = {**self._game_facts(it.full, it.colour), **ending}
        text = f"{it.result} against {_label(it.opponent)} ({it.status}): {facts['url']}"
        self._tell_once(event, text, it.game_id, facts)

    def _game_facts(self, full: GameFull, colour: Colour) -> Facts:
        us, them = full.player(colour), full.player(colour.other)
        clock = None if full.clock is None else str(full.clock.exact)
        return {
            "url": f"{self._settings.config.url}/{full.id}",
            "opponent": str(them),
            "opponent_title": them.title or None,
            "opponent_rating": them.rating,
            "our_rating": us.rating,
            "colour": colour,
            "variant": full.variant.key,
            "speed": full.speed or None,
            "clock": clock,
            "rated": full.rated,
        }

    # Telling

    def _tell_once(self, event: NotifyEvent, text: str, game_id: str, facts: Facts) -> None:
        """Tell an event of a game, unless it was told: streams repeat themselves, and engines may die often."""
        if (event, game_id) in self._told_games:
            return
        self._told_games[event, game_id] = None
        if len(self._told_games) > _MOST_REMEMBERED:
            del self._told_games[next(iter(self._told_games))]
        self._tell(event, text, {"game_id": None if game_id == NO_GAME else game_id, **facts})

    def _tell(self, event: NotifyEvent, text: str, facts: Facts) -> None:
        config = self._settings.config.notify
        if config.command is None or event not in config.on:
            return
        if self._worker is None:
            worker = _Worker(self._log)
            if not try_start(worker, self._log):
                return  # the next notice tries again
            self._worker = worker
        name = None if self._account is None else self._account.username
        self._worker.tell(config, Notice(event, text, {"account": name, **facts}))


_ENDS: Final = {
    ExitCode.OK: "stopped as asked, no game with a clock left",
    ExitCode.FAILED: "an error; see the log",
    ExitCode.USAGE: "the configuration or an engine does not work; see the log",
    ExitCode.REFUSED: "Lichess denied the token, or the account is not a BOT account",
    ExitCode.ABANDONED: "stopped with games in progress",
}


class _Worker(threading.Thread):
    """Runs the program, one notice at a time."""

    def __init__(self, log: EventLog) -> None:
        super().__init__(name="notifier", daemon=True)
        self._log = log
        self._notices: Queue[tuple[NotifyConfig, Notice] | None] = Queue(_MOST_WAITING)
        self._is_dropping = self._is_failing = False

    def tell(self, config: NotifyConfig, notice: Notice) -> None:
        """Have the program run for `notice`, unless too many wait already. Never blocks."""
        try:
            self._notices.put_nowait((config, notice))
            self._is_dropping = False
        except Full:
            if not self._is_dropping:
                self._is_dropping = True
                self._log.warning("notify.dropped", notice=notice.event, waiting=_MOST_WAITING)

    def close(self) -> None:
        """End after the notices that wait; drop those for which the program was not started in time."""
        wait_s = _CLOSE_WAITS_AT_MOST.total_seconds()
        until = time.monotonic() + wait_s
        with suppress(Full):
            self._notices.put(None, timeout=wait_s)
        self.join(max(0.0, until - time.monotonic()))
        with suppress(Empty):
            while True:
                if (task := self._notices.get_nowait()) is not None:
                    reason = f"the daemon ends, and waits for the events before it no longer than {wait_s:g} s"
                    self._log.warning("notify.dropped", notice=task[1].event, reason=reason)
        self._notices.put_nowait(None)

    def run(self) -> None:
        while (task := self._notices.get()) is not None:
            config, notice = task
            try:
                problem = run_program(config.command or (), notice, config.timeout)
            except Exception as error:
                self._log.crash("notify.crashed", error, notice=notice.event)
                continue
            if problem is None and self._is_failing:
                self._log.info("notify.works_again")
            elif problem is not None and not self._is_failing:
                self._log.warning("notify.failed", notice=notice.event, problem=problem)
            self._is_failing = problem is not None


def token_end(token: TokenInfo, now_s: float) -> tuple[str, int] | None:
    """Return the day (UTC) on which the token expires, and the full days until then; None if it does not."""
    if token.expires is None:
        return None
    day = time.strftime("%Y-%m-%d", time.gmtime(token.expires / 1000))
    return day, max(0, int((token.expires / 1000 - now_s) // _DAY_S))


def run_program(command: Sequence[str], notice: Notice, timeout_s: float) -> str | None:
    """Run the program with what it is told, for at most `timeout_s`. Return what went wrong, None if nothing did."""
    given = notice.given()
    told = {f"{PREFIX}{name.upper()}": _as_text(value) for name, value in given.items()}
    until = time.monotonic() + timeout_s
    try:
        # A session of its own: signals to the daemon do not reach it, and a time limit ends its children too.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**inherited_environment(), **told},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return f"{command[0]} cannot be started: {getattr(error, 'strerror', None) or error}"
    with process:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it does not read
            # A pipe holds 64 KiB, far more than this: writing never waits.
            process.stdin.write(json.dumps(given).encode() + b"\n")
            process.stdin.close()
        output = _output_until_end(process, until)
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"{command[0]} was still running after {timeout_s:g} s and was killed{output}"
    return f"{command[0]} ended with exit code {process.returncode}{output}" if process.returncode else None


def _output_until_end(process: subprocess.Popen[bytes], until: float) -> str:
    """Read what the program prints until it ends or the time is over. Return its last line, after a colon."""
    assert process.stdout is not None
    pipe, output = process.stdout.fileno(), b""
    os.set_blocking(pipe, False)
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while (left_s := until - time.monotonic()) > 0:
            has_ended = process.poll() is not None
            if not selector.select(0 if has_ended else min(left_s, 0.1)):
                if has_ended:
                    break
                continue
            data = os.read(pipe, 1 << 16)
            output = (output + data)[-_LONGEST_OUTPUT_BYTES:]
            if not data:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(left_s)
                break
    lines = output.decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {inert(last)}" if last else ""


def _as_text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _label(player: Player) -> str:
    return player_label(str(player), player.title, player.rating)
