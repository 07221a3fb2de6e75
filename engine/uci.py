"""The Universal Chess Interface: commands on standard input, answers on standard output.

The search runs in its own thread, so `stop`, `isready` and `quit` take effect at once. Only a perft is finished before
`quit`, as scripts send both commands together; `stop` ends it. An invalid command is answered by an `info string` and
otherwise ignored; after an invalid `position` there is nothing to search. The end of the input quits. (Rudolf Huber,
Stefan Meyer-Kahlen: UCI protocol, 2006)
"""

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, TextIO

from engine import __version__
from engine.facade import (
    DEFAULT_HASH_MB,
    DEFAULT_OVERHEAD_MS,
    GROUP_PERCENTS,
    MAX_TABLEBASE_PIECES,
    NAMED_STYLES,
    RATINGS,
    UCI_VARIANTS,
    AnySearch,
    Board,
    Bound,
    Engine,
    InvalidFen,
    InvalidMove,
    InvalidNet,
    SearchReport,
    SearchResult,
    Tablebase,
    default_choice,
    describe_build,
    evaluation,
    usable_cores,
)
from engine.nearest import did_you_mean
from engine.uci_words import (
    BUTTON,
    Option,
    UciError,
    check,
    combo,
    parse_limits,
    parse_number,
    spin,
    string,
    words_of,
)

NAME = f"lichessbot-engine {__version__}"
AUTHOR = "the lichessbot authors"
MAX_HASH_MB = 65536
MAX_OVERHEAD_MS = 10000
MAX_THREADS = 256
MAX_LINES = 218                    # the most moves of a position that a game of standard chess can reach
MAX_PERFT_DEPTH = 20
NO_STYLE = "none"
GROUP_OPTIONS = {f"Style {group.replace('_', ' ').title()}": group for group in GROUP_PERCENTS}
OPTIONS: dict[str, Option] = {
    "Hash": spin(DEFAULT_HASH_MB, 1, MAX_HASH_MB),
    "Clear Hash": BUTTON,
    "Threads": spin(1, 1, MAX_THREADS),
    "MultiPV": spin(1, 1, MAX_LINES),
    "Ponder": check(default=False),
    "Move Overhead": spin(DEFAULT_OVERHEAD_MS, 0, MAX_OVERHEAD_MS),
    "UCI_Chess960": check(default=False),
    "UCI_Variant": combo("chess", *UCI_VARIANTS),
    "UCI_AnalyseMode": check(default=False),
    "UCI_ShowWDL": check(default=False),
    "UCI_LimitStrength": check(default=False),
    "UCI_Elo": spin(RATINGS[-1], RATINGS[0], RATINGS[-1]),
    "OwnBook": check(default=True),    # for limited strength only: at full strength the engine uses no book
    "SyzygyPath": string(""),
    "SyzygyProbeLimit": spin(MAX_TABLEBASE_PIECES, 0, MAX_TABLEBASE_PIECES),
    "EvalFile": string(default_choice()),
    "Style": combo(NO_STYLE, NO_STYLE, *NAMED_STYLES),
} | {
    option: spin(100, GROUP_PERCENTS[group][0], GROUP_PERCENTS[group][-1]) for option, group in GROUP_OPTIONS.items()
}
REFUSED = "nothing to search, as the last position was refused"
DURING_PERFT = ("isready", "stop") # all other commands wait for the end of a perft


class Uci:
    """One UCI session."""

    def __init__(self, output: TextIO = sys.stdout) -> None:
        self._output = output
        self._output_lock = Lock()
        self._engine = Engine()
        self._board = Board()
        self._setup = ("startpos", False)          # of the last valid `position`, and whether it is Chess960
        self._moves: list[str] = []                # the moves of the last valid `position`
        self._refused = False                      # whether an invalid `position` came after it
        self._chess960 = False
        self._variant = "standard"
        self._show_wdl = False
        self._debug = False
        self._limit_strength = False
        self._rating = RATINGS[-1]
        self._search: AnySearch | None = None
        self._search_thread: Thread | None = None
        self._may_answer = Event()         # an infinite or pondering search holds back its move until then
        self._perft_thread: Thread | None = None
        self._perft_stopped = Event()
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "uci": self._uci,
            "isready": lambda words: self._get_ready(),
            "ucinewgame": self._new_game,
            "position": self._set_position,
            "setoption": self._set_option,
            "go": self._go,
            "stop": lambda words: self._stop(),
            "ponderhit": lambda words: self._ponder_hit(),
            "debug": self._set_debug,
            "d": lambda words: self._show_board(),
            "eval": lambda words: self._show_evaluation(),
        }

    def run(self, lines: Iterable[str]) -> None:
        """Handle commands until `quit`, the end of the input, or Ctrl-C; then end the search."""
        try:
            for line in lines:
                words = words_of(line)
                if words[:1] == ["quit"]:
                    break
                if words:
                    self._handle(words)
            self._wait_for_perft()
        finally:
            self._stop()

    def _handle(self, words: list[str]) -> None:
        command = self._commands.get(words[0])
        if command is None:
            self._say(f"info string unknown command {words[0][:40]!r}; known: {' '.join(self._commands)} quit")
            return
        if words[0] not in DURING_PERFT:
            self._wait_for_perft()
        if self._debug:
            self._say(f"info string heard {' '.join(words)[:200]!r}")
        try:
            command(words[1:])
        except (UciError, InvalidFen, InvalidMove, InvalidNet, MemoryError) as error:
            self._say(f"info string error: {error}")

    def _say(self, text: str) -> None:
        """Write a whole line, from any thread. A closed output is ignored: the session is about to end."""
        with self._output_lock, suppress(BrokenPipeError):
            self._output.write(text + "\n")
            self._output.flush()

    # --- Commands ------------------------------------------------------------------------------------------------

    def _uci(self, words: list[str]) -> None:
        self._say(f"id name {NAME}\nid author {AUTHOR}")
        for name, option in OPTIONS.items():
            self._say(f"option name {name} type {option.kind}")
        self._say(f"info string engine runs {describe_build()}; evaluation: {self._engine.describe_evaluation()}")
        self._say("uciok")

    def _get_ready(self) -> None:
        """Do what would delay the next search, unless one is running, which also has done it."""
        if self._search is None:
            self._engine.provide_memory()
        self._say("readyok")

    def _new_game(self, words: list[str]) -> None:
        self._stop()
        self._engine.new_game()

    def _set_position(self, words: list[str]) -> None:
        """Set up `startpos` or `fen FEN`, then play `moves MOVE ...`. After an error, `go` refuses to search."""
        self._refused = True
        split = words.index("moves") if "moves" in words else len(words)
        setup, moves = words[:split], words[split + 1 :]
        if setup != ["startpos"] and setup[:1] != ["fen"]:
            raise UciError("expected position startpos or position fen FEN, then perhaps moves MOVE ...")
        start = "startpos" if setup == ["startpos"] else " ".join(setup[1:])
        setup_key = (start, self._chess960)
        played = len(self._moves)
        if setup_key == self._setup and moves[:played] == self._moves:
            board = self._board.after(*moves[played:])         # the same game: play its new moves only
        else:
            fen = None if start == "startpos" else start
            board = Board(fen, chess960=self._chess960, variant=self._variant).after(*moves)
        self._stop()
        self._board, self._setup, self._moves, self._refused = board, setup_key, moves, False

    def _set_option(self, words: list[str]) -> None:
        """Handle `name NAME value VALUE`; names ignore case and may contain spaces."""
        split = words.index("value") if "value" in words else len(words)
        if words[:1] != ["name"]:
            raise UciError("expected setoption name NAME value VALUE")
        name = " ".join(words[1:split])
        self._stop()
        option = next((known for known in OPTIONS if known.lower() == name.lower()), None)
        if option is None:
            hint = did_you_mean(name, OPTIONS) or ";"
            raise UciError(f"unknown option {name[:40]!r}{hint} `uci` lists the known ones")
        value: Any = OPTIONS[option].parse(option, " ".join(words[split + 1 :]))
        match option:
            case "Hash":
                self._engine.resize_hash(value)
            case "Clear Hash":
                self._engine.clear_hash()
            case "Threads":
                self._set_threads(value)
            case "MultiPV":
                self._engine.lines = value
            case "Ponder":
                pass               # announces `go ponder`, which always works
            case "Move Overhead":
                self._engine.move_overhead_ms = value
            case "UCI_Chess960":
                self._chess960 = value
            case "UCI_Variant":
                self._set_variant(UCI_VARIANTS[value])
            case "UCI_AnalyseMode":
                self._engine.analyse_mode = value
            case "UCI_ShowWDL":
                self._show_wdl = value
            case "UCI_LimitStrength":
                self._limit_strength = value
                self._limit()
            case "UCI_Elo":
                self._rating = value
                self._limit()
            case "OwnBook":
                self._engine.use_own_book(value)
            case "SyzygyPath":
                self._open_tablebase(value)
            case "SyzygyProbeLimit":
                self._engine.tablebase.probe_limit = value
                self._engine.new_game()
            case "EvalFile":
                self._engine.set_evaluation(value)
                self._report_evaluation()
            case "Style":
                self._engine.set_named_style(None if value == NO_STYLE else value)
                self._report_evaluation()
            case _:
                self._engine.weigh_group(GROUP_OPTIONS[option], value)
                self._board = self._board.replayed()
                self._report_evaluation()

    def _report_evaluation(self) -> None:
        self._say(f"info string evaluation: {self._engine.describe_evaluation()}")

    def _limit(self) -> None:
        """Play at the rating if strength is limited, else at full strength."""
        self._engine.limit_strength(self._rating if self._limit_strength else None)
        self._report_evaluation()

    def _set_threads(self, threads: int) -> None:
        self._engine.set_threads(threads)
        if threads > (cores := usable_cores()):
            self._say(f"info string {threads} threads on {cores} core{'s' * (cores > 1)}: moves may come late")

    def _set_variant(self, variant: str) -> None:
        """Play this variant from now on, beginning with its starting position."""
        self._variant = variant
        self._board = Board(chess960=self._chess960, variant=variant)
        self._setup, self._moves, self._refused = ("startpos", self._chess960), [], False
        self._engine.set_position(self._board)
        self._report_evaluation()

    def _open_tablebase(self, path: str) -> None:
        """Open the folders of a path list, separated like the system's PATH."""
        folders = [Path(folder) for folder in path.split(os.pathsep) if folder]
        self._engine.set_tablebase(Tablebase(folders, self._engine.tablebase.probe_limit))
        self._say(f"info string endgame tablebases: {self._engine.tablebase.describe()}")
        self._report_tablebase_problems()

    def _report_tablebase_problems(self) -> None:
        """Report each problem once, as soon as it is known."""
        for problem in self._engine.tablebase.new_problems():
            self._say(f"info string {problem}: not used")

    def _go(self, words: list[str]) -> None:
        self._stop()
        if words[:1] == ["perft"]:
            self._start_perft(parse_number("perft", " ".join(words[1:]), 1, MAX_PERFT_DEPTH))
            return
        limits, only, notes = parse_limits(words)
        for note in notes:
            self._say(f"info string {note}")
        if self._refused:
            self._say(f"info string error: {REFUSED}\nbestmove 0000")
            return
        allowed = self._legal_moves_among(only)
        try:
            self._engine.set_position(self._board)
            self._search = self._engine.begin(limits, allowed)
        except MemoryError:
            self._answer(self._without_search(allowed))
            return
        self._may_answer.clear()
        if not (limits.infinite or limits.ponder):
            self._may_answer.set()
        # Ctrl-C may end this line in the middle: a thread that runs is known already.
        self._search_thread = Thread(target=self._run_search, args=(self._search, allowed), name="search")
        try:
            self._search_thread.start()
        except RuntimeError:       # the system refuses more threads: search here, deaf to `stop` until the move
            if not self._may_answer.is_set():
                self._stop_search(self._search)
            self._run_search(self._search, allowed)

    def _legal_moves_among(self, words: list[str]) -> list[str]:
        """Return the words that are legal moves; the others are said to be ignored, as a search must answer."""
        legal = []
        for word in words:
            try:
                self._board.parse(word)
                legal.append(word)
            except InvalidMove as error:
                self._say(f"info string {error}; ignored")
        return legal

    def _run_search(self, search: AnySearch, allowed: list[str]) -> None:
        """Report the search, then its move; UCI wants some moves held back until `stop` or `ponderhit`."""
        def tell(report: SearchReport) -> None:
            nonlocal allowed
            if report.line == 1 and report.pv:
                allowed = [report.pv[0]]
            self._say(_info(report, self._show_wdl))

        try:
            result = search.run(report=tell, current=lambda news: self._say(
                f"info depth {news.depth} currmove {news.move} currmovenumber {news.number}"
            ))
        except MemoryError:
            result = self._without_search(allowed)
        if result.late_ms > 0:
            self._say(f"info string late: the move missed its hard deadline by {result.late_ms} ms")
        self._report_tablebase_problems()
        if result.best_move is None:
            outcome = self._board.outcome()
            # The side to move may have won, as in antichess. UCI has no word for that: `mate 0` says that it is mated.
            moves = 1 if outcome and outcome.winner == self._board.turn else 0
            self._say(f"info depth 0 score {'mate' if outcome and outcome.winner else 'cp'} {moves}")
        self._may_answer.wait()
        self._answer(result)

    def _without_search(self, allowed: list[str]) -> SearchResult:
        """Return the first of the allowed moves, all if there are none, and say why."""
        self._say("info string error: too little memory to search; playing the best move so far or the first legal one")
        return SearchResult(next(iter(allowed or self._board.legal_moves()), None), None, None)

    def _answer(self, result: SearchResult) -> None:
        ponder = f" ponder {result.ponder_move}" if result.ponder_move else ""
        self._say(f"bestmove {result.best_move or '0000'}{ponder}")

    def _stop(self) -> None:
        """End a running search or perft, and wait until it has answered."""
        self._perft_stopped.set()
        self._wait_for_perft()
        if self._search is not None:
            self._stop_search(self._search)
            if self._search_thread is not None and self._search_thread.is_alive():
                self._search_thread.join()
        self._search = self._search_thread = None

    def _stop_search(self, search: AnySearch) -> None:
        search.stop()
        self._may_answer.set()

    def _ponder_hit(self) -> None:
        """Start the clocks of `go ponder`: the expected move was played."""
        if self._search is not None and self._search.limits.ponder:
            self._search.ponder_hit()
            self._may_answer.set()

    def _set_debug(self, words: list[str]) -> None:
        """Turn the echo of every command `on` or `off`, so that a log shows what the engine read and when."""
        if words not in (["on"], ["off"]):
            raise UciError("expected debug on or debug off")
        self._debug = words == ["on"]

    def _show_board(self) -> None:
        """Show the position to people."""
        state = "in check" if self._board.is_check() else "not in check"
        self._say(f"{self._board.diagram()}\n\nFen: {self._board.fen()}\nKey: {self._board.key():016x}")
        self._say(f"{self._board.turn} to move, {state}, {len(self._board.legal_moves())} legal moves")

    def _show_evaluation(self) -> None:
        """Show people every term of the evaluation for both sides, in centipawns."""
        parts = evaluation(self._board)
        self._say(f"{'term':<15}{'White mg':>9}{'eg':>6}{'Black mg':>10}{'eg':>6}")
        for name, (white_midgame, white_endgame, black_midgame, black_endgame) in parts.terms.items():
            self._say(f"{name:<15}{white_midgame:>9}{white_endgame:>6}{black_midgame:>10}{black_endgame:>6}")
        self._say(f"phase {parts.phase}/{parts.full_phase}, evaluation {parts.score_cp / 100:+.2f} (White's view)")
        score_cp = self._engine.network_score_cp(self._board)
        if score_cp is not None:
            what_plays = self._engine.describe_evaluation()
            self._say(f"{what_plays} plays: {score_cp / 100:+.2f} (White's view)")

    def _start_perft(self, depth: int) -> None:
        if self._refused:
            raise UciError(REFUSED)
        self._perft_stopped.clear()
        self._perft_thread = Thread(target=self._perft, args=(self._board.copy(), depth), name="perft")
        try:
            self._perft_thread.start()
        except RuntimeError as error:      # the system refuses more threads
            self._perft_thread = None
            raise UciError(f"no perft: {error}") from error

    def _wait_for_perft(self) -> None:
        """Wait for a perft to finish, also before `quit` and at the end of the input, as scripts expect."""
        if self._perft_thread is not None:
            self._perft_thread.join()
            self._perft_thread = None

    def _perft(self, board: Board, depth: int) -> None:
        """Count the leaves below each move, as the thread of `go perft`."""
        total = 0
        for move in board.legal_moves():
            count = 0
            for portion in board.after(move).perft(depth - 1):
                count += portion
                if self._perft_stopped.is_set():
                    self._say("info string perft was stopped")
                    return
            self._say(f"{move}: {count}")
            total += count
        self._say(f"\nNodes searched: {total}")


def _info(report: SearchReport, show_wdl: bool) -> str:
    """Return one `info` line."""
    score = f"cp {report.score_cp}" if report.mate_in is None else f"mate {report.mate_in}"
    bound = "" if report.bound is Bound.EXACT else f"{report.bound} "
    wdl = f"wdl {report.wdl.win} {report.wdl.draw} {report.wdl.loss} " if show_wdl and report.wdl else ""
    return (
        f"info depth {report.depth} seldepth {report.selective_depth} multipv {report.line} score {score} {bound}{wdl}"
        f"nodes {report.nodes} nps {report.nps} hashfull {report.hashfull} tbhits {report.tablebase_hits} "
        f"time {report.time_ms} pv {' '.join(report.pv)}"
    )
