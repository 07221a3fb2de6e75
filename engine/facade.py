"""The engine's front door, and the only import for callers: the rules as `Board`, the search as `Engine`.

    engine = Engine()
    engine.set_position(Board())
    print(engine.go(Limits(depth=8)).best_move)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread

from engine.board import Board, InvalidMove
from engine.book.opening_book import Book, BookMove, BookReview, InvalidBook, review_book
from engine.book.polyglot import polyglot_key
from engine.core.available_memory import available_mb
from engine.core.fen import STARTING_FEN, InvalidFen, chess960_fen
from engine.core.interruptible_perft import portions
from engine.core.perft import perft
from engine.core.score import mate_distance, scale
from engine.evaluation.evaluate import phase_of, terms
from engine.evaluation.style import LEAST, Style, most
from engine.evaluation.weights import Group
from engine.nnue import eval_file
from engine.nnue.eval_file import build_mode, default_choice
from engine.nnue.net_file import InvalidNet
from engine.nnue.network import Network, instructions
from engine.pgn.game import Game, Node
from engine.pgn.pgn import game_text, parse_games, pgn_text, read_games
from engine.search.history import History
from engine.search.iterative_deepening import Bound, Iteration, IterativeDeepening, Listener, RootMove, Task, assist
from engine.search.search import Search
from engine.search.search_stack import network_score
from engine.search.time_manager import Limits, TimeManager, deadlines_us
from engine.search.transposition import TranspositionTable
from engine.search.wdl import Wdl, wdl_of
from engine.syzygy.file_header import MOST_MEN
from engine.syzygy.tablebase import Tablebase, TableMove, TableReport, Tables

__all__ = [
    "DEFAULT_HASH_MB",
    "DEFAULT_OVERHEAD_MS",
    "MOST_MEN",
    "OWN_BOOK",
    "STARTING_FEN",
    "STYLES",
    "Board",
    "Book",
    "BookMove",
    "BookReview",
    "Bound",
    "CurrentMove",
    "Engine",
    "Evaluation",
    "Game",
    "InvalidBook",
    "InvalidFen",
    "InvalidMove",
    "InvalidNet",
    "Limits",
    "Node",
    "SearchReport",
    "SearchResult",
    "TableMove",
    "TableReport",
    "Tablebase",
    "Tables",
    "Thinking",
    "Wdl",
    "available_mb",
    "build_mode",
    "chess960_fen",
    "default_choice",
    "describe_build",
    "evaluation",
    "game_text",
    "longest_think_s",
    "parse_games",
    "perft",
    "pgn_text",
    "polyglot_key",
    "portions",
    "read_games",
    "review_book",
]

DEFAULT_HASH_MB = 16
OWN_BOOK = Path(__file__).parent / "data" / "own_book.bin"     # grown from our own games: `lichessbot-engine book grow`
STYLES = {str(group): range(LEAST, most(group) + 1) for group in Group}        # percentages, see style.py
TABLE_SCORES = {2: scale()["TABLE_WIN"], -2: -scale()["TABLE_WIN"]}    # what tables of endings say; the rest is drawn
DEFAULT_OVERHEAD_MS = 10           # of a local program; whoever plays over a network sets more


def describe_build() -> str:
    """For people: the mode, and the vector instructions that a neural evaluation uses."""
    return f"compiled, {instructions()}" if build_mode() == "compiled" else build_mode()


def longest_think_s(limits: Limits, *, white: bool) -> float:
    """How long an `Engine` searches at most under `limits`, in seconds; one that keeps back overhead stops sooner.

    Without a clock or a move time that is forever, some thirty years.
    """
    return deadlines_us(limits, white, 0)[1] / 1e6


@dataclass(frozen=True)
class Evaluation:
    """The static evaluation taken apart. `score_cp` is White's view; each term holds White's midgame and endgame
    values, then Black's, in centipawns for their owner; `phase` of `full_phase` is the weight of the midgame values.
    """

    score_cp: int
    terms: dict[str, tuple[int, int, int, int]]
    phase: int
    full_phase: int


def evaluation(board: Board) -> Evaluation:
    """How the static evaluation of this board comes about."""
    phase, full_phase = phase_of(board.position)
    return Evaluation(board.evaluate(), terms(board.position), phase, full_phase)


@dataclass(frozen=True)
class SearchReport:
    """What a depth found, scores from the side to move's view; `line` 1 is the best of several.

    Exactly one of `score_cp` (centipawns) and `mate_in` (full moves, negative when being mated) is not None. A depth
    may be reported more than once: only its last report is `Bound.EXACT`, unless the search was stopped before.
    `table_hits` counts positions that tables of endings knew, `wdl` is what the score lets one hope for.
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
    """The root move being searched; told of only when a search takes long. `number` 1 is the first of its depth."""

    depth: int
    move: str
    number: int


@dataclass(frozen=True)
class SearchResult:
    """The move to play, None if there is no legal one; the reply expected, and the last report, if any.

    `late_ms`: by how much the move missed the hard deadline, which a busy machine may bring about.
    """

    best_move: str | None
    ponder_move: str | None
    report: SearchReport | None
    late_ms: int = 0


class Thinking:
    """One search of one position, begun when it is made: its clock runs from then on."""

    def __init__(
        self,
        board: Board,
        table: TranspositionTable,
        histories: Sequence[History],
        network: Network | None,
        task: Task,
        overhead_ms: int,
        tables: Tables,
    ) -> None:
        """One thread for each of `histories`, what a thread has learnt about moves; table and network are shared."""
        self.limits = task.limits
        self._board = board
        self._table = table
        self._task = task
        self._tables = tables
        self._ending: TableReport | None = None
        deadlines = deadlines_us(task.limits, board.turn == "white", overhead_ms)
        self._time_manager = TimeManager(*deadlines, task.limits.ponder)

        def search(history: History, time_manager: TimeManager, nodes: int) -> Search:
            position = board.copy().position
            return Search(position, table, history, time_manager, nodes, network, tables.prober(position))

        self._search = search(histories[0], self._time_manager, task.limits.nodes or 0)
        self._helpers = [search(history, TimeManager(), 0) for history in histories[1:]]
        self._last: SearchReport | None = None
        self._men = board.position.state()["occupied"].bit_count()

    def stop(self) -> None:
        """End the search as soon as possible, even before `run`; from any thread."""
        self._search.stop()

    def ponder_hit(self) -> None:
        """The move pondered on was played: from now on the limits hold; from any thread."""
        self._time_manager.hit()
        if self._time_manager.content:
            self._search.stop()

    def run(
        self,
        report: Callable[[SearchReport], None] | None = None,
        current: Callable[[CurrentMove], None] | None = None,
    ) -> SearchResult:
        """Search until a limit is reached or `stop` is called. Blocks, the interpreter lock released.

        `report` is called for each line after each depth, `current` for each root move of a long search. A legal move
        is at hand however early the stop.
        """
        if not self._task.moves:
            return SearchResult(None, None, None)
        self._ask_tables()

        def on_iteration(iteration: Iteration) -> None:
            described = self._describe(iteration)
            if iteration.number == 1:
                self._last = described
            if report is not None:
                report(described)

        def on_root_move(root_move: RootMove) -> None:
            if current is not None:
                current(CurrentMove(root_move.depth, self._board.spell(root_move.move), root_move.number))

        listener = Listener(on_iteration, on_root_move)
        deepening = IterativeDeepening(self._search, self._time_manager, self._task, listener)
        threads = [
            Thread(target=assist, args=(helper, self._task, number), name=f"search-{number}")
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

    def _ask_tables(self) -> None:
        """Leave out the moves that give away what the position is worth, if tables of endings tell.

        Where they know distances the search need not ask them: it would be content with any capture that wins.
        """
        report = self._tables.report(self._board)
        if report is None:
            return
        moves = {self._board.spell(move): move for move in self._task.moves}
        self._ending = report.among(moves)
        kept = [moves[move] for move in self._ending.worth_searching(self._board.repetition_count() > 1)]
        self._task = replace(self._task, moves=kept, complete=self._task.complete and len(kept) == len(moves))
        if report.has_distances:
            for search in (self._search, *self._helpers):
                search.stop_probing()

    def _describe(self, iteration: Iteration) -> SearchReport:
        score = iteration.line.score
        mate = mate_distance(score)
        if self._ending is not None and mate is None:
            score = TABLE_SCORES.get(self._ending.wdl, 0)
        nodes = iteration.nodes + sum(helper.node_count() for helper in self._helpers)
        hits = sum(search.table_hits() for search in (self._search, *self._helpers))
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
            table_hits=hits + (len(self._ending.moves) if self._ending is not None else 0),
            wdl=wdl_of(score, self._men),
            pv=self._spell(iteration.line.variation),
        )

    def _spell(self, variation: Sequence[int]) -> tuple[str, ...]:
        """The moves as text in the board's own spelling."""
        # By way of a list, whose length is known: a tuple that had to grow leaves its first block behind in the
        # interpreter's free lists, a mebibyte after some thousand searches.
        return tuple([self._board.spell(move) for move in variation])


class Engine:
    """One player: its hash table, what it has learnt about moves, and the position it looks at."""

    def __init__(self, hash_mb: int = DEFAULT_HASH_MB, move_overhead_ms: int = DEFAULT_OVERHEAD_MS) -> None:
        """`hash_mb` mebibytes of table, 1 or more; raises MemoryError if the system refuses them."""
        self.move_overhead_ms = move_overhead_ms
        self.lines = 1             # how many of the best moves are searched and reported, each with its variation
        self.analyse_mode = False  # use all the time given, even if only one move is legal or a mate is proven
        self._table = TranspositionTable(hash_mb)
        self._histories = [History()]
        self._network = eval_file.load("")
        self._style = Style()
        self._tables = Tables()
        self._board = Board()
        self._thinking: Thinking | None = None

    def resize_hash(self, hash_mb: int) -> None:
        """A new, empty table; not during a search. Raises MemoryError if the system refuses, keeping the old one."""
        self._table.resize(hash_mb)

    def set_threads(self, threads: int) -> None:
        """How many threads search, 1 or more; not during a search. A node limit counts those of the first alone."""
        self._histories = [History() for _ in range(threads)]

    def set_evaluation(self, choice: str) -> None:
        """Evaluate by 'none' (the hand-written terms), '<shipped>' or the network in a file; not during a search.

        What was learnt with another evaluation is forgotten. Raises InvalidNet, keeping the old one.
        """
        self._network = eval_file.load(choice)
        self.new_game()

    def set_style(self, group: str, percent: int) -> None:
        """Let one of STYLES weigh so much of what it is tuned to; not during a search. Else KeyError or ValueError.

        While any is not neutral the hand-written evaluation plays, whatever network is loaded. Holds for the whole
        process; boards made before are judged rightly only once they are `replayed`. What was learnt is forgotten.
        """
        if percent not in STYLES[group]:
            raise ValueError(f"{group}: {percent} %")
        self._style.set(Group(group), percent)
        self._board = self._board.replayed()
        self.new_game()

    def set_tables(self, tables: Tables) -> None:
        """Ask these tables of endings; not during a search. What was learnt without them is forgotten."""
        self._tables = tables
        self.new_game()

    @property
    def tables(self) -> Tables:
        """The tables of endings that are asked."""
        return self._tables

    def describe_evaluation(self) -> str:
        """For people: 'hand-written', perhaps with its style, or the network's name and size."""
        described = eval_file.describe(self._playing_network)
        return described if self._style.is_neutral else f"{described}, style {self._style}"

    @property
    def _playing_network(self) -> Network | None:
        return self._network if self._style.is_neutral else None

    def network_score_cp(self, board: Board) -> int | None:
        """What the network makes of a board, White's view; None if none plays."""
        if self._playing_network is None:
            return None
        score: int = network_score(board.position, self._playing_network)
        return score if board.turn == "white" else -score

    def clear_hash(self) -> None:
        """Empty the table; not during a search."""
        self._table.clear()

    def new_game(self) -> None:
        """Forget what earlier games taught; not during a search."""
        self._table.clear()
        for history in self._histories:
            history.clear()

    def set_position(self, board: Board) -> None:
        """Look at a copy of this board, with its game for repetitions; not during a search."""
        self._board = board.copy()

    def begin(self, limits: Limits, only: Sequence[str] = ()) -> Thinking:
        """A search to `run`, perhaps in another thread; one at a time. `only`: choose among these moves.

        Raises InvalidMove if one of them is not legal.
        """
        legal = [self._board.parse(text) for text in self._board.legal_moves()]
        chosen = list(dict.fromkeys(self._board.parse(text) for text in only)) or legal
        task = Task(chosen, len(chosen) == len(legal), self.lines, limits, patient=self.analyse_mode)
        self._table.new_search()
        for history in self._histories:
            history.new_search()
        self._thinking = Thinking(
            self._board,
            self._table,
            self._histories,
            self._playing_network,
            task,
            self.move_overhead_ms,
            self._tables,
        )
        return self._thinking

    def go(
        self,
        limits: Limits,
        report: Callable[[SearchReport], None] | None = None,
        only: Sequence[str] = (),
    ) -> SearchResult:
        """Search the position and return the move; see `begin` and `Thinking.run`. Time counts from the call."""
        return self.begin(limits, only).run(report)

    def stop(self) -> None:
        """End the search that was begun last; from any thread."""
        if self._thinking is not None:
            self._thinking.stop()
