"""One search of one position, from its start to the move, with its reports as text.

Used by the facade and by players of limited strength. Knows the threads of a search and the tablebase at the root;
must not know who asks.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from typing import NamedTuple

from engine.board import THREEFOLD, Board
from engine.core.score import DRAW, INFINITE, MATE, TABLEBASE_WIN, mate_distance
from engine.evaluation.network import Network
from engine.evaluation.style_bonus import StyleBonus
from engine.evaluation.variant_terms import evaluation_of
from engine.search.history import History
from engine.search.iterative_deepening import Bound, Iteration, IterativeDeepening, Line, Task, run_helper, search_line
from engine.search.search import Search
from engine.search.time_manager import TimeManager, deadlines_on_us
from engine.search.transposition import TranspositionTable
from engine.search.wdl import Wdl, wdl_of
from engine.syzygy.tablebase import Tablebase, TableReport

ROOT_PROBE_MS = 50                 # at least, even beyond the hard deadline; tablebases in memory take up to 15 ms
NODES_WORTH_A_THREAD = 1000         # with fewer, another thread would hardly begin
US_WORTH_A_THREAD = 10_000         # with an earlier hard deadline, starting another thread costs more than it finds
EARLY_STOP_NODES = 1000                 # most nodes of the search after an early stop; about 2 ms
WIN_AT_ONCE_NODES = 20_000         # ... for a win by one move; games of crazyhouse need up to 4000
TABLEBASE_SCORES = {2: TABLEBASE_WIN, -2: -TABLEBASE_WIN}      # by WDL; the rest is drawn


class SearchReport(NamedTuple):
    """The result of one depth, with scores from the side to move's view; `line` 1 is the best of several.

    Exactly one of `score_cp` (centipawns) and `mate_in` (full moves, negative when being mated) is not None. A depth
    may be reported more than once; its last report is `Bound.EXACT` unless the search was stopped. `selective_depth`
    is in plies, `nps` in nodes per second, `hashfull` in thousandths. `tablebase_hits` counts the probes that found an
    entry, and the root moves that the tablebases know. `wdl` is None in variants, whose draws no model knows.
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
    tablebase_hits: int
    wdl: Wdl | None
    pv: tuple[str, ...]


class CurrentMove(NamedTuple):
    """The root move that a long search has come to; `number` 1 is the first at its depth."""

    depth: int
    move: str
    number: int


class SearchResult(NamedTuple):
    """The move to play, None if there is no legal move; the expected reply; the last report, if any.

    `late_ms` is the time by which the move missed the hard deadline, as on a busy machine.
    """

    best_move: str | None
    ponder_move: str | None
    report: SearchReport | None
    late_ms: int = 0


class RunningSearch:
    """One search of one position; its clock starts when it is created."""

    def __init__(
        self,
        board: Board,
        table: TranspositionTable,
        histories: Sequence[History],
        network: Network | None,
        task: Task,
        overhead_ms: int,
        tablebase: Tablebase,
        style: StyleBonus | None,
    ) -> None:
        """Search with one thread for each of `histories`; they share the table, this board's network and the nodes."""
        self.limits = task.limits
        self._board = board
        self._table = table
        self._task = task
        self._tablebase = tablebase
        self._root_report: TableReport | None = None
        deadlines = deadlines_on_us(board, task.limits, overhead_ms)
        self._time_manager = TimeManager(*deadlines, task.limits.ponder)

        def search(history: History, time_manager: TimeManager, nodes: int) -> Search:
            position = board.copy().position
            if board.variant != "standard":
                own = evaluation_of(board.variant, network)
                return Search(position, table, history, time_manager, nodes, variant_evaluation=own)
            prober = tablebase.prober(position)
            return Search(position, table, history, time_manager, nodes, network, prober, style=style)

        nodes = task.limits.nodes
        used = histories if nodes is None else histories[: max(1, nodes // NODES_WORTH_A_THREAD)]
        if deadlines[1] < US_WORTH_A_THREAD and not task.limits.ponder:
            used = used[:1]
        share = (nodes or 0) // len(used)
        self._search = search(histories[0], self._time_manager, share)
        self._search_without_clock = partial(search, histories[0], TimeManager())
        self._stopped_by_caller = False
        self._helpers = [search(history, self._time_manager, share) for history in used[1:]]
        self._last: SearchReport | None = None
        self._piece_count = board.piece_count

    def stop(self) -> None:
        """End the search as soon as possible, even before `run`; callable from any thread."""
        self._stopped_by_caller = True
        self._end_threads()

    def ponder_hit(self) -> None:
        """Apply the limits from now on, as the expected move was played; callable from any thread."""
        self._time_manager.ponder_hit()
        if self._time_manager.is_done:
            self._end_threads()

    def _end_threads(self) -> None:
        """Tell all threads at once: on few cores the main one might wait long for its turn to tell the others."""
        for search in (self._search, *self._helpers):
            search.stop()

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
        with self._helpers_at_work():
            variation = deepening.run()
            if (win := self._win_at_once()) is not None:
                on_iteration(win)
                variation = win.line.variation
            variation = variation or self._quick_variation() or self._best_at_a_glance()
        best, reply = (*self._spell(variation), None)[:2]
        return SearchResult(best, reply, self._last, self._time_manager.late_ms())

    @contextmanager
    def _helpers_at_work(self) -> Iterator[None]:
        """Have the helpers search meanwhile, as many as the clock and the system allow threads for."""
        threads: list[Thread] = []
        all_started = Event()      # no thread searches before: on few cores those that do delay the start of the others
        try:
            for number, helper in enumerate(self._helpers, 1):
                if self._time_manager.late_ms() or self._search.was_stopped():
                    break
                arguments = helper, self._task, number, all_started
                thread = Thread(target=run_helper, args=arguments, name=f"search-{number}")
                try:
                    thread.start()
                except RuntimeError:   # the system refuses more threads
                    break
                threads.append(thread)
            all_started.set()
            yield
        finally:
            for helper in self._helpers:
                helper.stop()
            all_started.set()
            for thread in threads:
                thread.join()

    def _quick_variation(self) -> tuple[int, ...]:
        """Search one ply if `stop` came before the search had found a move; else return an empty variation."""
        if not self._stopped_by_caller:
            return ()
        search = self._quick_search(min(EARLY_STOP_NODES, self.limits.nodes or EARLY_STOP_NODES))
        return search_line(search, 1, None, lambda line: None).variation

    def _win_at_once(self) -> Iteration | None:
        """Return a win by one move if the search ended before the first depth was finished, which would find it.

        Only such a win is within the window, so that few nodes are visited, unless there are dozens of queens.
        """
        if self._last is not None and (self._last.depth > 1 or self._last.bound is Bound.EXACT):
            return None
        search = self._quick_search(WIN_AT_ONCE_NODES)
        if search.run(1, MATE - 2, MATE) < MATE - 1 or search.was_stopped():
            return None
        line = Line(MATE - 1, tuple(search.principal_variation()))
        return Iteration(1, line, 1, 1, self._search.node_count(), self._time_manager.elapsed_ms())

    def _quick_search(self, nodes: int) -> Search:
        """Return another search of the root moves, with this limit, without the clock and tablebases."""
        search = self._search_without_clock(nodes)
        search.prober.disable()        # it may be on a slow disk
        search.restrict_root(self._task.moves, self._task.complete)
        return search

    def _best_at_a_glance(self) -> tuple[int, ...]:
        """Return the move with the best static evaluation.

        For limits so narrow that not one move was searched to its end; that no move wins at once is known by then.
        """
        def worth(move: int) -> int:
            after = self._board.after(self._board.spell(move))
            outcome = after.outcome()
            if outcome is not None:
                return DRAW if outcome.winner is None else -INFINITE
            if after.repetition_count() >= THREEFOLD:
                return DRAW
            score = after.evaluate()
            return score if self._board.turn == "white" else -score

        return (max(self._task.moves, key=worth),)

    def _probe_root(self) -> None:
        """Leave out the moves that lose the tablebase result.

        If DTZ is known, the search itself does not probe: it would be content with any winning capture. If the clock or
        `stop` ends the probing of a slow disk, all moves stay.
        """
        if self._board.variant != "standard":
            return
        begun_ms = self._time_manager.elapsed_ms()     # some time may have passed before, on a busy machine
        report = self._tablebase.report(self._board, lambda: self._is_late_for_tablebases(begun_ms))
        if report is None:
            return
        moves = {self._board.spell(move): move for move in self._task.moves}
        self._root_report = report.among(moves)
        kept = [moves[move] for move in self._root_report.worth_searching()]
        self._task = self._task._replace(moves=kept, complete=self._task.complete and len(kept) == len(moves))
        if report.has_distances:
            for search in (self._search, *self._helpers):
                search.prober.disable()

    def _is_late_for_tablebases(self, begun_ms: int) -> bool:
        clock = self._time_manager
        return self._search.was_stopped() or min(clock.late_ms(), clock.elapsed_ms() - begun_ms) > ROOT_PROBE_MS

    def _describe(self, iteration: Iteration) -> SearchReport:
        score = iteration.line.score
        mate = mate_distance(score)
        if self._root_report is not None and mate is None:
            score = TABLEBASE_SCORES.get(self._root_report.wdl, 0)
        nodes = iteration.nodes + sum(helper.node_count() for helper in self._helpers)
        hits = sum(search.prober.hits for search in (self._search, *self._helpers))
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
            tablebase_hits=hits + (len(self._root_report.moves) if self._root_report is not None else 0),
            wdl=wdl_of(score, self._piece_count) if self._board.variant == "standard" else None,
            pv=self._spell(iteration.line.variation),
        )

    def _spell(self, variation: Sequence[int]) -> tuple[str, ...]:
        """Return the moves as UCI text in the board's own castling notation."""
        # From a list, whose length is known: a tuple that had to grow leaves its first block in the interpreter's
        # free lists, a mebibyte after some thousand searches.
        return tuple([self._board.spell(move) for move in variation])
