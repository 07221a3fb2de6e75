"""The engine's front door, and the only import for callers: the rules as `Board`, the search as `Engine`.

    engine = Engine()
    engine.set_position(Board())
    print(engine.go(Limits(depth=8)).best_move)
"""

from collections.abc import Callable
from dataclasses import dataclass

from engine import bitboard
from engine.board import Board, InvalidMove
from engine.clock import Clock, Limits, deadlines_ms
from engine.deepening import Iteration, deepen
from engine.fen import STARTING_FEN, InvalidFen
from engine.history import History
from engine.move import uci_text
from engine.notation import chess960_fen, pgn_text
from engine.perft import divide, perft
from engine.score import mate_distance
from engine.search import Search
from engine.transposition import Table

__all__ = [
    "DEFAULT_HASH_MB",
    "DEFAULT_OVERHEAD_MS",
    "STARTING_FEN",
    "Board",
    "Engine",
    "InvalidFen",
    "InvalidMove",
    "Limits",
    "SearchReport",
    "SearchResult",
    "Thinking",
    "build_mode",
    "chess960_fen",
    "divide",
    "perft",
    "pgn_text",
]

DEFAULT_HASH_MB = 16
DEFAULT_OVERHEAD_MS = 50


def build_mode() -> str:
    """'compiled', or 'plain' when the engine runs as ordinary Python."""
    return "plain" if bitboard.__file__.endswith(".py") else "compiled"


@dataclass(frozen=True)
class SearchReport:
    """What a finished depth found, scores from the side to move's view.

    Exactly one of `score_cp` (centipawns) and `mate_in` (full moves, negative when being mated) is not None.
    """

    depth: int
    selective_depth: int
    score_cp: int | None
    mate_in: int | None
    nodes: int
    time_ms: int
    nps: int
    hashfull: int
    pv: tuple[str, ...]


@dataclass(frozen=True)
class SearchResult:
    """The move to play, None if there is no legal one; the reply expected, and the last report, if any."""

    best_move: str | None
    ponder_move: str | None
    report: SearchReport | None


class Thinking:
    """One search of one position, begun when it is made: its clock runs from then on."""

    def __init__(self, board: Board, search: Search, clock: Clock, limits: Limits, table: Table) -> None:
        self._board = board
        self._search = search
        self._clock = clock
        self._limits = limits
        self._table = table
        self._last: SearchReport | None = None

    def stop(self) -> None:
        """End the search as soon as possible, even before `run`; from any thread."""
        self._search.stop()

    def run(self, report: Callable[[SearchReport], None] | None = None) -> SearchResult:
        """Search until a limit is reached or `stop` is called. Blocks, the interpreter lock released.

        `report` is called after each finished depth. A legal move is at hand however early the stop.
        """
        legal = self._board.legal_moves()
        if not legal:
            return SearchResult(None, None, None)

        def on_iteration(iteration: Iteration) -> None:
            self._last = self._describe(iteration)
            if report is not None:
                report(self._last)

        variation = self._spell(deepen(self._search, self._clock, self._limits, len(legal) == 1, on_iteration))
        best, reply = (*variation, None, None)[:2]
        return SearchResult(best or legal[0], reply, self._last)

    def _describe(self, iteration: Iteration) -> SearchReport:
        mate = mate_distance(iteration.score)
        return SearchReport(
            depth=iteration.depth,
            selective_depth=iteration.selective_depth,
            score_cp=iteration.score if mate is None else None,
            mate_in=mate,
            nodes=iteration.nodes,
            time_ms=iteration.time_ms,
            nps=iteration.nodes * 1000 // max(1, iteration.time_ms),
            hashfull=self._table.hashfull(),
            pv=self._spell(iteration.variation),
        )

    def _spell(self, variation: tuple[int, ...]) -> tuple[str, ...]:
        """The moves as text in the board's own spelling."""
        board = self._board.copy()
        return tuple(board.push(uci_text(move)) for move in variation)


class Engine:
    """One player: its hash table, what it has learnt about moves, and the position it looks at."""

    def __init__(self, hash_mb: int = DEFAULT_HASH_MB, move_overhead_ms: int = DEFAULT_OVERHEAD_MS) -> None:
        """`hash_mb` mebibytes of table, 1 or more; raises MemoryError if the system refuses them."""
        self.move_overhead_ms = move_overhead_ms
        self._table = Table(hash_mb)
        self._history = History()
        self._board = Board()
        self._thinking: Thinking | None = None

    def resize_hash(self, hash_mb: int) -> None:
        """A new, empty table; not during a search. Raises MemoryError if the system refuses, keeping the old one."""
        self._table.resize(hash_mb)

    def new_game(self) -> None:
        """Forget what earlier games taught; not during a search."""
        self._table.clear()
        self._history.clear()

    def set_position(self, board: Board) -> None:
        """Look at a copy of this board, with its game for repetitions; not during a search."""
        self._board = board.copy()

    def begin(self, limits: Limits) -> Thinking:
        """A search to `run`, perhaps in another thread; one at a time."""
        clock = Clock(*deadlines_ms(limits, self._board.turn == "white", self.move_overhead_ms))
        self._table.new_search()
        self._history.new_search()
        search = Search(self._board.copy().position, self._table, self._history, clock, limits.nodes or 0)
        self._thinking = Thinking(self._board, search, clock, limits, self._table)
        return self._thinking

    def go(self, limits: Limits, report: Callable[[SearchReport], None] | None = None) -> SearchResult:
        """Search the position and return the move; see `Thinking.run`. Time counts from the call."""
        return self.begin(limits).run(report)

    def stop(self) -> None:
        """End the search that was begun last; from any thread."""
        if self._thinking is not None:
            self._thinking.stop()
