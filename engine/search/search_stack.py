# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The path from the root to the current node, by ply: moves played, static evaluations, moves tried, best variation.

Updates the statistics in `history.py`. Must not know the recursion.
"""

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.draws import FIFTY_MOVES_PLIES
from cython.cimports.engine.core.move import NO_MOVE, is_tactical
from cython.cimports.engine.core.params import (
    FIFTY_MOVES_FADING,
    HISTORY_RISE,
    HISTORY_RISE_LIMIT,
    NETWORK_LIMIT,
    TT_CUTOFF_CLOCK,
)
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import DRAW, MAX_PLY, NO_SCORE, from_tt, is_decided, to_tt
from cython.cimports.engine.evaluation.evaluate import evaluate, evaluate_by_network
from cython.cimports.engine.evaluation.network import Accumulators, Network
from cython.cimports.engine.evaluation.style_bonus import StyleBonus
from cython.cimports.engine.evaluation.variant_evaluation import VariantEvaluation
from cython.cimports.engine.search.history import NO_STEP, History, bonus, malus, step_of
from cython.cimports.engine.search.rules import Rules
from cython.cimports.engine.search.transposition import (
    LOWER_BOUND,
    NO_BOUND,
    UPPER_BOUND,
    TranspositionTable,
    entry_bound,
    entry_depth,
    entry_eval,
    entry_score,
)

if not cython.compiled:
    BEFORE_ROOT = 4                # plies before the root in `steps` and `static_evals`
    PV_ROW = MAX_PLY + 1           # moves
    MAX_TRIED = 64                 # tried moves of a node that are remembered, of each sort


def faded(score: cython.int, halfmove_clock: cython.int) -> cython.int:
    """Return the score reduced by the fifty-move clock, by half when the rule makes it a draw."""
    if halfmove_clock > FIFTY_MOVES_PLIES:
        halfmove_clock = FIFTY_MOVES_PLIES     # only a FEN can have more
    return score * (FIFTY_MOVES_FADING - halfmove_clock) // FIFTY_MOVES_FADING


def is_estimate(score: cython.int) -> cython.bint:
    """Return whether a static score counts as an estimate, which style and corrections change.

    0 counts as a known draw, a score beyond the network's limit as a known win. Known wins of the hand-written terms
    are within that limit, and count as estimates.
    """
    return -NETWORK_LIMIT <= score <= NETWORK_LIMIT and score != DRAW


@cython.final
@cython.cclass
class Variations:
    """The best variation from each ply on. (chessprogramming wiki: Triangular PV-Table)"""

    def principal(self) -> list[int]:
        """Return the variation of the root."""
        return [self.moves[index] for index in range(self.length[0])]

    def begin(self, ply: cython.int) -> cython.void:
        """Empty the variation of this ply."""
        self.length[ply] = 0

    def extend(self, move: cython.int, ply: cython.int) -> cython.void:
        """Set the variation of this ply to the move and the variation of the next ply."""
        row: cython.int = ply * PV_ROW
        length: cython.int = self.length[ply + 1]
        index: cython.int
        self.moves[row] = move
        for index in range(length):
            self.moves[row + 1 + index] = self.moves[row + PV_ROW + index]
        self.length[ply] = length + 1


@cython.final
@cython.cclass
class SearchStack:
    """The stack of one thread's search. Standard chess without a network is evaluated by the hand-written terms."""

    def __init__(
        self,
        position: Position,
        table: TranspositionTable,
        history: History,
        network: Network | None,
        variant_evaluation: VariantEvaluation | None,
        style: StyleBonus | None,
    ) -> None:
        """`network` is of standard chess. A variant needs `variant_evaluation`, which may have a network of its own."""
        self.position = position
        self.rules = Rules(position)
        self.table = table
        self.history = history
        self.accumulators = None if network is None else Accumulators(network)
        self.variant_evaluation = variant_evaluation
        self.style = style
        self.styled_side = position.side_to_move
        ply: cython.int
        for ply in range(MAX_PLY + BEFORE_ROOT + 2):
            self.static_evals[ply] = NO_SCORE
            self.steps[ply] = NO_STEP
        for ply in range(MAX_PLY + 2):
            self.excluded[ply] = NO_MOVE

    def reset(self) -> None:
        """Start from the position as it is now; nodes overwrite their own fields."""
        self.styled_side = self.position.side_to_move
        if self.accumulators is not None:
            self.accumulators.begin_again()

    # --- Moves and evaluation ---------------------------------------------------------------------------------------

    def prefetch(self, move: cython.int) -> cython.void:
        """Load the table's entry for the position after the move into the cache."""
        self.table.prefetch(self.position.key_after(move))

    def make(self, move: cython.int, ply: cython.int) -> cython.void:
        """Make a move and record its step."""
        self.moves[ply] = move
        self.reductions[ply] = 0
        self.steps[ply + BEFORE_ROOT] = step_of(self.position, move)
        if self.accumulators is not None:
            self.accumulators.note_move(self.position, move, ply)
        self.position.make(move)

    def make_null(self, ply: cython.int) -> cython.void:
        """Make a null move."""
        self.steps[ply + BEFORE_ROOT] = NO_STEP
        self.reductions[ply] = 0
        if self.accumulators is not None:
            self.accumulators.note_null(ply)
        self.position.make_null()
        self.table.prefetch(self.position.key)

    def step_before(self, ply: cython.int, plies: cython.int) -> cython.int:
        """Return the step made `plies` plies before this node, NO_STEP for a null move or before the root."""
        return self.steps[ply + BEFORE_ROOT - plies]

    def evaluate(self, ply: cython.int) -> cython.int:
        """Return the static evaluation in centipawns for the side to move, without correction."""
        score: cython.int
        if self.accumulators is not None:
            score = evaluate_by_network(self.position, self.accumulators, ply)
        elif self.rules.variant is not None:
            score = self.variant_evaluation.evaluate(self.position, self.rules.variant.extra)
        else:
            score = evaluate(self.position)
        if self.style is not None and is_estimate(score):
            return self.style.added_to(score, self.position, self.styled_side)
        return score

    def set_evaluation(self, entry: u64, forced: cython.bint, ply: cython.int) -> cython.void:
        """Set the node's raw and corrected static evaluation, both NO_SCORE if it is forced, and whether it improves.

        The raw one comes from the table's entry. If there is none it is stored at once: a node that it cuts off stores
        nothing else, and is often reached again by other moves.
        """
        raw: cython.int = NO_SCORE
        corrected: cython.int = NO_SCORE
        if not forced:
            raw = entry_eval(entry) if entry else NO_SCORE
            if raw == NO_SCORE:
                raw = self.evaluate(ply)
                if entry == 0:
                    self.table.store(self.position.key, NO_MOVE, 0, 0, NO_BOUND, raw, False)
            corrected = raw
            if is_estimate(raw):
                clock: cython.int = self.position.halfmove_clock if self.rules.has_fifty_move_rule else 0
                corrected = faded(raw, clock) + self.history.correction(self.position)
        self.raw_evals[ply] = raw
        self.static_evals[ply + BEFORE_ROOT] = corrected
        before: cython.int = self.static_evals[ply + BEFORE_ROOT - 2]
        if before == NO_SCORE:
            before = self.static_evals[ply + BEFORE_ROOT - 4]
        self.forced[ply] = forced
        self.improving[ply] = not forced and (before == NO_SCORE or corrected > before)

    def refined_evaluation(self, entry: u64, ply: cython.int) -> cython.int:
        """Return the corrected evaluation, or the table's score if that is a closer bound."""
        static_eval: cython.int = self.static_evals[ply + BEFORE_ROOT]
        if entry == 0:
            return static_eval
        score: cython.int = from_tt(entry_score(entry), ply)
        if is_decided(score):
            return static_eval
        return score if entry_bound(entry) & (LOWER_BOUND if score > static_eval else UPPER_BOUND) else static_eval

    def static_eval(self, ply: cython.int) -> cython.int:
        """Return the corrected static evaluation, NO_SCORE if the node is forced."""
        return self.static_evals[ply + BEFORE_ROOT]

    def tt_cutoff(self, entry: u64, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """Return the table's score if it is deep enough and decides the null window, else NO_SCORE.

        Near the fifty-move draw the table is ignored, because its key does not include the clock.
        """
        if entry == 0 or entry_depth(entry) < depth or self.excluded[ply]:
            return NO_SCORE
        if self.position.halfmove_clock >= TT_CUTOFF_CLOCK and self.rules.has_fifty_move_rule:
            return NO_SCORE
        score: cython.int = from_tt(entry_score(entry), ply)
        if entry_bound(entry) & (LOWER_BOUND if score >= beta else UPPER_BOUND):
            return score
        return NO_SCORE

    def store(
        self, move: cython.int, score: cython.int, depth: cython.int, bound: cython.int, ply: cython.int
    ) -> cython.void:
        """Store the node's result in the table."""
        self.table.store(
            self.position.key, move, to_tt(score, ply), depth, bound, self.raw_evals[ply], self.tt_pv[ply]
        )

    def quiet_score(self, move: cython.int, ply: cython.int) -> cython.int:
        """Return the history score of a quiet move that has not been made yet."""
        return self.history.quiet_score(self.position, move, ply)

    # --- Statistics ---------------------------------------------------------------------------------------------------

    def begin_moves(self, ply: cython.int) -> cython.void:
        """Begin a node: no move has been tried."""
        self.tried_quiet_count[ply] = self.tried_capture_count[ply] = 0
        self.history.begin_node(
            self.position, ply, self.step_before(ply, 1), self.step_before(ply, 2), self.step_before(ply, 4)
        )

    def add_tried(self, move: cython.int, ply: cython.int) -> cython.void:
        """Remember a move that did not cause a cutoff."""
        if is_tactical(move):
            if self.tried_capture_count[ply] < MAX_TRIED:
                self.tried_captures[ply * MAX_TRIED + self.tried_capture_count[ply]] = move
                self.tried_capture_count[ply] += 1
        elif self.tried_quiet_count[ply] < MAX_TRIED:
            self.tried_quiets[ply * MAX_TRIED + self.tried_quiet_count[ply]] = move
            self.tried_quiet_count[ply] += 1

    def update_on_cutoff(self, move: cython.int, depth: cython.int, ply: cython.int) -> cython.void:
        """Raise the history of a move that caused a cutoff, and lower that of the moves tried before it."""
        weight: cython.int = bonus(depth)
        loss: cython.int = malus(depth)
        index: cython.int
        if is_tactical(move):
            self.history.update_capture(self.position, move, weight)
        else:
            self.history.add_killer(move, ply)
            self.history.update_quiet(self.position, move, ply, weight)
            for index in range(self.tried_quiet_count[ply]):
                self.history.update_quiet(self.position, self.tried_quiets[ply * MAX_TRIED + index], ply, -loss)
        for index in range(self.tried_capture_count[ply]):
            self.history.update_capture(self.position, self.tried_captures[ply * MAX_TRIED + index], -loss)

    def update_by_evaluation(self, ply: cython.int) -> cython.void:
        """Change the history of the last quiet move by how much it raised its side's static evaluation."""
        if ply == 0 or self.step_before(ply, 1) == NO_STEP or is_tactical(self.moves[ply - 1]):
            return
        before: cython.int = self.static_eval(ply - 1)
        now: cython.int = self.static_eval(ply)
        if before == NO_SCORE or now == NO_SCORE:
            return
        change: cython.int = -HISTORY_RISE * (before + now)
        if change > HISTORY_RISE_LIMIT:
            change = HISTORY_RISE_LIMIT
        elif change < -HISTORY_RISE_LIMIT:
            change = -HISTORY_RISE_LIMIT
        self.history.update_butterfly(self.position.side_to_move ^ 1, self.moves[ply - 1], ply - 1, change)

    def update_correction(
        self, best: cython.int, best_move: cython.int, bound: cython.int, depth: cython.int, ply: cython.int
    ) -> cython.void:
        """Learn the error of the static evaluation from the result of a quiet node."""
        expected: cython.int = self.static_eval(ply)
        if expected == NO_SCORE or not is_estimate(self.raw_evals[ply]) or is_tactical(best_move) or is_decided(best):
            return
        if (bound == LOWER_BOUND and best <= expected) or (bound == UPPER_BOUND and best >= expected):
            return
        self.history.update_correction(self.position, best - expected, depth)
