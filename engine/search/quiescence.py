# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Quiescence search: search captures until the position is quiet, since only then its static evaluation is reliable.

(chessprogramming wiki: Quiescence Search)
"""

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.move import NO_MOVE, is_promotion, is_tactical
from cython.cimports.engine.core.params import DELTA_MARGIN, FORCED_PLIES
from cython.cimports.engine.core.score import DRAW, INFINITE, MAX_PLY, NO_SCORE, mated_in
from cython.cimports.engine.search.draws_and_tablebases import fifty_move_score
from cython.cimports.engine.search.move_picker import MovePicker
from cython.cimports.engine.search.search_stack import SearchStack
from cython.cimports.engine.search.time_manager import NodeCounter
from cython.cimports.engine.search.transposition import (
    EXACT,
    LOWER_BOUND,
    UPPER_BOUND,
    TranspositionTable,
    entry_move,
    entry_pv,
)


def tactical_move(entry: u64) -> cython.int:
    """Return the move of the table's entry if it is a capture or promotion, else NO_MOVE."""
    return entry_move(entry) if is_tactical(entry_move(entry)) else NO_MOVE


@cython.final
@cython.cclass
class Quiescence:
    """The quiescence search of one thread."""

    def __init__(self, table: TranspositionTable, stack: SearchStack, picker: MovePicker, counter: NodeCounter) -> None:
        self.position = stack.position
        self.rules = stack.rules
        self.table = table
        self.stack = stack
        self.picker = picker
        self.counter = counter

    def search(self, alpha: cython.int, beta: cython.int, ply: cython.int) -> cython.int:
        """Return the score once the captures are over, in centipawns for the side to move."""
        self.first_ply = ply
        return self.search_captures(alpha, beta, ply)

    def search_captures(self, alpha: cython.int, beta: cython.int, ply: cython.int) -> cython.int:
        """Return the score of a node of the quiescence search.

        The side to move may stand pat on the static evaluation, since some quiet move is nearly always at least as
        good; not in check, when every evasion is searched, and not for some plies if it must capture.
        """
        self.counter.count(ply)
        if self.counter.stopped:
            return DRAW
        if ply >= MAX_PLY:
            return self.stack.evaluate(ply)
        score: cython.int = self.rules.end_score(ply)
        if score == NO_SCORE:
            score = fifty_move_score(self.rules, self.picker, ply)
        if score != NO_SCORE:
            return score
        entry: u64 = self.table.probe(self.position.key)
        if beta - alpha == 1:
            known: cython.int = self.stack.tt_cutoff(entry, beta, 0, ply)
            if known != NO_SCORE:
                return known
        forced: cython.bint = self.rules.is_forced()
        if forced and ply >= self.first_ply + FORCED_PLIES and not self.position.in_check():
            return self.stack.evaluate(ply)
        best: cython.int = mated_in(ply)
        delta_base: cython.int = -INFINITE
        self.stack.set_evaluation(entry, forced, ply)
        if forced:
            self.stack.begin_moves(ply)
            self.picker.begin(ply, entry_move(entry))
        else:
            if self.rules.is_stuck():
                return self.rules.score_without_moves(ply)
            best = self.stack.refined_evaluation(entry, ply)
            if best >= beta:
                return best
            if best > alpha:
                alpha = best
            if self.rules.has_plain_exchanges and self.rules.is_zugzwang_unlikely():
                delta_base = self.stack.static_eval(ply) + DELTA_MARGIN
            self.picker.begin_tactical(ply, tactical_move(entry), 0)
        best_move: cython.int = NO_MOVE
        move: cython.int
        while (move := self.picker.next(ply)) != NO_MOVE:
            # Delta pruning: even with the captured piece and a margin the score stays below alpha.
            # (chessprogramming wiki: Delta Pruning)
            if delta_base > -INFINITE and not is_promotion(move):
                optimistic: cython.int = delta_base + self.rules.gain(move)
                if optimistic <= alpha:
                    if optimistic > best:
                        best = optimistic
                    continue
            self.stack.prefetch(move)
            self.stack.make(move, ply)
            score = -self.search_captures(-beta, -alpha, ply + 1)
            self.position.unmake(move)
            if self.counter.stopped:
                return DRAW
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    best_move = move
                    if score >= beta:
                        break
        bound: cython.int = LOWER_BOUND if best >= beta else EXACT if best_move != NO_MOVE else UPPER_BOUND
        self.stack.tt_pv[ply] = entry != 0 and entry_pv(entry)
        self.stack.store(best_move, best, 0, bound, ply)
        return best
