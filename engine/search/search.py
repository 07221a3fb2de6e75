# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The recursion: alpha-beta from the side to move's view, fail-soft, with null windows around the principal variation.

Stopping is a value that travels up: once `stopped` is set every node returns at once, whatever it returns is not
looked at, and nothing is stored or learnt. A technique that may end a node early is a function that returns a score,
or NO_SCORE for "no answer". (chessprogramming wiki: Principal Variation Search)
"""

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.material import has_one_piece, has_pieces
from cython.cimports.engine.core.move import NO_MOVE, is_tactical
from cython.cimports.engine.core.params import (
    DEEPER_MARGIN,
    NULL_MOVE_CHECKED_DEPTH,
    NULL_MOVE_DEPTH,
    PROBCUT_DEPTH,
    PROBCUT_MARGIN,
    REDUCTION_DEPTH,
    REVERSE_FUTILITY_DEPTH,
    SINGULAR_DEPTH,
)
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import (
    DRAW,
    INFINITE,
    LONGEST_WIN,
    MAX_PLY,
    NO_SCORE,
    from_table,
    is_decided,
    mated_in,
    to_table,
)
from cython.cimports.engine.nnue.network import Network
from cython.cimports.engine.search.draws_and_tables import DrawsAndTables, is_answer
from cython.cimports.engine.search.history import NO_STEP, History
from cython.cimports.engine.search.move_picker import MovePicker
from cython.cimports.engine.search.pruning import (
    MovePruning,
    null_move_reduction,
    reverse_futility_margin,
    singular_bar,
)
from cython.cimports.engine.search.quiescence import Quiescence, tactical_move
from cython.cimports.engine.search.search_stack import SearchStack
from cython.cimports.engine.search.time_manager import NodeCounter, TimeManager, now_us
from cython.cimports.engine.search.transposition import (
    EXACT,
    LOWER_BOUND,
    UPPER_BOUND,
    TranspositionTable,
    entry_bound,
    entry_depth,
    entry_move,
    entry_score,
)
from cython.cimports.engine.syzygy.prober import Prober

PV_ROW = cython.declare(cython.int, 129)            # MAX_PLY + 1 moves
MULTICUT = cython.declare(cython.int, 99)           # no extension: the table's move is not the only one to fail high


@cython.final
@cython.cclass
class Search:
    """One thread's search of one position; the table and the network may be shared."""

    def __init__(
        self,
        position: Position,
        table: TranspositionTable,
        history: History,
        time_manager: TimeManager,
        node_limit: int = 0,
        network: Network | None = None,
        prober: Prober | None = None,
    ) -> None:
        """`prober` must be of this position; with none no table of endings is asked."""
        if not cython.compiled:
            self.pv = [0] * (PV_ROW * (MAX_PLY + 2))
            self.pv_length = [0] * (MAX_PLY + 2)
        self.position = position
        self.table = table
        self.time_manager = time_manager
        self.counter = NodeCounter(time_manager, node_limit)
        self.stack = SearchStack(position, table, history, network)
        self.picker = MovePicker(position, history)
        self.quiescence = Quiescence(table, self.stack, self.picker, self.counter)
        self.prober = prober if prober is not None else Prober(position, None, 0)
        self.draws = DrawsAndTables(self.stack, self.picker, self.counter, self.prober)
        self.pruning = MovePruning(self.stack, self.picker)
        self.root_depth = 0
        self.null_move_from = 0
        self.root_score = 0
        self.root_restricted = False
        self.run_nodes = 0
        self.move_nodes = 0
        self.best_nodes = 0
        self.on_root_move = None
        self.talkative_at_us = 0

    # --- For Python callers --------------------------------------------------------------------------------------

    def begin_again(self) -> None:
        """Be as new for the position as it stands now: what a search is made of costs as much as dozens of nodes."""
        self.counter.reset()
        self.stack.begin_again()
        self.draws.begin_again()
        self.root_score = 0

    def run(self, depth: int, alpha: int = -INFINITE, beta: int = INFINITE) -> int:
        """Search the root `depth` plies deep within a window, without the interpreter lock; returns the score.

        Meaningless when `was_stopped()` afterwards, but the principal variation then still holds whatever root move
        was searched to its end and found best.
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

    def restrict_root(self, moves: list, all_of_them: bool) -> None:
        """Search only these moves at the root; they must be legal. `all_of_them` says that no legal move is missing."""
        self.picker.restrict_root(moves)
        self.root_restricted = not all_of_them

    def announce_root_moves(self, on_root_move: object, after_ms: int) -> None:
        """Call `on_root_move(move, number)`, number 1 being the first, before each root move once that time is gone.

        None calls nobody.
        """
        self.on_root_move = on_root_move
        self.talkative_at_us = 0
        if on_root_move is not None:
            self.talkative_at_us = self.time_manager.started_us + cython.cast(cython.longlong, after_ms) * 1000

    def stop(self) -> None:
        """End the search now; from any thread."""
        self.counter.stopped = True

    def was_stopped(self) -> bool:
        """Did `stop`, the clock or the node limit end it?"""
        return self.counter.stopped

    def node_count(self) -> int:
        """Nodes visited since the search was made."""
        return min(self.counter.nodes, self.counter.node_limit)

    def stop_probing(self) -> None:
        """Ask no table of endings any more."""
        self.prober.disable()

    def table_hits(self) -> int:
        """How many positions tables of endings knew."""
        return self.prober.hit_count()

    def deepest(self) -> int:
        """The deepest ply the last `run` reached, quiescence included."""
        return self.counter.deepest

    def best_root_score(self) -> int:
        """The score of the root move that raised alpha last."""
        return self.root_score

    def best_move_share(self) -> int:
        """Percent of the last `run`'s nodes that went into the root move found best; 0 if none raised alpha."""
        spent: u64 = self.counter.nodes - self.run_nodes
        return self.best_nodes * 100 // spent if spent else 0

    def principal_variation(self) -> list[int]:
        """The moves both sides are expected to play, from the last `run`; empty if no root move raised alpha."""
        return [self.pv[index] for index in range(self.pv_length[0])]

    # --- Nodes -----------------------------------------------------------------------------------------------------

    def pv_node(self, alpha: cython.int, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """Score of a node on the principal variation, alpha < beta; centipawns, side to move."""
        assert -INFINITE <= alpha < beta <= INFINITE
        self.pv_length[ply] = 0
        if depth <= 0:
            return self.quiescence.search(alpha, beta, ply)
        in_check: cython.bint = self.position.in_check()
        score: cython.int = self.draws.settled(ply, in_check)
        if score != NO_SCORE:
            return score
        known: cython.int = self.draws.known_ending(depth, ply)
        if known != NO_SCORE:
            if is_answer(known, alpha, beta):
                return known
            if known > DRAW and known > alpha:
                alpha = known      # only a mate is better
        entry: u64 = self.table.probe(self.position.key)
        self.stack.cut_node[ply] = False
        self.stack.note_evaluation(entry, in_check, ply)
        depth -= self.internal_reduction(entry, depth)
        return self.heed(known, self.search_moves(alpha, beta, depth, ply, entry), depth, ply)

    def null_window_node(
        self, beta: cython.int, depth: cython.int, ply: cython.int, cut_node: cython.bint
    ) -> cython.int:
        """Is the score >= beta? Fail-soft, centipawns, side to move. `cut_node`: it probably is."""
        if depth <= 0:
            return self.quiescence.search(beta - 1, beta, ply)
        in_check: cython.bint = self.position.in_check()
        score: cython.int = self.draws.settled(ply, in_check)
        if score != NO_SCORE:
            return score
        score = self.draws.nearer_mate(beta, ply)
        if score != NO_SCORE:
            return score
        if beta <= DRAW and self.draws.draw_for_the_taking(ply):
            return DRAW
        entry: u64 = self.table.probe(self.position.key)
        score = self.stack.table_cutoff(entry, beta, depth, ply)
        if score != NO_SCORE:
            return score
        known: cython.int = self.draws.known_ending(depth, ply)
        if known != NO_SCORE and is_answer(known, beta - 1, beta):
            return known
        self.stack.cut_node[ply] = cut_node
        self.stack.note_evaluation(entry, in_check, ply)
        if not in_check and self.stack.excluded[ply] == NO_MOVE:
            self.stack.judge_last_move(ply)
            score = self.prune(self.stack.refined_evaluation(entry, ply), beta, depth, ply)
            if score != NO_SCORE:
                return score
            if cut_node:
                depth -= self.internal_reduction(entry, depth)
        return self.heed(known, self.search_moves(beta - 1, beta, depth, ply, entry), depth, ply)

    def heed(self, known: cython.int, score: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """The score of a search, unless a table of endings knows better: then what it knows, also for later visits.
        """
        if known == NO_SCORE or (score > known) == (known > DRAW) or self.counter.stopped:
            return score
        bound: cython.int = LOWER_BOUND if known > DRAW else UPPER_BOUND
        self.table.store(self.position.key, NO_MOVE, to_table(known, ply), depth, bound, self.stack.raw_evals[ply])
        return known

    # --- Answers before any move is tried --------------------------------------------------------------------------

    def internal_reduction(self, entry: u64, depth: cython.int) -> cython.int:
        """A node for which the table has no move is badly ordered, and hardly matters so far: one ply less.

        (chessprogramming wiki: Internal Iterative Reductions)
        """
        return depth >= REDUCTION_DEPTH and (entry == 0 or entry_move(entry) == NO_MOVE)

    def prune(self, static_eval: cython.int, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """A score that needs no full search, or NO_SCORE."""
        if is_decided(beta):
            return NO_SCORE
        score: cython.int = self.reverse_futility(static_eval, beta, depth, ply)
        if score == NO_SCORE:
            score = self.null_move(static_eval, beta, depth, ply)
        if score == NO_SCORE:
            score = self.probcut(beta, depth, ply)
        return score

    def reverse_futility(
        self, static_eval: cython.int, beta: cython.int, depth: cython.int, ply: cython.int
    ) -> cython.int:
        """So far above beta that nothing the other side has in a few plies will change it.

        (chessprogramming wiki: Reverse Futility Pruning)
        """
        if depth > REVERSE_FUTILITY_DEPTH or is_decided(static_eval):
            return NO_SCORE
        if static_eval - reverse_futility_margin(depth, self.stack.improving[ply]) < beta:
            return NO_SCORE
        return static_eval

    def null_move(self, static_eval: cython.int, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """If even passing keeps us above beta, a real move will too.

        Unsound in zugzwang: hence the test for pieces and, at depth or with one piece left, a search without
        passing that must confirm it. (chessprogramming wiki: Null Move Pruning)
        """
        if depth < NULL_MOVE_DEPTH or static_eval < beta or self.stack.before(ply, 1) == NO_STEP:
            return NO_SCORE
        if ply < self.null_move_from or not has_pieces(self.position, self.position.side_to_move):
            return NO_SCORE
        left: cython.int = depth - 1 - null_move_reduction(depth, static_eval - beta)
        self.stack.make_null(ply)
        score: cython.int = -self.null_window_node(1 - beta, left, ply + 1, not self.stack.cut_node[ply])
        self.position.unmake_null()
        if score < beta or self.counter.stopped:
            return NO_SCORE
        if is_decided(score):
            score = beta
        in_danger: cython.bint = has_one_piece(self.position, self.position.side_to_move)
        if (depth < NULL_MOVE_CHECKED_DEPTH and not in_danger) or self.null_move_from > 0:
            return score
        self.null_move_from = ply + left * 3 // 4 + 1
        checked: cython.int = self.null_window_node(beta, left, ply, self.stack.cut_node[ply])
        self.null_move_from = 0
        return score if checked >= beta and not self.counter.stopped else NO_SCORE

    def probcut(self, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """A capture that a shallow search finds well above beta will be above it in a deep one too.

        (chessprogramming wiki: ProbCut)
        """
        if depth < PROBCUT_DEPTH or not self.stack.cut_node[ply]:
            return NO_SCORE
        bar: cython.int = beta + PROBCUT_MARGIN
        entry: u64 = self.table.probe(self.position.key)
        if entry and entry_depth(entry) >= depth - 3 and from_table(entry_score(entry), ply) < bar:
            return NO_SCORE
        score: cython.int
        self.picker.begin_tactical(ply, tactical_move(entry), bar - self.stack.static_eval(ply))
        move: cython.int = self.picker.next(ply)
        while move != NO_MOVE:
            self.stack.expect(move)
            self.stack.make(move, ply)
            score = -self.quiescence.search(-bar, 1 - bar, ply + 1)
            if score >= bar:
                score = -self.null_window_node(1 - bar, depth - 4, ply + 1, False)
            self.position.unmake(move)
            if self.counter.stopped:
                return DRAW
            if score >= bar:
                self.table.store(
                    self.position.key, move, to_table(score, ply), depth - 3, LOWER_BOUND,
                    self.stack.raw_evals[ply],
                )
                return score
            move = self.picker.next(ply)
        return NO_SCORE

    # --- The moves -------------------------------------------------------------------------------------------------

    def search_moves(
        self, alpha: cython.int, beta: cython.int, depth: cython.int, ply: cython.int, entry: u64
    ) -> cython.int:
        """The best score of all moves, or the first that fails high; the result goes to the table."""
        table_move: cython.int = entry_move(entry) if entry else NO_MOVE
        extension: cython.int = self.singular_extension(entry, beta, depth, ply)
        if extension == MULTICUT:
            return singular_bar(from_table(entry_score(entry), ply), depth)
        if self.counter.stopped:
            return DRAW
        excluded: cython.int = self.stack.excluded[ply]
        floor: cython.int = alpha
        best: cython.int = -INFINITE
        best_move: cython.int = NO_MOVE
        number: cython.int = 0
        self.stack.begin_moves(ply)
        self.picker.begin(ply, table_move)
        move: cython.int = self.picker.next(ply)
        while move != NO_MOVE:
            if move == excluded:
                move = self.picker.next(ply)
                continue
            number += 1
            self.stack.expect(move)
            self.stack.worth[ply] = 0 if is_tactical(move) else self.stack.quiet_worth(move, ply)
            if ply > 0 and best > -LONGEST_WIN and self.pruning.is_hopeless(move, number, alpha, depth, ply):
                move = self.picker.next(ply)
                continue
            if ply == 0:
                self.begin_root_move(move, number)
            plies: cython.int = depth + extension if move == table_move else depth
            score: cython.int = self.search_move(move, number, alpha, beta, plies, ply)
            if self.counter.stopped:
                return DRAW
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    best_move = move
                    if beta - floor > 1:
                        self.extend_pv(move, ply)
                    if ply == 0:
                        self.root_score = score
                        self.best_nodes = self.counter.nodes - self.move_nodes
                    if score >= beta:
                        self.stack.learn_cutoff(move, depth, ply)
                        break
            self.stack.note_tried(move, ply)
            move = self.picker.next(ply)
        if number == 0:
            return alpha if excluded else mated_in(ply) if self.stack.in_check[ply] else DRAW
        if excluded == NO_MOVE and (ply > 0 or not self.root_restricted):
            bound: cython.int = LOWER_BOUND if best >= beta else EXACT if best > floor else UPPER_BOUND
            self.stack.learn_error(best, best_move, bound, depth, ply)
            self.table.store(
                self.position.key, best_move, to_table(best, ply), depth, bound, self.stack.raw_evals[ply]
            )
        return best

    def singular_extension(self, entry: u64, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """How many plies more the table's move deserves, or MULTICUT.

        If all other moves, searched less deeply, stay clearly below its score it is the only good one and is searched
        deeper; if another one too beats beta the node needs no search. (chessprogramming wiki: Singular Extensions)
        """
        if ply == 0 or depth < SINGULAR_DEPTH or entry == 0 or self.stack.excluded[ply] or ply >= 2 * self.root_depth:
            return 0
        score: cython.int = from_table(entry_score(entry), ply)
        if entry_depth(entry) < depth - 3 or not entry_bound(entry) & LOWER_BOUND or is_decided(score):
            return 0
        if not self.picker.is_possible(ply, entry_move(entry)):
            return 0
        bar: cython.int = singular_bar(score, depth)
        self.stack.excluded[ply] = entry_move(entry)
        other: cython.int = self.null_window_node(bar, (depth - 1) // 2, ply, self.stack.cut_node[ply])
        self.stack.excluded[ply] = NO_MOVE
        if other < bar:
            return 1
        if bar >= beta and not is_decided(bar):
            return MULTICUT
        return -1 if score >= beta else 0

    def search_move(
        self,
        move: cython.int,
        number: cython.int,
        alpha: cython.int,
        beta: cython.int,
        depth: cython.int,
        ply: cython.int,
    ) -> cython.int:
        """Score of a move from the mover's view.

        All but the first move are only asked whether they beat alpha, late ones cheaply first; the one that does gets
        the full search that tells by how much.
        """
        on_pv: cython.bint = beta - alpha > 1
        cut_node: cython.bint = self.stack.cut_node[ply]
        reduction: cython.int = self.pruning.reduction(move, number, depth, ply, on_pv)
        self.stack.make(move, ply)
        score: cython.int = alpha + 1
        self.pv_length[ply + 1] = 0
        if number > 1 or not on_pv:
            score = -self.null_window_node(-alpha, depth - 1 - reduction, ply + 1, reduction > 0 or not cut_node)
            if reduction > 0 and score > alpha and not self.counter.stopped:
                if score > alpha + DEEPER_MARGIN:
                    depth += 1     # so good a surprise is worth another ply
                score = -self.null_window_node(-alpha, depth - 1, ply + 1, not cut_node)
        if on_pv and (number == 1 or alpha < score < beta) and not self.counter.stopped:
            score = -self.pv_node(-beta, -alpha, depth - 1, ply + 1)
        self.position.unmake(move)
        return score

    def begin_root_move(self, move: cython.int, number: cython.int) -> cython.void:
        """Note how many nodes there were before, and tell whoever listens to a long search."""
        self.move_nodes = self.counter.nodes
        if self.talkative_at_us and now_us() >= self.talkative_at_us:
            with cython.gil:
                self.on_root_move(move, number)

    def extend_pv(self, move: cython.int, ply: cython.int) -> cython.void:
        """The variation from here is the move and the variation found below it."""
        row: cython.int = ply * PV_ROW
        length: cython.int = self.pv_length[ply + 1]
        index: cython.int
        self.pv[row] = move
        for index in range(length):
            self.pv[row + 1 + index] = self.pv[row + PV_ROW + index]
        self.pv_length[ply] = length + 1
