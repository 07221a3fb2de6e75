"""The engine's only door: the rules as `Board`, the search as `Engine`, and the file formats.

    engine = Engine()
    engine.set_position(Board())
    print(engine.go(Limits(depth=8)).best_move)

- Rules: `Board`, of standard chess and the variants, with its `Outcome` and `Ending`; `STARTING_FEN`, `chess960_fen`,
  `perft`, `polyglot_key`. They raise `InvalidFen`, `InvalidMove` and `InvalidVariant`.
- Search: `Engine`, `Limits`, `RunningSearch`, and what it reports: `SearchResult`, `SearchReport`, `CurrentMove`,
  `Bound`, `Wdl`; `evaluation` explains the static evaluation.
- Files: opening books (`Book`, `BookMove`, `OWN_BOOK`, `review_book`; `InvalidBook`), the names of openings (`Opening`,
  `opening_of`), endgame tablebases (`Tablebase`, `TableReport`), PGN (`pgn_text`), networks (`default_choice`;
  `InvalidNet`).
- The machine: `build_mode`, `describe_build`, `available_mb`.

Unless a name says otherwise, moves are UCI text, scores are centipawns, and times are milliseconds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread

from engine.board import Board, Ending, InvalidMove, NoEvaluation, Outcome
from engine.book.opening_book import Book, BookMove, InvalidBook, review_book
from engine.book.opening_names import Opening, opening_of
from engine.book.polyglot import polyglot_key
from engine.core.fen import STARTING_FEN, InvalidFen, chess960_fen
from engine.core.perft import perft
from engine.core.score import mate_distance, scale
from engine.evaluation import eval_file
from engine.evaluation.eval_file import build_mode, default_choice
from engine.evaluation.evaluate import phase_of, terms
from engine.evaluation.net_file import InvalidNet
from engine.evaluation.network import Network, instructions
from engine.evaluation.style import LEAST, Style, most
from engine.evaluation.weights import Group
from engine.pgn.pgn import pgn_text
from engine.search.available_memory import available_mb
from engine.search.history import History
from engine.search.iterative_deepening import Bound, Iteration, IterativeDeepening, Task, run_helper
from engine.search.search import Search
from engine.search.search_stack import network_score
from engine.search.time_manager import Limits, TimeManager, deadlines_us
from engine.search.transposition import TranspositionTable
from engine.search.wdl import Wdl, wdl_of
from engine.syzygy.file_header import MAX_PIECES
from engine.syzygy.tablebase import Tablebase, TableReport
from engine.variants.variant import InvalidVariant

__all__ = [
    "DEFAULT_HASH_MB",
    "DEFAULT_OVERHEAD_MS",
    "MAX_TABLEBASE_PIECES",
    "OWN_BOOK",
    "STARTING_FEN",
    "STYLES",
    "Board",
    "Book",
    "BookMove",
    "Bound",
    "CurrentMove",
    "Ending",
    "Engine",
    "Evaluation",
    "InvalidBook",
    "InvalidFen",
    "InvalidMove",
    "InvalidNet",
    "InvalidVariant",
    "Limits",
    "NoEvaluation",
    "Opening",
    "Outcome",
    "RunningSearch",
    "SearchReport",
    "SearchResult",
    "TableReport",
    "Tablebase",
    "Wdl",
    "available_mb",
    "build_mode",
    "chess960_fen",
    "default_choice",
    "describe_build",
    "evaluation",
    "longest_think_s",
    "opening_of",
    "perft",
    "pgn_text",
    "polyglot_key",
    "review_book",
]

DEFAULT_HASH_MB = 16
DEFAULT_OVERHEAD_MS = 10           # enough for a local program; over a network set more
MAX_TABLEBASE_PIECES = MAX_PIECES  # of the largest endgame tablebases, kings included
OWN_BOOK = Path(__file__).parent / "data" / "own_book.bin"     # grown from our own games: `lichessbot-engine book grow`
STYLES = {str(group): range(LEAST, most(group) + 1) for group in Group}        # percentages, see style.py
TABLEBASE_SCORES = {2: scale()["TABLE_WIN"], -2: -scale()["TABLE_WIN"]}        # by WDL; the rest is drawn


def describe_build() -> str:
    """Return for people whether the engine is compiled, and the vector instructions that inference uses."""
    return f"compiled, {instructions()}" if build_mode() == "compiled" else build_mode()


def longest_think_s(limits: Limits, *, white: bool) -> float:
    """Return the longest time in seconds that an `Engine` without move overhead searches under `limits`.

    Without a clock or a move time that is about thirty years.
    """
    return deadlines_us(limits, white, 0)[1] / 1e6


@dataclass(frozen=True)
class Evaluation:
    """The static evaluation by terms.

    `score_cp` is White's view. Each of `terms` holds White's midgame and endgame values, then Black's, in centipawns
    for their owner. The midgame values weigh `phase` of `full_phase`.
    """

    score_cp: int
    terms: dict[str, tuple[int, int, int, int]]
    phase: int
    full_phase: int


def evaluation(board: Board) -> Evaluation:
    """Return the hand-written static evaluation of a board, term by term."""
    phase, full_phase = phase_of(board.position)
    return Evaluation(board.evaluate(), terms(board.position), phase, full_phase)


@dataclass(frozen=True)
class SearchReport:
    """The result of one depth, with scores from the side to move's view; `line` 1 is the best of several.

    Exactly one of `score_cp` (centipawns) and `mate_in` (full moves, negative when being mated) is not None. A depth
    may be reported more than once; its last report is `Bound.EXACT` unless the search was stopped. `selective_depth`
    is in plies, `nps` in nodes per second, `hashfull` in thousandths. `table_hits` counts tablebase hits.
    """

    line: int
    depth: int
    selective_depth: int
    score_cp: int | None
    mate_in: int | None
    bound: Bound
    nodes: int
    time_ms: int
    nps: int
    hashfull: int
    table_hits: int
    wdl: Wdl
    pv: tuple[str, ...]


@dataclass(frozen=True)
class CurrentMove:
    """The root move that a long search has come to; `number` 1 is the first at its depth."""

    depth: int
    move: str
    number: int


@dataclass(frozen=True)
class SearchResult:
    """The move to play, None if there is no legal move; the expected reply; the last report, if any.

    `late_ms` is the time by which the move missed the hard deadline, as on a busy machine.
    """

    best_move: str | None
    ponder_move: str | None
    report: SearchReport | None
    late_ms: int = 0


class RunningSearch:
    """One search of one position; its clock starts when `Engine.begin` creates it."""

    def __init__(
        self,
        board: Board,
        table: TranspositionTable,
        histories: Sequence[History],
        network: Network | None,
        task: Task,
        overhead_ms: int,
        tablebase: Tablebase,
    ) -> None:
        """Search with one thread for each of `histories`; the threads share table and network."""
        self.limits = task.limits
        self._board = board
        self._table = table
        self._task = task
        self._tablebase = tablebase
        self._root_report: TableReport | None = None
        deadlines = deadlines_us(task.limits, board.turn == "white", overhead_ms)
        self._time_manager = TimeManager(*deadlines, task.limits.ponder)

        def search(history: History, time_manager: TimeManager, nodes: int) -> Search:
            position = board.copy().position
            return Search(position, table, history, time_manager, nodes, network, tablebase.prober(position))

        self._search = search(histories[0], self._time_manager, task.limits.nodes or 0)
        self._helpers = [search(history, TimeManager(), 0) for history in histories[1:]]
        self._last: SearchReport | None = None
        self._piece_count = board.position.state()["occupied"].bit_count()

    def stop(self) -> None:
        """End the search as soon as possible, even before `run`; callable from any thread."""
        self._search.stop()

    def ponder_hit(self) -> None:
        """Apply the limits from now on, as the expected move was played; callable from any thread."""
        self._time_manager.ponder_hit()
        if self._time_manager.is_done:
            self._search.stop()

    def run(
        self,
        report: Callable[[SearchReport], None] | None = None,
        current: Callable[[CurrentMove], None] | None = None,
    ) -> SearchResult:
        """Search until a limit is reached or `stop` is called. Blocks, but releases the interpreter lock.

        `report` is called for each line after each depth, `current` for each root move of a search that takes long.
        However early the stop, the result has a legal move.
        """
        if not self._task.moves:
            return SearchResult(None, None, None)
        self._probe_root()

        def on_iteration(iteration: Iteration) -> None:
            described = self._describe(iteration)
            if iteration.number == 1:
                self._last = described
            if report is not None:
                report(described)

        def on_root_move(depth: int, move: int, number: int) -> None:
            if current is not None:
                current(CurrentMove(depth, self._board.spell(move), number))

        deepening = IterativeDeepening(self._search, self._time_manager, self._task, on_iteration, on_root_move)
        threads = [
            Thread(target=run_helper, args=(helper, self._task, number), name=f"search-{number}")
            for number, helper in enumerate(self._helpers, 1)
        ]
        for thread in threads:
            thread.start()
        try:
            variation = deepening.run() or self._task.moves[:1]
        finally:
            for helper in self._helpers:
                helper.stop()
            for thread in threads:
                thread.join()
        best, reply = (*self._spell(variation), None)[:2]
        return SearchResult(best, reply, self._last, self._time_manager.late_ms())

    def _probe_root(self) -> None:
        """Leave out the moves that lose the tablebase result.

        If DTZ is known, the search itself does not probe: it would be content with any winning capture.
        """
        report = self._tablebase.report(self._board)
        if report is None:
            return
        moves = {self._board.spell(move): move for move in self._task.moves}
        self._root_report = report.among(moves)
        kept = [moves[move] for move in self._root_report.worth_searching(self._board.repetition_count() > 1)]
        self._task = replace(self._task, moves=kept, complete=self._task.complete and len(kept) == len(moves))
        if report.has_distances:
            for search in (self._search, *self._helpers):
                search.prober.disable()

    def _describe(self, iteration: Iteration) -> SearchReport:
        score = iteration.line.score
        mate = mate_distance(score)
        if self._root_report is not None and mate is None:
            score = TABLEBASE_SCORES.get(self._root_report.wdl, 0)
        nodes = iteration.nodes + sum(helper.node_count() for helper in self._helpers)
        hits = sum(search.prober.hit_count() for search in (self._search, *self._helpers))
        return SearchReport(
            line=iteration.number,
            depth=iteration.depth,
            selective_depth=iteration.selective_depth,
            score_cp=score if mate is None else None,
            mate_in=mate,
            bound=iteration.line.bound,
            nodes=nodes,
            time_ms=iteration.time_ms,
            nps=nodes * 1000 // max(1, iteration.time_ms),
            hashfull=self._table.hashfull(),
            table_hits=hits + (len(self._root_report.moves) if self._root_report is not None else 0),
            wdl=wdl_of(score, self._piece_count),
            pv=self._spell(iteration.line.variation),
        )

    def _spell(self, variation: Sequence[int]) -> tuple[str, ...]:
        """Return the moves as UCI text in the board's own castling notation."""
        # From a list, whose length is known: a tuple that had to grow leaves its first block in the interpreter's
        # free lists, a mebibyte after some thousand searches.
        return tuple([self._board.spell(move) for move in variation])


class Engine:
    """One player: a transposition table, move histories, an evaluation, a tablebase, and a position.

    Of its methods only `stop` may be called during a search.
    """

    def __init__(self, hash_mb: int = DEFAULT_HASH_MB, move_overhead_ms: int = DEFAULT_OVERHEAD_MS) -> None:
        """`hash_mb` is in mebibytes, 1 or more. Raises MemoryError if the system refuses them."""
        self.move_overhead_ms = move_overhead_ms       # subtracted from the clock for each move
        self.lines = 1             # MultiPV: how many of the best moves are searched and reported
        self.analyse_mode = False  # use all the time given, even if only one move is legal or a mate is proven
        self._table = TranspositionTable(hash_mb)
        self._histories = [History()]
        self._network = eval_file.load("")
        self._style = Style()
        self._tablebase = Tablebase()
        self._board = Board()
        self._search: RunningSearch | None = None

    def resize_hash(self, hash_mb: int) -> None:
        """Replace the table by an empty one of this many mebibytes. Raises MemoryError and keeps the old one."""
        self._table.resize(hash_mb)

    def set_threads(self, threads: int) -> None:
        """Search with this many threads, 1 or more. A node limit counts the nodes of the first thread only."""
        self._histories = [History() for _ in range(threads)]

    def set_evaluation(self, choice: str) -> None:
        """Evaluate by 'none' (the hand-written terms), '<shipped>' or the network in a file, and start a new game.

        Raises InvalidNet and keeps the old evaluation.
        """
        self._network = eval_file.load(choice)
        self.new_game()

    def set_style(self, group: str, percent: int) -> None:
        """Weigh one of STYLES by this percentage of its tuned weight, for the whole process, and start a new game.

        While any style is not neutral, the hand-written evaluation replaces the network. Boards made before must be
        `replayed` to be evaluated correctly. Raises KeyError for an unknown group, ValueError for a percentage out of
        range.
        """
        if percent not in STYLES[group]:
            raise ValueError(f"{group}: {percent} %")
        self._style.set(Group(group), percent)
        self._board = self._board.replayed()
        self.new_game()

    @property
    def tablebase(self) -> Tablebase:
        """The endgame tablebase that searches probe."""
        return self._tablebase

    def set_tablebase(self, tablebase: Tablebase) -> None:
        """Probe this tablebase, and start a new game."""
        self._tablebase = tablebase
        self.new_game()

    def describe_evaluation(self) -> str:
        """Return for people 'hand-written', perhaps with a style, or the network's name and size."""
        described = eval_file.describe(self._active_network)
        return described if self._style.is_neutral else f"{described}, style {self._style}"

    @property
    def _active_network(self) -> Network | None:
        return self._network if self._style.is_neutral else None

    def network_score_cp(self, board: Board) -> int | None:
        """Return the network's score of a board from White's view, or None if no network is active."""
        if self._active_network is None:
            return None
        score: int = network_score(board.position, self._active_network)
        return score if board.turn == "white" else -score

    def clear_hash(self) -> None:
        """Empty the transposition table."""
        self._table.clear()

    def new_game(self) -> None:
        """Empty the transposition table and the move histories."""
        self._table.clear()
        for history in self._histories:
            history.clear()

    def set_position(self, board: Board) -> None:
        """Search a copy of this board from now on, with its moves so far for repetitions.

        Raises NoEvaluation for a variant.
        """
        if board.variant != "standard":
            raise NoEvaluation(f"the engine does not search positions of {board.variant}")
        self._board = board.copy()

    def begin(self, limits: Limits, only: Sequence[str] = ()) -> RunningSearch:
        """Start the clock and return the search to `run`, perhaps in another thread; one search at a time.

        `only` restricts the root to these moves. Raises InvalidMove if one of them is not legal.
        """
        legal = [self._board.parse(text) for text in self._board.legal_moves()]
        chosen = list(dict.fromkeys(self._board.parse(text) for text in only)) or legal
        task = Task(chosen, len(chosen) == len(legal), self.lines, limits, patient=self.analyse_mode)
        self._table.new_search()
        for history in self._histories:
            history.new_search()
        self._search = RunningSearch(
            self._board,
            self._table,
            self._histories,
            self._active_network,
            task,
            self.move_overhead_ms,
            self._tablebase,
        )
        return self._search

    def go(
        self,
        limits: Limits,
        report: Callable[[SearchReport], None] | None = None,
        only: Sequence[str] = (),
    ) -> SearchResult:
        """Search the position and return the move, like `begin` and `RunningSearch.run`."""
        return self.begin(limits, only).run(report)

    def stop(self) -> None:
        """End the search begun last; callable from any thread."""
        if self._search is not None:
            self._search.stop()
