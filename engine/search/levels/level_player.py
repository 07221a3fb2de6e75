"""A search of limited strength, with the interface of `RunningSearch`: opening book, own search, or a full search.

Apart from the clock, the move depends only on the seed of the game, the position, the level and the style. Therefore
the transposition table is emptied before each full search.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from engine.board import Board
from engine.book.opening_book import Book, InvalidBook
from engine.book.opening_names import named_moves
from engine.core.score import mate_distance
from engine.core.zobrist import mix64
from engine.evaluation.endings import has_bare_king
from engine.evaluation.evaluate import evaluate
from engine.evaluation.network import Network
from engine.evaluation.style_bonus import StyleBonus
from engine.search.history import History
from engine.search.iterative_deepening import Bound, Task
from engine.search.levels.judgement import Judge
from engine.search.levels.level import PRACTISED_FROM, Level, nodes_in_variants
from engine.search.levels.level_search import LevelSearch
from engine.search.levels.vision import Vision, tension
from engine.search.running_search import CurrentMove, RunningSearch, SearchReport, SearchResult
from engine.search.time_manager import Limits, TimeManager, deadlines_us
from engine.search.transposition import TranspositionTable
from engine.search.wdl import wdl_of
from engine.syzygy.tablebase import Tablebase

HASH_MB = 4
PLY_NODES = 4                      # in variants: with fewer nodes for each candidate, just one ply is searched ...
ONE_PLY_NODES = 5000               # ... with at most these nodes, which nearly always suffice
OPENING_LINES = 4                  # in variants, for which there is no book: one of these good moves is played ...
OPENING_LOSS_CP = 80               # ... if it is so little worse than the best
LOSING_CP = -200                   # a player who thinks that it is losing takes care
EARLY_STOP_NODES = 10_000               # most nodes of the search after an early stop; some milliseconds
COMFORT_US = 500_000               # a player with less time for a move hurries, ...
MOVES_LEFT = 18                    # ... if this many moves are still to come
# The taste of a player who searches in full: its largest bonus or malus for each feature of `style_bonus.py`, in cp.
TASTE = {"attackers": 5, "storm": 2, "danger": 5, "pieces_off": 2, "queens_off": 15, "centre": 6, "development": 5}


class LevelPlayer:
    """One player of limited strength in one game."""

    def __init__(self, level: Level, seed: int, book: Book | None) -> None:
        """`seed` is the game's: another one gives other blind spots, tastes and openings."""
        self._level = level
        self._seed = seed
        self._game = mix64(seed)
        self._book = book
        self._table: TranspositionTable | None = None      # of the full search, as is the history
        self._history = History()
        taste = random.Random(seed)
        self._taste = StyleBonus({feature: taste.randint(-most, most) for feature, most in TASTE.items()})

    def uses_network(self, board: Board) -> bool:
        """Return whether a network may evaluate its searches of this board; else the hand-written terms do."""
        return board.variant == "standard" and self._level.nodes > 0

    def begin(
        self,
        board: Board,
        task: Task,
        overhead_ms: int,
        network: Network | None,
        tablebase: Tablebase,
        style: StyleBonus | None = None,
    ) -> "LimitedSearch":
        """Start the clock and return the search to run; `style` is for the side to move."""
        deadlines = deadlines_us(task.limits, board.turn == "white", overhead_ms, MOVES_LEFT)
        if board.variant != "standard":
            return self._begin_variant(board, task, deadlines[0], overhead_ms, tablebase)
        level = self._present_level(board, deadlines[0])
        knows_theory = task.complete and _plies(board) < round(level.book_plies)
        thought = mix64(self._game ^ board.key())
        vision = Vision(thought, round(level.blindness), round(level.capture_blindness), board.last_move)
        seen = vision.seen(board.position, task.moves, board.last_move)
        if level.nodes:
            search: RunningSearch | OwnSearch = self._full_search(
                board, task, seen, level.nodes, overhead_ms, network, tablebase, self._taste if style is None else style
            )
        else:
            depth = int(level.plies) + (thought % 1000 < level.plies % 1 * 1000)
            judge = Judge(
                self._game,
                round(level.understanding),
                round(level.taste_cp),
                round(level.misjudgement_cp),
                style,
                board.position.black_to_move(),
            )
            theory = [board.parse(move) for move in named_moves(board)] if knows_theory else []
            moves = list(dict.fromkeys([*seen, *theory]))
            search = OwnSearch(
                board, moves, theory, depth, vision, judge, round(level.exchange_plies), task.limits, deadlines
            )
        return LimitedSearch(search, task.limits, self._book_move(board) if knows_theory else None)

    def _begin_variant(
        self, board: Board, task: Task, time_us: int, overhead_ms: int, tablebase: Tablebase
    ) -> "LimitedSearch":
        """Begin a search in a variant: the full search, with fewer nodes and candidates the lower the level.

        However low the level, it looks one ply ahead: else it would play the first move that comes along.
        """
        level = self._level.hurried(_hurry(time_us))
        thought = mix64(self._game ^ board.key())
        vision = Vision(thought, round(level.blindness), round(level.capture_blindness), board.last_move)
        seen = vision.seen_in_variant(board.position, task.moves)
        lines = OPENING_LINES if _plies(board) < level.book_plies else 1
        nodes = nodes_in_variants(level)
        if nodes < PLY_NODES * len(seen):
            nodes, task = ONE_PLY_NODES, task._replace(limits=task.limits._replace(depth=1))
        search = self._full_search(board, task, seen, nodes, overhead_ms, None, tablebase, None, lines)
        return LimitedSearch(search, task.limits, None, random.Random(thought))

    def _full_search(
        self,
        board: Board,
        task: Task,
        seen: list[int],
        most_nodes: float,
        overhead_ms: int,
        network: Network | None,
        tablebase: Tablebase,
        style: StyleBonus | None,
        lines: int = 1,
    ) -> RunningSearch:
        """Return a search of the moves that it sees, with few nodes."""
        nodes = min(round(most_nodes), task.limits.nodes or round(most_nodes))
        # Complete, as far as it knows: else the table would not keep the best move of a depth for the next one.
        limited = task._replace(moves=seen, complete=True, lines=lines, limits=task.limits._replace(nodes=nodes))
        self._table = self._table or TranspositionTable(HASH_MB)
        self._table.clear()
        self._history.clear()
        return RunningSearch(board, self._table, [self._history], network, limited, overhead_ms, tablebase, style)

    def _present_level(self, board: Board, time_us: int) -> Level:
        """Return how well the player sees and judges this position, with this time for it."""
        level = self._level.hurried(_hurry(time_us)).in_complexity(tension(board.position))
        if evaluate(board.position) <= LOSING_CP:
            level = level.careful()
        if level.skill >= PRACTISED_FROM and has_bare_king(board.position):
            level = level.practised()
        return level

    def _book_move(self, board: Board) -> str | None:
        """Return a move of the book, which differs from game to game; None also if the book can no longer be read."""
        try:
            moves = self._book.moves(board) if self._book is not None else []
        except (InvalidBook, OSError):
            moves = []
        known = [move for move in moves if move.weight]
        if not known:
            return None
        rng = random.Random(self._game ^ board.key())
        return rng.choices(known, [move.weight for move in known])[0].move


def _plies(board: Board) -> int:
    """Return how many plies of the game have been played, also those before a FEN."""
    return 2 * (board.fullmove_number - 1) + (board.turn == "black")


def _hurry(time_us: int) -> float:
    """Return how much the player hurries with this time for a move, from 0 to 1."""
    return max(0.0, 1 - time_us / COMFORT_US)


class LimitedSearch:
    """A search as the facade begins it; a book move is played without any.

    Of a search with several lines one of the best is played, which `rng` chooses.
    """

    def __init__(
        self,
        search: "RunningSearch | OwnSearch",
        limits: Limits,
        book_move: str | None,
        rng: random.Random | None = None,
    ) -> None:
        self.limits = limits
        self._search = search
        self._book_move = book_move
        self._rng = rng

    def stop(self) -> None:
        """End the search as soon as possible; callable from any thread."""
        self._search.stop()

    def ponder_hit(self) -> None:
        """Apply the limits from now on, as the expected move was played; callable from any thread."""
        self._search.ponder_hit()

    def run(
        self,
        report: Callable[[SearchReport], None] | None = None,
        current: Callable[[CurrentMove], None] | None = None,
    ) -> SearchResult:
        """Search and return the move, like `RunningSearch.run`."""
        if self._book_move is not None:
            return SearchResult(self._book_move, None, None)
        lines: dict[int, SearchReport] = {}

        def note(line: SearchReport) -> None:
            lines[line.line] = line
            if report is not None and line.line == 1:
                report(line)

        result = self._search.run(note, current)
        if self._rng is None or result.report is None:
            return result
        chosen = self._rng.choice([result.report, *_nearly_as_good(result.report, lines.values())])
        if chosen.line > 1 and report is not None:
            report(chosen._replace(line=1))
        return SearchResult(chosen.pv[0], (*chosen.pv, None)[1], chosen._replace(line=1), result.late_ms)


def _nearly_as_good(best: SearchReport, lines: Iterable[SearchReport]) -> list[SearchReport]:
    """Return the other lines that lose little against the best one."""
    if best.score_cp is None:
        return []
    least, others = best.score_cp - OPENING_LOSS_CP, [it for it in lines if it.line > 1]
    return [it for it in others if it.depth >= best.depth - 1 and it.score_cp is not None and it.score_cp >= least]


class OwnSearch:
    """The small search of a player, depth by depth."""

    def __init__(
        self,
        board: Board,
        moves: Sequence[int],
        theory: list[int],
        depth: int,
        vision: Vision,
        judge: Judge,
        exchange_plies: int,
        limits: Limits,
        deadlines: tuple[int, int],
    ) -> None:
        self._board = board.copy()
        self._moves = list(moves)
        self._depth = min(depth, limits.depth or depth)
        self._time_manager = TimeManager(*deadlines, limits.ponder)
        self._pieces = board.piece_count

        def search(time_manager: TimeManager, nodes: int) -> LevelSearch:
            previous = self._board.last_move
            begun = LevelSearch(
                self._board.position, vision, judge, time_manager, exchange_plies, previous, nodes
            )
            begun.remember_theory(theory)
            return begun

        self._search = search(self._time_manager, limits.nodes or 0)
        self._quick_search = partial(search, TimeManager(), min(EARLY_STOP_NODES, limits.nodes or EARLY_STOP_NODES))

    def stop(self) -> None:
        self._search.stop()

    def ponder_hit(self) -> None:
        self._time_manager.ponder_hit()

    def run(
        self,
        report: Callable[[SearchReport], None] | None = None,
        current: Callable[[CurrentMove], None] | None = None,
    ) -> SearchResult:
        """Search deeper and deeper; an unfinished depth counts only if it is the first, and its score is a bound."""
        if not self._moves:
            return SearchResult(None, None, None)
        best: list[int] = self._moves[:1]
        last: SearchReport | None = None
        for depth in range(1, self._depth + 1):
            moves = [best[0], *(move for move in self._moves if move != best[0])] if depth > 1 else self._moves
            self._search.restrict_root(moves)
            score = self._search.run(depth)
            was_stopped, variation = self._search.was_stopped(), self._search.principal_variation()
            if was_stopped and (last is not None or not variation):
                break
            best = variation or best
            last = self._describe(depth, score, best, Bound.LOWER if was_stopped else Bound.EXACT)
            if report is not None:
                report(last)
            if was_stopped or self._time_manager.too_late_for_another_depth():
                break
        if last is None:       # stopped before the first move was finished, perhaps before the first depth began
            best = self._quick_variation() or best
        line = [self._board.spell(move) for move in best]
        return SearchResult(line[0], line[1] if len(line) > 1 else None, last, self._time_manager.late_ms())

    def _quick_variation(self) -> list[int]:
        """Search one ply, as `RunningSearch` does after an early stop."""
        search = self._quick_search()
        search.restrict_root(self._moves)
        search.run(1)
        return search.principal_variation()

    def _describe(self, depth: int, score: int, variation: Sequence[int], bound: Bound) -> SearchReport:
        mate = mate_distance(score)
        nodes, time_ms = self._search.node_count(), self._time_manager.elapsed_ms()
        return SearchReport(
            line=1,
            depth=depth,
            selective_depth=self._search.deepest(),
            score_cp=score if mate is None else None,
            mate_in=mate,
            bound=bound,
            nodes=nodes,
            time_ms=time_ms,
            nps=nodes * 1000 // max(1, time_ms),
            hashfull=0,
            tablebase_hits=0,
            wdl=wdl_of(score, self._pieces),
            pv=tuple([self._board.spell(move) for move in variation]),
        )
