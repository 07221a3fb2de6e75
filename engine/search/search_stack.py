# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The line from the root to the node being searched: what was played, what each position seems worth, what was tried.

All arrays are indexed by ply. What the search learns goes from here to `history.py`. Knows no recursion.
"""

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.move import NO_MOVE, is_tactical, to_square
from cython.cimports.engine.core.params import FIFTY_MOVES_FADING, HISTORY_RISE, HISTORY_RISE_LIMIT, NETWORK_LIMIT
from cython.cimports.engine.core.pieces import KIND_OF
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import DRAW, MAX_PLY, NO_SCORE, from_table, is_decided
from cython.cimports.engine.evaluation.endings import tempered
from cython.cimports.engine.evaluation.evaluate import evaluate, known_score
from cython.cimports.engine.nnue.network import Accumulators, Network
from cython.cimports.engine.search.history import NO_STEP, History, bonus
from cython.cimports.engine.search.transposition import (
    LOWER_BOUND,
    UPPER_BOUND,
    TranspositionTable,
    entry_bound,
    entry_depth,
    entry_eval,
    entry_score,
)

BEFORE_ROOT = cython.declare(cython.int, 4)         # plies before the root that steps and evaluations begin with
REMEMBERED = cython.declare(cython.int, 64)         # tried moves of a node that are learnt from


def evaluate_by_network(position: Position, accumulators: Accumulators, ply: cython.int) -> cython.int:
    """Static score in centipawns for the side to move.

    What is known of endings comes first, and a known win outranks whatever the network guesses.
    """
    known: cython.int = known_score(position)
    if known == NO_SCORE:
        return tempered(position, accumulators.score(position, ply))
    if known == DRAW:
        return DRAW
    return known + NETWORK_LIMIT if known > DRAW else known - NETWORK_LIMIT


def network_score(position: Position, network: Network) -> int:
    """`evaluate_by_network` for Python callers."""
    return evaluate_by_network(position, Accumulators(network), 0)


def faded(score: cython.int, halfmove_clock: cython.int) -> cython.int:
    """An advantage that is not used fades: half is left when the fifty-move rule makes it a draw."""
    if halfmove_clock > 100:
        halfmove_clock = 100       # more only where somebody set it up: no game goes on so long
    return score * (FIFTY_MOVES_FADING - halfmove_clock) // FIFTY_MOVES_FADING


def is_guess(score: cython.int) -> cython.bint:
    """Is a static score no more than that: neither a known draw nor a win that only has to be found?"""
    return -NETWORK_LIMIT <= score <= NETWORK_LIMIT and score != DRAW


@cython.final
@cython.cclass
class SearchStack:
    """Of one thread's search. Without a network the hand-written evaluation judges positions."""

    def __init__(
        self, position: Position, table: TranspositionTable, history: History, network: Network | None
    ) -> None:
        if not cython.compiled:
            self.static_evals = [0] * (MAX_PLY + 6)
            self.raw_evals = [0] * (MAX_PLY + 2)
            self.steps = [0] * (MAX_PLY + 6)
            self.excluded = [0] * (MAX_PLY + 2)
            self.in_check = [False] * (MAX_PLY + 2)
            self.improving = [False] * (MAX_PLY + 2)
            self.cut_node = [False] * (MAX_PLY + 2)
            self.moves = [0] * (MAX_PLY + 2)
            self.worth = [0] * (MAX_PLY + 2)
            self.quiets = [0] * (MAX_PLY + 2)
            self.captures = [0] * (MAX_PLY + 2)
            self.tried_quiets = [0] * (REMEMBERED * (MAX_PLY + 2))
            self.tried_captures = [0] * (REMEMBERED * (MAX_PLY + 2))
        self.position = position
        self.table = table
        self.history = history
        self.accumulators = None if network is None else Accumulators(network)
        ply: cython.int
        for ply in range(MAX_PLY + BEFORE_ROOT + 2):
            self.static_evals[ply] = NO_SCORE
            self.steps[ply] = NO_STEP
        for ply in range(MAX_PLY + 2):
            self.excluded[ply] = NO_MOVE

    def begin_again(self) -> None:
        """The position has changed since; what nodes note of themselves they overwrite."""
        if self.accumulators is not None:
            self.accumulators.begin_again()

    # --- What is played ----------------------------------------------------------------------------------------------

    def expect(self, move: cython.int) -> cython.void:
        """The move may be made soon: memory takes longer than that for what the table knows of it."""
        self.table.prefetch(self.position.key_after(move))

    def make(self, move: cython.int, ply: cython.int) -> cython.void:
        """Play a move and note its step for those that answer or follow it."""
        self.moves[ply] = move
        self.steps[ply + BEFORE_ROOT] = self.step(move)
        if self.accumulators is not None:
            self.accumulators.note_move(self.position, move, ply)
        self.position.make(move)

    def make_null(self, ply: cython.int) -> cython.void:
        """Pass."""
        self.steps[ply + BEFORE_ROOT] = NO_STEP
        if self.accumulators is not None:
            self.accumulators.note_null(ply)
        self.position.make_null()
        self.table.prefetch(self.position.key)

    def before(self, ply: cython.int, plies: cython.int) -> cython.int:
        """The step made so many plies before this node, NO_STEP for a pass or before the root."""
        return self.steps[ply + BEFORE_ROOT - plies]

    def step(self, move: cython.int) -> cython.int:
        """Piece and target of a move that is about to be played, as `history.py` counts them."""
        return self.position.board[move & 63] * 64 + to_square(move)

    # --- What it seems worth -----------------------------------------------------------------------------------------

    def evaluate(self, ply: cython.int) -> cython.int:
        """Static score of the position at this ply in centipawns for the side to move."""
        if self.accumulators is None:
            return evaluate(self.position)
        return evaluate_by_network(self.position, self.accumulators, ply)

    def note_evaluation(self, entry: u64, in_check: cython.bint, ply: cython.int) -> cython.void:
        """Evaluate the position, if the table does not know it, and correct that by what was learnt.

        In check there is nothing quiet to evaluate.
        """
        raw: cython.int = NO_SCORE
        corrected: cython.int = NO_SCORE
        if not in_check:
            raw = entry_eval(entry) if entry else NO_SCORE
            if raw == NO_SCORE:
                raw = self.evaluate(ply)
            corrected = raw
            if is_guess(raw):
                corrected = faded(raw, self.position.halfmove_clock) + self.history.correction(self.position)
        self.raw_evals[ply] = raw
        self.static_evals[ply + BEFORE_ROOT] = corrected
        # Better off than at our last turn? Then fewer moves are worth giving up.
        before: cython.int = self.static_evals[ply + BEFORE_ROOT - 2]
        self.in_check[ply] = in_check
        self.improving[ply] = not in_check and (before == NO_SCORE or corrected > before)

    def refined_evaluation(self, entry: u64, ply: cython.int) -> cython.int:
        """The evaluation, or the table's score where that says more."""
        static_eval: cython.int = self.static_evals[ply + BEFORE_ROOT]
        if entry == 0:
            return static_eval
        score: cython.int = from_table(entry_score(entry), ply)
        if is_decided(score):
            return static_eval
        return score if entry_bound(entry) & (LOWER_BOUND if score > static_eval else UPPER_BOUND) else static_eval

    def static_eval(self, ply: cython.int) -> cython.int:
        """The corrected evaluation, NO_SCORE in check."""
        return self.static_evals[ply + BEFORE_ROOT]

    def table_cutoff(self, entry: u64, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """The score of an earlier search at least as deep, if it answers the question; else NO_SCORE.

        Close to the fifty-move draw the table, which does not know the clock, is not believed.
        """
        if entry == 0 or entry_depth(entry) < depth or self.position.halfmove_clock >= 90 or self.excluded[ply]:
            return NO_SCORE
        score: cython.int = from_table(entry_score(entry), ply)
        if entry_bound(entry) & (LOWER_BOUND if score >= beta else UPPER_BOUND):
            return score
        return NO_SCORE

    def quiet_worth(self, move: cython.int, ply: cython.int) -> cython.int:
        """What history says of a quiet move that is about to be played."""
        return self.history.quiet_worth(self.position.side_to_move, move, self.step(move), ply)

    # --- What was tried, and learnt ----------------------------------------------------------------------------------

    def begin_moves(self, ply: cython.int) -> cython.void:
        """No move of the node has been tried."""
        self.quiets[ply] = self.captures[ply] = 0
        self.history.begin_node(
            self.position, ply, self.before(ply, 1), self.before(ply, 2), self.before(ply, 4)
        )

    def note_tried(self, move: cython.int, ply: cython.int) -> cython.void:
        """The move did not refute the position."""
        if is_tactical(move):
            if self.captures[ply] < REMEMBERED:
                self.tried_captures[ply * REMEMBERED + self.captures[ply]] = move
                self.captures[ply] += 1
        elif self.quiets[ply] < REMEMBERED:
            self.tried_quiets[ply * REMEMBERED + self.quiets[ply]] = move
            self.quiets[ply] += 1

    def learn_cutoff(self, move: cython.int, depth: cython.int, ply: cython.int) -> cython.void:
        """The move refuted the position: remember it, and that those tried before it did not."""
        weight: cython.int = bonus(depth)
        index: cython.int
        if is_tactical(move):
            self.learn_capture(move, weight)
        else:
            self.history.remember_killer(move, ply)
            self.learn_quiet(move, ply, weight)
            for index in range(self.quiets[ply]):
                self.learn_quiet(self.tried_quiets[ply * REMEMBERED + index], ply, -weight)
        for index in range(self.captures[ply]):
            self.learn_capture(self.tried_captures[ply * REMEMBERED + index], -weight)

    def learn_quiet(self, move: cython.int, ply: cython.int, change: cython.int) -> cython.void:
        self.history.learn_quiet(self.position.side_to_move, move, self.step(move), ply, change)

    def learn_capture(self, move: cython.int, change: cython.int) -> cython.void:
        self.history.learn_capture(self.step(move), KIND_OF[self.position.board[to_square(move)]], change)

    def judge_last_move(self, ply: cython.int) -> cython.void:
        """A quiet move is thought the better of, the more the evaluation rose for who made it."""
        if ply == 0 or self.before(ply, 1) == NO_STEP or is_tactical(self.moves[ply - 1]):
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
        self.history.learn_route(self.position.side_to_move ^ 1, self.moves[ply - 1], ply - 1, change)

    def learn_error(
        self, best: cython.int, best_move: cython.int, bound: cython.int, depth: cython.int, ply: cython.int
    ) -> cython.void:
        """If the search of a quiet position shows that the evaluation was wrong, remember by how much."""
        expected: cython.int = self.static_eval(ply)
        if expected == NO_SCORE or not is_guess(self.raw_evals[ply]) or is_tactical(best_move) or is_decided(best):
            return
        if (bound == LOWER_BOUND and best <= expected) or (bound == UPPER_BOUND and best >= expected):
            return
        self.history.learn_error(self.position, best - expected, depth)
