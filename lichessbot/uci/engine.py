"""A UCI engine as a child process: searches in, reports out.

Runs any UCI engine, by default ours.
"""

import os
import signal
import threading
import time
from typing import IO

from lichessbot.backoff import doubled
from lichessbot.config import EngineKeys
from lichessbot.errors import EngineError
from lichessbot.lichess.enums import Variant
from lichessbot.log import EventLog
from lichessbot.timeouts import Timeouts
from lichessbot.uci.engine_process import (
    ENDS_WITHIN_S,
    MAX_LOGGED_PER_S,
    MAX_OUTPUT_PER_S,
    Alarm,
    DialogueLog,
    OutputRate,
    end_of_output,
    ending,
    start,
)
from lichessbot.uci.options import CHESS960, MULTI_PV, OPPONENT, OVERHEAD, PONDER, VARIANT, Options
from lichessbot.uci.search import (
    NO_GAME,
    NO_MOVE,
    Emit,
    EngineDied,
    EngineReady,
    Findings,
    Search,
    go_command,
)
from lichessbot.uci.variants import announced_variants, position_command, uci_name

_MAX_LINE_BYTES = 1 << 16
_MAX_NAME_LENGTH = 60
_UNNAMED = "an unnamed engine"
# Many engines that start at once on a small machine are all slow: killing them too early would start none.
_LONGEST_PATIENCE = 16  # times `engine_handshake`
_PATIENCE_AFTER_PONDERING = 3  # times `engine_stop`: on busy cores a sound engine may be slow to stop


class UciEngine:
    """One running engine, which reports its answers and its end through `emit`.

    Methods are for the thread that made it, with which the engine ends, and never block. After its death they do
    nothing, except that each later search is told of it.
    """

    def __init__(
        self,
        game_id: str,
        config: EngineKeys,
        emit: Emit,
        timeouts: Timeouts,
        failed_starts: int = 0,
    ) -> None:
        """Start the child. The time to get ready doubles with each of `failed_starts` in a row.

        Raises EngineError if the system cannot run it.
        """
        self.config = config
        self.name = ""
        """The name that the engine reports, or a text in its place; empty before it has introduced itself."""
        self.complaints: tuple[str, ...] = ()
        """Why it does not accept parts of `config`, for the startup check; complete before its first answer."""
        self._game_id = game_id
        self._emit = emit
        self._log = EventLog(game_id)
        self._dialogue = DialogueLog(is_wanted=config.debug)
        self._lock = threading.RLock()
        self.ready = False
        """Whether it has ever been ready for a search."""
        self._readyok_due = 0
        """How many `isready` it has not answered, since the end of its last game or of a search that was stopped."""
        self._running: Search | None = None
        self._next: Search | None = None
        self._next_is_stopped = False
        self._closing = False
        self._ended: str | None = None
        """Why the process ended; None while it runs."""
        self._death: str | None = None
        self._findings = Findings()
        """Of the search that began last."""
        self._options = Options()
        self._variant_names: dict[Variant, str | None] = {Variant.STANDARD: None}
        """The variants that it plays, each with its value of UCI_Variant; None if that option is not set for it."""
        self._introduced = False
        self._overhead_ms = config.move_overhead_ms
        self._values: dict[str, object] = {
            OPPONENT: "", MULTI_PV: 1, CHESS960: False, OVERHEAD: config.move_overhead_ms,
        }  # fmt: skip
        """Of the options that depend on the search, as they were set last."""
        self._asked_at = 0.0
        self._told_to_stop_at: float | None = None
        """When the running search was; None if it was not, or none runs."""
        self._stopping_s = timeouts.engine_stop.total_seconds()
        self._process = start(config)
        handshake_s = timeouts.engine_handshake.total_seconds()
        patience_s = doubled(handshake_s, failed_starts, _LONGEST_PATIENCE * handshake_s)
        self._loading_s = patience_s + timeouts.engine_first_move.total_seconds()
        self._alarm = Alarm(f"engine-alarm-{game_id}")
        self._alarm.plan(patience_s, self._kill_silent)
        os.set_blocking(_pipe(self._process.stdin).fileno(), False)
        self._start_threads()
        with self._lock:  # the reader closes the input of an engine that ends at once
            self._write("uci")

    def _start_threads(self) -> None:
        """Raises EngineError if no thread or memory is left."""
        self._output = threading.Thread(target=self._read_output, name=f"engine-{self._game_id}", daemon=True)
        errors = threading.Thread(target=self._read_errors, name=f"engine-errors-{self._game_id}", daemon=True)
        readers = [(self._output, self._process.stdout), (errors, self._process.stderr)]
        try:
            self._alarm.start()
            for reader, pipe in readers:
                if pipe is not None:
                    reader.start()
        except RuntimeError as error:
            self.close()
            self._process.wait()
            for reader, pipe in readers:
                if pipe is not None and reader.ident is None:
                    pipe.close()
            raise EngineError(f"the engine does not start: {error}") from error

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Return whether the engine is not known to be dead."""
        return self._death is None

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The variants that it plays; known before its first answer."""
        return tuple(self._variant_names)

    @property
    def levels(self) -> tuple[int, int] | None:
        """The lowest and highest level; None if it has none, or has not reported them yet."""
        return self._options.levels

    @property
    def ponders(self) -> bool:
        """Return whether it offers to ponder, known before its first answer; other engines may ignore `ponderhit`."""
        return self._options.get(PONDER) is not None

    def search(self, search: Search, overhead_ms: int | None = None) -> None:
        """Start `search`. A running one is stopped first; its answer is reported all the same.

        An engine that does not ponder begins a ponder search at its hit. `overhead_ms`: the move overhead from now on.
        """
        with self._lock:
            self._next, self._next_is_stopped = search, False
            self._report_end(search.search_id)  # if it ended before it could be told of this search
            if overhead_ms is not None:
                self._overhead_ms = overhead_ms
            if self._running is None:
                self._begin_next()
            elif self._does_not_stop():
                self.kill("does not stop")
            else:
                self._tell_to_stop()
                if self._running.limits.ponder:
                    # Our clock runs, and the game takes the wait for a long search.
                    self._alarm.plan(_PATIENCE_AFTER_PONDERING * self._stopping_s, self._kill_hung)

    def expect_move_within(self, seconds: float) -> None:
        """Kill the engine unless it answers a search within this time from now on."""
        self._alarm.plan(seconds, self._kill_slow)

    def ponder_hit(self, search_id: int) -> None:
        """Turn the ponder search `search_id` into an ordinary one, with its limits from now on."""
        with self._lock:
            if self._next is not None and self._next.search_id == search_id:
                self._next = self._next.without_ponder()
                if self._running is None:
                    self._begin_next()
            elif self._running is not None and self._running.search_id == search_id:
                self._running = self._running.without_ponder()
                self._asked_at = time.monotonic()
                self._write("ponderhit")

    def stop(self) -> None:
        """Have the engine answer now; a search that has not begun is stopped as soon as it has."""
        with self._lock:
            self._next_is_stopped = self._next is not None
            if self._running is not None:
                self._tell_to_stop()

    def kill(self, reason: str) -> None:
        """Kill the engine and its children, from any thread. The first reason given is reported."""
        with self._lock:
            if self._death is not None:
                return
            self._death = reason
            try:
                # The child leads its group.
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self._log.debug("engine.gone")  # macOS refuses signals to dead processes
            self._alarm.end()
            _pipe(self._process.stdin).close()

    def rest(self) -> bool:
        """Stop, and forget the game; what is still reported is of no game. Return False if the engine cannot go on."""
        with self._lock:
            if not self.ready or self._death is not None:
                return False
            self._game_id, self._next = NO_GAME, None
            if self._running is not None:
                self._tell_to_stop()
            self._readyok_due += 1
            self._write("ucinewgame", "isready")
            return True

    def begin_game(self, game_id: str) -> bool:
        """Play another game from now on. Return False if the engine is dead or still busy with the last one."""
        with self._lock:
            if self._death is not None or self._readyok_due:
                return False
            self._game_id, self._log = game_id, EventLog(game_id)
            self._emit(EngineReady(game_id))
            return True

    def quit(self) -> None:
        """Let the engine end by itself, as it may save what it has learnt; report nothing more. Does not block.

        An engine that is not ready or does not stop is killed, as is one that does not end in time.
        """
        with self._lock:
            self._closing, self._next = True, None
            if self._death is not None:
                return
            if not self.ready or self._does_not_stop():
                self.close()
            else:
                self._alarm.plan(self._stopping_s, self.close)
                self._write("stop", "quit")

    def join(self) -> None:
        """Wait for the end of an engine that was told to quit, at most until it is killed."""
        self._output.join(self._stopping_s)
        self.close()

    def close(self) -> None:
        """Kill the engine and its children, and report nothing more. Does not block."""
        with self._lock:
            self._closing = True
        self.kill("closed")

    def _tell_to_stop(self) -> None:
        if self._told_to_stop_at is None:
            self._told_to_stop_at = time.monotonic()
        self._write("stop")

    def _does_not_stop(self) -> bool:
        """Return whether it was told to stop too long ago."""
        return self._told_to_stop_at is not None and time.monotonic() > self._told_to_stop_at + self._stopping_s

    def _begin_next(self) -> None:
        if not self.ready or self._readyok_due or self._next is None or (self._next.limits.ponder and not self.ponders):
            return
        search = self._running = self._next
        self._next = None
        self._findings = Findings(search.multipv)
        variant = Variant(search.variant)
        if variant not in self._variant_names:
            self.kill(f"it does not play {variant}")
            return
        self._set(OPPONENT, search.opponent)
        self._set(MULTI_PV, search.multipv)
        self._set(VARIANT, self._variant_names[variant])
        self._set(CHESS960, search.chess960)
        self._set(OVERHEAD, self._overhead_ms)
        commands = position_command(search), go_command(self._with_overhead(search))
        self._asked_at = time.monotonic()  # the engine may start before writing returns
        self._write(*commands)
        if self._next_is_stopped:
            self._tell_to_stop()

    def _set(self, name: str, value: object) -> None:
        """Set an option, if the engine has it and it does not have this value already."""
        if self._values.get(name) != value:
            self._values[name] = value
            self._write(*self._options.setoptions(name, value))

    def _with_overhead(self, search: Search) -> Search:
        """Return a search with the move overhead off our clock, for an engine without a Move Overhead option."""
        if self._options.get(OVERHEAD) is not None:
            return search
        return search.with_less_time(self._overhead_ms)

    def _introduce(self) -> None:
        """Set the options after the engine has listed them.

        `ucinewgame` has engines such as Lc0 load their network now, which may take long, instead of at the first `go`.
        """
        self._introduced = True
        self.name = self.name or _UNNAMED
        self._variant_names = {it: uci_name(self._options, it) for it in announced_variants(self._options)}
        self.complaints = tuple(self._options.complaints(self.config))
        self._alarm.cancel(self._kill_silent)
        self._alarm.plan(self._loading_s, self._kill_silent)
        self._write(*self._options.settings(self.config), "ucinewgame", "isready")

    def _read_output(self) -> None:
        """Read the output of the engine until it ends. Runs in a thread."""
        rate = OutputRate(MAX_OUTPUT_PER_S)
        line = b""
        with _pipe(self._process.stdout) as output:
            try:
                while (line := output.readline(_MAX_LINE_BYTES)) and rate.allows(line):
                    with self._lock:
                        if self._death is None:
                            self._dialogue.received(line, self._log)
                    self._take(line.decode("utf-8", "replace").split())
            except Exception as error:
                self._log.crash("engine.crashed", error)
                self.kill(f"internal error: {error!r}")
        if self._death is None:
            self.kill("too much output" if line else end_of_output(self._process))
        # Waiting only here, after the kill, keeps the process id from being reused before.
        self._process.wait()
        with self._lock:
            search = self._next or self._running
            self._ended = f"{self._death}, {ending(self._process.returncode)}"
            self._report_end(search.search_id if search else None)

    def _report_end(self, search_id: int | None) -> None:
        if not self._closing and self._ended is not None:
            self._emit(EngineDied(self._game_id, search_id, self._ended))

    def _take(self, words: list[str]) -> None:
        with self._lock:
            match words:
                case ["id", "name", *name] if not self._introduced:
                    self.name = " ".join(name)[:_MAX_NAME_LENGTH]
                case ["option", *option] if not self._introduced:
                    self._options.note(option)
                case ["uciok", *_] if not self._introduced:
                    self._introduce()
                case ["readyok", *_] if self._readyok_due:
                    self._readyok_due -= 1
                    if self._game_id == NO_GAME and not self._readyok_due:
                        self._log.debug("engine.rested")
                    self._begin_next()
                case ["readyok", *_] if self._introduced and not self.ready:
                    self.ready = True
                    self._alarm.cancel(self._kill_silent)
                    self._emit(EngineReady(self._game_id))
                    self._begin_next()
                case ["info", "string", "error:", *error] if self.config.command is None and not self.ready:
                    complaint = f"uci_options: {' '.join(error)}"  # ours could not read its network
                    self.complaints += (complaint,)
                    self._log.warning("engine.option", complaint=complaint)
                case ["info", *details] if details[:1] != ["string"] and self._running is not None:
                    self._findings.note(details)
                case ["bestmove"]:
                    self._take(["bestmove", NO_MOVE])  # some engines name no move, such as when stopped early
                case ["bestmove", move, *rest] if self._running is not None:
                    ponder = rest[1] if rest[:1] == ["ponder"] and len(rest) > 1 else None
                    if not self._closing:
                        search_id = self._running.search_id
                        self._emit(self._findings.answer(self._game_id, search_id, move, ponder, self._asked_at))
                    if self._told_to_stop_at is not None:
                        # Some engines answer twice if `stop` crosses their answer: what comes before `readyok` is old.
                        self._readyok_due += 1
                        self._write("isready")
                    self._running = self._told_to_stop_at = None
                    self._alarm.cancel(self._kill_hung)
                    self._alarm.cancel(self._kill_slow)
                    self._begin_next()

    def _read_errors(self) -> None:
        """Log the first lines of error output of each second, and drop the others. Runs in a thread."""
        rate, logged = OutputRate(MAX_OUTPUT_PER_S), OutputRate(MAX_LOGGED_PER_S)
        with _pipe(self._process.stderr) as errors:
            while (line := errors.readline(_MAX_LINE_BYTES)) and rate.allows(line):
                with self._lock:
                    if logged.allows(line) and not self._closing:
                        self._log.warning("engine.stderr", line=line.decode("utf-8", "replace").rstrip())
        if line:
            self.kill("too much error output")

    def _write(self, *lines: str) -> None:
        if self._death is None:
            self._dialogue.sent(lines, self._log)
        text = "".join(f"{line}\n" for line in lines).encode()
        try:
            written = os.write(_pipe(self._process.stdin).fileno(), text)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:
            self._alarm.plan(ENDS_WITHIN_S, self._kill_deaf)
            return
        except (OSError, ValueError):
            return  # it is dead, which the reader thread reports
        if written < len(text):
            self.kill("does not read its input")

    def _kill_hung(self) -> None:
        with self._lock:
            if self._does_not_stop():
                self.kill("does not stop")

    def _kill_slow(self) -> None:
        self.kill("no move in time")

    def _kill_deaf(self) -> None:
        self.kill("closed its input")  # one that ended was reported by the reader, unless a child keeps its output open

    def _kill_silent(self) -> None:
        self.kill(f"no answer to {'isready' if self._introduced else 'uci'} in time")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None, "all three are pipes"
    return pipe
