# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The recursion: principal variation search, fail-soft alpha-beta with null windows off the principal variation.

Scores are centipawns for the side to move. Once `stopped` is set, every node returns at once; its score is ignored,
and nothing is stored or learned. A technique that may end a node early returns a score, or NO_SCORE to go on.
(chessprogramming wiki: Principal Variation Search)
"""

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.move import NO_MOVE, is_tactical
from cython.cimports.engine.core.params import (
    DEEPER_MARGIN,
    EXTENSION_LIMIT,
    NEGATIVE_EXTENSION,
    NULL_MOVE_DEPTH,
    NULL_MOVE_EVALUATION,
    NULL_MOVE_SLOPE,
    NULL_MOVE_VERIFICATION_DEPTH,
    PROBCUT_DEPTH,
    PROBCUT_MARGIN,
    PROBCUT_REDUCTION,
    SINGULAR_DEPTH,
    SINGULAR_TT_DEPTH,
)
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import DRAW, INFINITE, LONGEST_WIN, NO_SCORE, from_tt, is_decided
from cython.cimports.engine.evaluation.network import Network
from cython.cimports.engine.evaluation.style_bonus import StyleBonus
from cython.cimports.engine.evaluation.variant_evaluation import VariantEvaluation
from cython.cimports.engine.search.draws_and_tablebases import DrawsAndTablebases, is_cutoff
from cython.cimports.engine.search.history import NO_STEP, History
from cython.cimports.engine.search.move_picker import MovePicker
from cython.cimports.engine.search.pruning import (
    SKIP_NOTHING,
    SKIP_QUIETS,
    Pruning,
    fail_high_score,
    internal_reduction,
    null_move_reduction,
    singular_beta,
)
from cython.cimports.engine.search.quiescence import Quiescence, tactical_move
from cython.cimports.engine.search.rules import Rules
from cython.cimports.engine.search.search_stack import SearchStack, Variations
from cython.cimports.engine.search.time_manager import CountedSearch, NodeCounter, TimeManager, now_us
from cython.cimports.engine.search.transposition import (
    EXACT,
    LOWER_BOUND,
    UPPER_BOUND,
    TranspositionTable,
    entry_bound,
    entry_depth,
    entry_move,
    entry_pv,
    entry_score,
)
from cython.cimports.engine.syzygy.prober import Prober

MULTICUT = cython.declare(cython.int, 99)           # instead of an extension: several moves fail high


@cython.final
@cython.cclass
class Search(CountedSearch):
    """The search of one position by one thread; table and network may be shared."""

    def __init__(
        self,
        position: Position,
        table: TranspositionTable,
        history: History,
        time_manager: TimeManager,
        node_limit: int = 0,
        network: Network | None = None,
        prober: Prober | None = None,
        variant_evaluation: VariantEvaluation | None = None,
        style: StyleBonus | None = None,
    ) -> None:
        """`prober` must probe this position; without one no tablebase is probed. `style` is for the side to move.

        A position of a variant needs `variant_evaluation`, and neither network nor prober.
        """
        self.position = position
        self.rules = Rules(position)
        self.table = table
        self.time_manager = time_manager
        self.counter = NodeCounter(time_manager, node_limit)
        self.stack = SearchStack(position, table, history, network, variant_evaluation, style)
        self.variations = Variations()
        self.picker = MovePicker(position, history)
        self.quiescence = Quiescence(table, self.stack, self.picker, self.counter)
        self.prober = prober if prober is not None else Prober(position, None, 0)
        self.draws = DrawsAndTablebases(self.stack, self.picker, self.counter, self.prober)
        self.pruning = Pruning(self.stack, self.picker)
        self.root_depth = 0
        self.null_move_from = 0
        self.root_score = 0
        self.root_restricted = False
        self.root_move = NO_MOVE
        self.run_nodes = 0
        self.move_nodes = 0
        self.best_nodes = 0
        self.on_root_move = None
        self.report_root_moves_at_us = 0

    # --- For Python callers --------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Start again from the position as it is now; creating a new search costs as much as dozens of nodes."""
        self.counter.reset()
        self.stack.reset()
        self.draws.reset()
        self.root_score = 0

    def run(self, depth: int, alpha: int = -INFINITE, beta: int = INFINITE) -> int:
        """Search the root `depth` plies deep within a window, without the interpreter lock; returns the score.

        If `was_stopped()` afterwards, the score is meaningless, but the principal variation still holds the best root
        move that was searched completely.
        """
        plies: cython.int = depth
        low: cython.int = alpha
        high: cython.int = beta
        score: cython.int
        self.counter.deepest = 0
        self.run_nodes = self.counter.nodes
        self.best_nodes = 0
        self.root_depth = plies
        with cython.nogil:
            score = self.pv_node(low, high, plies, 0)
        return score

    def restrict_root(self, moves: list, complete: bool, first: int = NO_MOVE) -> None:
        """Search these legal moves at the root, `first` before the others; `complete`: they are all."""
        self.picker.restrict_root(moves)
        self.root_restricted = not complete
        self.root_move = first         # the table does not keep the best of some moves

    def report_root_moves(self, on_root_move: object, after_ms: int) -> None:
        """After that time call `on_root_move(move, number)` before each root move; number 1 is the first.

        None turns the reports off.
        """
        self.on_root_move = on_root_move
        self.report_root_moves_at_us = 0
        if on_root_move is not None:
            self.report_root_moves_at_us = self.time_manager.started_us + cython.cast(cython.longlong, after_ms) * 1000

    def best_move_share(self) -> int:
        """Return the percentage of the last `run`'s nodes spent on the best root move; 0 if none raised alpha."""
        spent: u64 = self.counter.nodes - self.run_nodes
        return self.best_nodes * 100 // spent if spent else 0

    def principal_variation(self) -> list[int]:
        """Return the principal variation of the last `run`; empty if no root move raised alpha."""
        return self.variations.principal()

    # --- Nodes -----------------------------------------------------------------------------------------------------

    def pv_node(self, alpha: cython.int, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """Return the score of a node on the principal variation, alpha < beta."""
        assert -INFINITE <= alpha < beta <= INFINITE
        self.variations.begin(ply)
        if depth <= 0 and not self.draws.is_too_near(ply):
            return self.quiescence.search(alpha, beta, ply)
        score: cython.int = self.draws.score_without_search(ply)
        if score != NO_SCORE:
            return score
        least: cython.int = DRAW if ply == 1 and self.draws.has_upcoming_repetition(ply) else -INFINITE
        if least >= beta:
            return least
        if least > alpha:
            alpha = least
        tb_score: cython.int = self.draws.tablebase_score(depth, ply)
        if tb_score != NO_SCORE:
            if is_cutoff(tb_score, alpha, beta):
                return tb_score
            if tb_score > DRAW and tb_score > alpha:
                alpha = tb_score       # only a mate would be better
        entry: u64 = self.table.probe(self.position.key)
        forced: cython.bint = self.rules.is_forced()
        self.stack.cut_node[ply] = False
        self.stack.tt_pv[ply] = True
        self.stack.set_evaluation(entry, forced, ply)
        if ply > 0 or not self.root_restricted:        # a restricted root begins with a good move, not an entry's
            depth -= internal_reduction(entry, depth)
        score = self.draws.bounded(tb_score, self.search_moves(alpha, beta, depth, ply, entry), depth, ply)
        return score if score > least else least

    def null_window_node(
        self, beta: cython.int, depth: cython.int, ply: cython.int, cut_node: cython.bint
    ) -> cython.int:
        """Search with the window (beta - 1, beta); returns a bound. `cut_node`: it is expected to fail high."""
        if depth <= 0 and not self.draws.is_too_near(ply):
            return self.quiescence.search(beta - 1, beta, ply)
        score: cython.int = self.draws.score_without_search(ply)
        if score != NO_SCORE:
            return score
        score = self.draws.mate_distance_score(beta, ply)
        if score != NO_SCORE:
            return score
        if beta <= DRAW and self.draws.has_upcoming_repetition(ply):
            return DRAW
        entry: u64 = self.table.probe(self.position.key)
        score = self.stack.tt_cutoff(entry, beta, depth, ply)
        if score != NO_SCORE:
            return score
        tb_score: cython.int = self.draws.tablebase_score(depth, ply)
        if tb_score != NO_SCORE and is_cutoff(tb_score, beta - 1, beta):
            return tb_score
        forced: cython.bint = self.rules.is_forced()
        self.stack.cut_node[ply] = cut_node
        if self.stack.excluded[ply] == NO_MOVE:
            self.stack.tt_pv[ply] = entry != 0 and entry_pv(entry)
        self.stack.set_evaluation(entry, forced, ply)
        if not forced and self.stack.excluded[ply] == NO_MOVE:
            self.stack.update_by_evaluation(ply)
            depth -= self.pruning.hindsight_reduction(depth, ply)
            score = self.prune(self.stack.refined_evaluation(entry, ply), beta, depth, ply)
            if score != NO_SCORE:
                return score
            if cut_node:
                depth -= internal_reduction(entry, depth)
        return self.draws.bounded(tb_score, self.search_moves(beta - 1, beta, depth, ply, entry), depth, ply)

    # --- Pruning of whole nodes ------------------------------------------------------------------------------------

    def prune(self, refined: cython.int, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """Return a score that makes a full search needless, or NO_SCORE.

        `refined` is the evaluation, or the table's score if that is a closer bound.
        """
        if is_decided(beta):
            return NO_SCORE
        if self.pruning.is_reverse_futile(refined, beta, depth, ply):
            return refined
        score: cython.int = self.null_move(refined, beta, depth, ply)
        if score == NO_SCORE:
            score = self.probcut(beta, depth, ply)
        return score

    def null_move(self, refined: cython.int, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """Return a score if even a null move fails high: a real move then fails high too.

        Zugzwang breaks this. So the side to move needs a piece and, at high depth, a search without null moves must
        confirm the score. (chessprogramming wiki: Null Move Pruning)
        """
        if depth < NULL_MOVE_DEPTH or refined < beta or self.stack.step_before(ply, 1) == NO_STEP:
            return NO_SCORE
        if self.stack.static_eval(ply) < beta + NULL_MOVE_EVALUATION - NULL_MOVE_SLOPE * depth:
            return NO_SCORE
        if ply < self.null_move_from or not self.rules.allows_null_move or not self.rules.is_zugzwang_unlikely():
            return NO_SCORE
        reduced: cython.int = depth - 1 - null_move_reduction(depth, refined - beta)
        self.stack.make_null(ply)
        score: cython.int = -self.null_window_node(1 - beta, reduced, ply + 1, not self.stack.cut_node[ply])
        self.position.unmake_null()
        if score < beta or self.counter.stopped:
            return NO_SCORE
        if is_decided(score):
            score = beta
        if depth < NULL_MOVE_VERIFICATION_DEPTH or self.null_move_from > 0:
            return score
        self.null_move_from = ply + reduced * 3 // 4 + 1
        checked: cython.int = self.null_window_node(beta, reduced, ply, self.stack.cut_node[ply])
        self.null_move_from = 0
        return score if checked >= beta and not self.counter.stopped else NO_SCORE

    def probcut(self, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """Return the score of a capture that a shallow search finds well above beta, or NO_SCORE.

        (chessprogramming wiki: ProbCut)
        """
        if depth < PROBCUT_DEPTH or not self.stack.cut_node[ply]:
            return NO_SCORE
        probcut_beta: cython.int = beta + PROBCUT_MARGIN
        reduced: cython.int = depth - PROBCUT_REDUCTION
        entry: u64 = self.table.probe(self.position.key)
        if entry and entry_depth(entry) > reduced and from_tt(entry_score(entry), ply) < probcut_beta:
            return NO_SCORE
        score: cython.int
        self.picker.begin_tactical(ply, tactical_move(entry), probcut_beta - self.stack.static_eval(ply))
        move: cython.int
        while (move := self.picker.next(ply)) != NO_MOVE:
            self.stack.prefetch(move)
            self.stack.make(move, ply)
            score = -self.quiescence.search(-probcut_beta, 1 - probcut_beta, ply + 1)
            if score >= probcut_beta:
                score = -self.null_window_node(1 - probcut_beta, reduced, ply + 1, False)
            self.position.unmake(move)
            if self.counter.stopped:
                return DRAW
            if score >= probcut_beta:
                self.stack.store(move, score, reduced + 1, LOWER_BOUND, ply)
                return score
        return NO_SCORE

    # --- The moves -------------------------------------------------------------------------------------------------

    def search_moves(
        self, alpha: cython.int, beta: cython.int, depth: cython.int, ply: cython.int, entry: u64
    ) -> cython.int:
        """Search the moves until one fails high; store the result in the table and return the best score."""
        tt_move: cython.int = entry_move(entry) if entry else NO_MOVE
        if ply == 0 and self.root_restricted:
            tt_move = self.root_move
        extension: cython.int = self.singular_extension(entry, beta, depth, ply)
        if extension == MULTICUT:
            return singular_beta(from_tt(entry_score(entry), ply), depth)
        if self.counter.stopped:
            return DRAW
        excluded: cython.int = self.stack.excluded[ply]
        original_alpha: cython.int = alpha
        best: cython.int = -INFINITE
        best_move: cython.int = NO_MOVE
        number: cython.int = 0
        may_prune: cython.bint = ply > 0 and self.rules.is_zugzwang_unlikely()
        self.stack.tt_tactical[ply] = tt_move != NO_MOVE and is_tactical(tt_move)
        self.stack.begin_moves(ply)
        self.picker.begin(ply, tt_move)
        move: cython.int
        while (move := self.picker.next(ply)) != NO_MOVE:
            if move == excluded:
                continue
            number += 1
            self.stack.prefetch(move)
            self.stack.history_score[ply] = 0 if is_tactical(move) else self.stack.quiet_score(move, ply)
            if may_prune and best > -LONGEST_WIN:
                skip: cython.int = self.pruning.to_skip(move, number, alpha, depth, ply)
                if skip == SKIP_QUIETS:
                    self.picker.skip_to_quiet_checks(ply)
                if skip != SKIP_NOTHING:
                    continue
            if ply == 0:
                self.begin_root_move(move, number)
            move_depth: cython.int = depth + extension if move == tt_move else depth
            score: cython.int = self.search_move(move, number, alpha, beta, move_depth, ply)
            if self.counter.stopped:
                return DRAW
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    best_move = move
                    if beta - original_alpha > 1:
                        self.variations.extend(move, ply)
                    if ply == 0:
                        self.root_score = score
                        self.root_move = move
                        self.best_nodes = self.counter.nodes - self.move_nodes
                    if score >= beta:
                        self.stack.update_on_cutoff(move, depth, ply)
                        break
            self.stack.add_tried(move, ply)
        if number == 0:
            return alpha if excluded else self.rules.score_without_moves(ply)
        if best >= beta and beta - original_alpha == 1:
            best = fail_high_score(best, beta, depth)
        if excluded == NO_MOVE and (ply > 0 or not self.root_restricted):
            bound: cython.int = LOWER_BOUND if best >= beta else EXACT if best > original_alpha else UPPER_BOUND
            self.stack.update_correction(best, best_move, bound, depth, ply)
            self.stack.store(best_move, best, depth, bound, ply)
        return best

    def singular_extension(self, entry: u64, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """Return the extension of the table's move in plies, or MULTICUT.

        If a reduced search finds all other moves clearly worse, the table's move is extended; if it finds another one
        above beta, the node is cut. (chessprogramming wiki: Singular Extensions, Multi-Cut)
        """
        if ply == 0 or depth < SINGULAR_DEPTH or entry == 0 or self.stack.excluded[ply]:
            return 0
        if ply >= EXTENSION_LIMIT * self.root_depth:
            return 0
        score: cython.int = from_tt(entry_score(entry), ply)
        if entry_depth(entry) < depth - SINGULAR_TT_DEPTH or not entry_bound(entry) & LOWER_BOUND:
            return 0
        if is_decided(score) or not self.picker.is_playable(ply, entry_move(entry)):
            return 0
        lower_beta: cython.int = singular_beta(score, depth)
        self.stack.excluded[ply] = entry_move(entry)
        other: cython.int = self.null_window_node(lower_beta, (depth - 1) // 2, ply, self.stack.cut_node[ply])
        self.stack.excluded[ply] = NO_MOVE
        if other < lower_beta:
            return 1
        if lower_beta >= beta and not is_decided(lower_beta):
            return MULTICUT
        return -NEGATIVE_EXTENSION if score >= beta else 0

    def search_move(
        self, move: cython.int, number: cython.int,
        alpha: cython.int, beta: cython.int, depth: cython.int, ply: cython.int,
    ) -> cython.int:
        """Return the score of a move for the side that makes it.

        All moves but the first get a null window, late ones also a reduced depth. A move that beats alpha is searched
        again at full depth, and on the principal variation with the full window.
        """
        on_pv: cython.bint = beta - alpha > 1
        cut_node: cython.bint = self.stack.cut_node[ply]
        self.stack.make(move, ply)
        reduction: cython.int = self.pruning.reduction(move, number, depth, ply, on_pv)
        self.stack.reductions[ply] = reduction
        score: cython.int = alpha + 1
        self.variations.begin(ply + 1)
        if number > 1 or not on_pv:
            score = -self.null_window_node(-alpha, depth - 1 - reduction, ply + 1, reduction > 0 or not cut_node)
            if reduction > 0 and score > alpha and not self.counter.stopped:
                self.stack.reductions[ply] = 0
                if score > alpha + DEEPER_MARGIN:
                    depth += 1     # far above alpha: search one ply deeper
                score = -self.null_window_node(-alpha, depth - 1, ply + 1, not cut_node)
        if on_pv and (number == 1 or alpha < score < beta) and not self.counter.stopped:
            score = -self.pv_node(-beta, -alpha, depth - 1, ply + 1)
        self.position.unmake(move)
        return score

    def begin_root_move(self, move: cython.int, number: cython.int) -> cython.void:
        """Record the node count, and report the root move of a long search."""
        self.move_nodes = self.counter.nodes
        if self.report_root_moves_at_us and now_us() >= self.report_root_moves_at_us:
            with cython.gil:
                self.on_root_move(move, number)
