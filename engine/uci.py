"""The Universal Chess Interface: commands on standard input, answers on standard output.

The search runs in a thread of its own, so that `stop`, `isready` and `quit` are heard at once. A command that makes
no sense is answered by `info string` and otherwise ignored; the end of the input quits. (Rudolf Huber, Stefan
Meyer-Kahlen: UCI protocol, 2006)
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from itertools import takewhile
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, TextIO

from engine.facade import (
    DEFAULT_HASH_MB,
    DEFAULT_OVERHEAD_MS,
    MOST_MEN,
    STARTING_FEN,
    STYLES,
    Board,
    Bound,
    Engine,
    InvalidFen,
    InvalidMove,
    InvalidNet,
    Limits,
    SearchReport,
    Tablebase,
    Thinking,
    default_choice,
    describe_build,
    evaluation,
    portions,
)

NAME = "lichessbot-engine 0.1.0"
AUTHOR = "the lichessbot authors"
MAX_HASH_MB = 65536
MAX_OVERHEAD_MS = 10000
MAX_THREADS = 256
MAX_LINES = 218                    # no legal position has more moves
MAX_PERFT_DEPTH = 20
MAX_NODES = 10**12
FOREVER_MS = 10**9                 # larger times mean no more than this, and larger counts of moves neither
EMPTY = "<empty>"                  # UCI's word for an empty string
GO_NUMBERS = {
    "wtime": "white_time_ms",
    "btime": "black_time_ms",
    "winc": "white_increment_ms",
    "binc": "black_increment_ms",
    "movestogo": "moves_to_go",
    "depth": "depth",
    "nodes": "nodes",
    "movetime": "move_time_ms",
    "mate": "mate_in",
}
STYLE_OPTIONS = {f"Style {group.replace('_', ' ').title()}": group for group in STYLES}
MEANWHILE = ("isready", "stop")    # what does not wait for the end of a perft
GO_WORDS = (*GO_NUMBERS, "searchmoves", "ponder", "infinite")


class UciError(ValueError):
    """A command that cannot be carried out; the message goes to the user."""


class Uci:
    """One session. `run` returns when it is over."""

    def __init__(self, output: TextIO = sys.stdout) -> None:
        self._output = output
        self._output_lock = Lock()
        self._engine = Engine()
        self._board = Board()
        self._setup = (STARTING_FEN, False)        # how the board came about: the FEN, whether of Chess960,
        self._played: list[str] = []               # and the moves
        self._chess960 = False
        self._shows_outcome = False
        self._debugging = False
        self._thinking: Thinking | None = None
        self._released = Event()           # an infinite or pondering search may give its move
        self._worker: Thread | None = None
        self._counter: Thread | None = None        # of a perft
        self._enough_counted = Event()
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "uci": self._uci,
            "isready": lambda words: self._say("readyok"),
            "ucinewgame": self._new_game,
            "position": self._position,
            "setoption": self._set_option,
            "go": self._go,
            "stop": lambda words: self._stop(),
            "ponderhit": lambda words: self._ponder_hit(),
            "debug": self._debug,
            "d": lambda words: self._show_board(),
            "eval": lambda words: self._show_evaluation(),
        }

    def run(self, lines: Iterable[str]) -> None:
        """Obey until `quit` or the end of the input; Ctrl-C ends the search too."""
        try:
            for line in lines:
                words = line.split()
                if words[:1] == ["quit"]:
                    break
                if words:
                    self._obey(words)
            self._finish_counting()
        finally:
            self._stop()

    def _obey(self, words: list[str]) -> None:
        command = self._commands.get(words[0])
        if command is None:
            self._say(f"info string unknown command {words[0][:40]!r}; known: {' '.join(self._commands)} quit")
            return
        if words[0] not in MEANWHILE:
            self._finish_counting()
        if self._debugging:
            self._say(f"info string heard {' '.join(words)[:200]!r}")
        try:
            command(words[1:])
        except (UciError, InvalidFen, InvalidMove, InvalidNet, MemoryError) as error:
            self._say(f"info string error: {error}")

    def _say(self, text: str) -> None:
        """One line out, whole, whichever thread says it. A reader that has gone away is no error: we are quitting."""
        with self._output_lock, suppress(BrokenPipeError):
            self._output.write(text + "\n")
            self._output.flush()

    # --- Commands ------------------------------------------------------------------------------------------------

    def _uci(self, words: list[str]) -> None:
        self._say(f"id name {NAME}")
        self._say(f"id author {AUTHOR}")
        for name, kind in _options():
            self._say(f"option name {name} type {kind}")
        self._say(f"info string engine runs {describe_build()}; evaluation: {self._engine.describe_evaluation()}")
        self._say("uciok")

    def _new_game(self, words: list[str]) -> None:
        self._stop()
        self._engine.new_game()

    def _position(self, words: list[str]) -> None:
        """`startpos` or `fen ...`, then perhaps `moves ...`. On an error the old position stays."""
        split = words.index("moves") if "moves" in words else len(words)
        setup, moves = words[:split], words[split + 1 :]
        if setup[:1] == ["fen"]:
            fen = " ".join(setup[1:])
        elif setup == ["startpos"]:
            fen = STARTING_FEN
        else:
            raise UciError("expected position startpos or position fen FEN, then perhaps moves MOVE ...")
        setup_key = (fen, self._chess960)
        played = len(self._played)
        if setup_key == self._setup and moves[:played] == self._played:
            board = self._board.copy()         # the game goes on: only its new moves are played
            new = moves[played:]
        else:
            board, new = Board(fen, chess960=self._chess960), moves
        for move in new:
            board.push(move)
        self._stop()
        self._board, self._setup, self._played = board, setup_key, moves

    def _set_option(self, words: list[str]) -> None:
        """`name NAME value VALUE`; names are compared without case and may contain spaces."""
        split = words.index("value") if "value" in words else len(words)
        name, value = " ".join(words[1:split]), " ".join(words[split + 1 :])
        if words[:1] != ["name"]:
            raise UciError("expected setoption name NAME value VALUE")
        self._stop()
        match name.lower():
            case "hash":
                self._engine.resize_hash(_number(name, value, 1, MAX_HASH_MB))
            case "clear hash":
                self._engine.clear_hash()
            case "threads":
                self._engine.set_threads(_number(name, value, 1, MAX_THREADS))
            case "multipv":
                self._engine.lines = _number(name, value, 1, MAX_LINES)
            case "ponder":
                _switch(name, value)       # tells us that `go ponder` may come; we are always ready for it
            case "move overhead":
                self._engine.move_overhead_ms = _number(name, value, 0, MAX_OVERHEAD_MS)
            case "uci_chess960":
                self._chess960 = _switch(name, value)
            case "uci_analysemode":
                self._engine.analyse_mode = _switch(name, value)
            case "uci_showwdl":
                self._shows_outcome = _switch(name, value)
            case "syzygypath":
                self._open_tables("" if value == EMPTY else value)
            case "syzygyprobelimit":
                limit = _number(name, value, 0, MOST_MEN)
                self._engine.set_tables(replace(self._engine.tables, most_men=limit))
            case "evalfile":
                self._engine.set_evaluation(value)
                self._say(f"info string evaluation: {self._engine.describe_evaluation()}")
            case option if option.title() in STYLE_OPTIONS:
                self._set_style(option.title(), value)
            case _:
                close = get_close_matches(name, [known for known, _ in _options()], 1)
                hint = f"did you mean {close[0]}? " if close else ""
                raise UciError(f"unknown option {name[:40]!r}; {hint}`uci` lists the known ones")

    def _set_style(self, option: str, value: str) -> None:
        group = STYLE_OPTIONS[option]
        percents = STYLES[group]
        self._engine.set_style(group, _number(option, value, percents[0], percents[-1]))
        self._board = self._board.replayed()
        self._say(f"info string evaluation: {self._engine.describe_evaluation()}")

    def _open_tables(self, path: str) -> None:
        """Folders, separated as the system separates paths."""
        base = Tablebase([Path(folder) for folder in path.split(os.pathsep) if folder])
        self._engine.set_tables(replace(self._engine.tables, base=base))
        self._say(f"info string tables of endings: {base.describe()}")
        self._tell_table_problems()

    def _tell_table_problems(self) -> None:
        """Each once, as it becomes known."""
        for problem in self._engine.tables.base.new_problems():
            self._say(f"info string {problem}: not used")

    def _go(self, words: list[str]) -> None:
        self._stop()
        if words[:1] == ["perft"]:
            self._begin_counting(_number("perft", " ".join(words[1:]), 1, MAX_PERFT_DEPTH))
            return
        limits, only, unknown = _parse_limits(words)
        for word in unknown:
            self._say(f"info string {_unknown_word(word)}; ignored")
        self._engine.set_position(self._board)
        self._thinking = self._engine.begin(limits, only)
        self._released.clear()
        if not (limits.infinite or limits.ponder):
            self._released.set()
        self._worker = Thread(target=self._think, args=(self._thinking,), name="search")
        self._worker.start()

    def _think(self, thinking: Thinking) -> None:
        """The search thread: reports, then the move, kept back until `stop` or `ponderhit` where UCI says so."""
        result = thinking.run(
            report=lambda report: self._say(_info(report, self._shows_outcome)),
            current=lambda news: self._say(
                f"info depth {news.depth} currmove {news.move} currmovenumber {news.number}"
            ),
        )
        if result.late_ms > 0:
            self._say(f"info string late: the move missed its hard deadline by {result.late_ms} ms")
        self._tell_table_problems()
        self._released.wait()
        ponder = f" ponder {result.ponder_move}" if result.ponder_move else ""
        self._say(f"bestmove {result.best_move or '0000'}{ponder}")

    def _stop(self) -> None:
        """End the search or the count, if one is running, and wait until its move is out."""
        self._enough_counted.set()
        self._finish_counting()
        if self._worker is not None and self._thinking is not None:
            self._thinking.stop()
            self._released.set()
            self._worker.join()
            self._worker = None

    def _ponder_hit(self) -> None:
        """The expected move was played: the clocks of `go ponder` count from now on."""
        if self._worker is not None and self._thinking is not None and self._thinking.limits.ponder:
            self._thinking.ponder_hit()
            self._released.set()

    def _debug(self, words: list[str]) -> None:
        """`on` or `off`: whether every command is echoed, so that a log shows what the engine heard and when."""
        if words not in (["on"], ["off"]):
            raise UciError("expected debug on or debug off")
        self._debugging = words == ["on"]

    def _show_board(self) -> None:
        """For people: the position as we see it."""
        state = "in check" if self._board.is_check() else "not in check"
        self._say(f"{self._board.diagram()}\n\nFen: {self._board.fen()}\nKey: {self._board.key():016x}")
        self._say(f"{self._board.turn} to move, {state}, {len(self._board.legal_moves())} legal moves")

    def _show_evaluation(self) -> None:
        """For people: every term for both sides, in centipawns."""
        parts = evaluation(self._board)
        self._say(f"{'term':<15}{'White mg':>9}{'eg':>6}{'Black mg':>10}{'eg':>6}")
        for name, (white_midgame, white_endgame, black_midgame, black_endgame) in parts.terms.items():
            self._say(f"{name:<15}{white_midgame:>9}{white_endgame:>6}{black_midgame:>10}{black_endgame:>6}")
        self._say(f"phase {parts.phase}/{parts.full_phase}, evaluation {parts.score_cp / 100:+.2f} (White's view)")
        score_cp = self._engine.network_score_cp(self._board)
        if score_cp is not None:
            what_plays = self._engine.describe_evaluation()
            self._say(f"but {what_plays} plays, evaluation {score_cp / 100:+.2f} (White's view)")

    def _begin_counting(self, depth: int) -> None:
        self._enough_counted.clear()
        self._counter = Thread(target=self._perft, args=(self._board.copy(), depth), name="perft")
        self._counter.start()

    def _finish_counting(self) -> None:
        """A perft is waited for, by `quit` and the end of the input too, as scripts expect; only `stop` ends it."""
        if self._counter is not None:
            self._counter.join()
            self._counter = None

    def _perft(self, board: Board, depth: int) -> None:
        """The thread of `go perft`: the leaves below each move, as they are counted."""
        total = 0
        for move in board.legal_moves():
            after, count = board.copy(), 0
            after.push(move)
            for portion in portions(after.position, depth - 1):
                count += portion
                if self._enough_counted.is_set():
                    self._say("info string perft was stopped")
                    return
            self._say(f"{move}: {count}")
            total += count
        self._say(f"\nNodes searched: {total}")


def _options() -> Iterator[tuple[str, str]]:
    """The name of each option, and of what kind it is."""
    yield "Hash", f"spin default {DEFAULT_HASH_MB} min 1 max {MAX_HASH_MB}"
    yield "Clear Hash", "button"
    yield "Threads", f"spin default 1 min 1 max {MAX_THREADS}"
    yield "MultiPV", f"spin default 1 min 1 max {MAX_LINES}"
    yield "Ponder", "check default false"
    yield "Move Overhead", f"spin default {DEFAULT_OVERHEAD_MS} min 0 max {MAX_OVERHEAD_MS}"
    yield "UCI_Chess960", "check default false"
    yield "UCI_AnalyseMode", "check default false"
    yield "UCI_ShowWDL", "check default false"
    yield "SyzygyPath", f"string default {EMPTY}"
    yield "SyzygyProbeLimit", f"spin default {MOST_MEN} min 0 max {MOST_MEN}"
    yield "EvalFile", f"string default {default_choice()}"
    for option, group in STYLE_OPTIONS.items():
        yield option, f"spin default 100 min {STYLES[group][0]} max {STYLES[group][-1]}"


def _number(name: str, text: str, least: int, most: int) -> int:
    """The whole number from `least` to `most`. Raises UciError."""
    number = int(text) if re.fullmatch("[+-]?[0-9]{1,20}", text) else least - 1
    if not least <= number <= most:
        raise UciError(f"expected a whole number from {least} to {most} for {name}, found {text[:40]!r}")
    return number


def _switch(name: str, text: str) -> bool:
    """True or false. Raises UciError."""
    if text.lower() not in ("true", "false"):
        raise UciError(f"expected true or false for {name}, found {text[:40]!r}")
    return text.lower() == "true"


def _parse_limits(words: list[str]) -> tuple[Limits, list[str], list[str]]:
    """The limits of a `go` command, its `searchmoves`, and words that mean nothing, which UCI wants ignored.

    A clock below zero counts as empty. Raises UciError for numbers that are none, and where no word means anything.
    """
    limits: dict[str, Any] = {"infinite": not words}
    only: list[str] = []
    unknown: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        if word in ("infinite", "ponder"):
            limits[word] = True
        elif word in GO_NUMBERS:
            least = -(10**9) if word in ("wtime", "btime") else 0
            value = words[index + 1] if index + 1 < len(words) else ""
            most = MAX_NODES if word == "nodes" else FOREVER_MS
            limits[GO_NUMBERS[word]] = max(0, min(_number(word, value, least, MAX_NODES), most))
            index += 1
        elif word == "searchmoves":
            only = list(takewhile(lambda text: text not in GO_WORDS, words[index + 1 :]))
            index += len(only)
        else:
            unknown.append(word)
        index += 1
    if unknown and len(unknown) == len(words):
        raise UciError(_unknown_word(unknown[0]))
    return Limits(**limits), only, unknown


def _unknown_word(word: str) -> str:
    return f"unknown word {word[:40]!r} after go; known: {' '.join(GO_WORDS)} perft"


def _info(report: SearchReport, shows_outcome: bool) -> str:
    """One `info` line."""
    score = f"cp {report.score_cp}" if report.mate_in is None else f"mate {report.mate_in}"
    bound = "" if report.bound is Bound.EXACT else f"{report.bound} "
    wdl = f"wdl {report.wdl.win} {report.wdl.draw} {report.wdl.loss} " if shows_outcome else ""
    return (
        f"info depth {report.depth} seldepth {report.selective_depth} multipv {report.line} "
        f"score {score} {bound}{wdl}nodes {report.nodes} "
        f"nps {report.nps} hashfull {report.hashfull} tbhits {report.table_hits} "
        f"time {report.time_ms} pv {' '.join(report.pv)}"
    )
