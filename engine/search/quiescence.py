# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Search until the captures are over, because only a quiet position can be judged by its looks.

(chessprogramming wiki: Quiescence Search)
"""

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.material import has_pieces, is_insufficient_material
from cython.cimports.engine.core.move import NO_MOVE, is_promotion, is_tactical, to_square
from cython.cimports.engine.core.params import DELTA_MARGIN, EXCHANGE_VALUE
from cython.cimports.engine.core.pieces import KIND_OF
from cython.cimports.engine.core.score import DRAW, INFINITE, MAX_PLY, NO_SCORE, mated_in, to_table
from cython.cimports.engine.search.move_picker import MovePicker
from cython.cimports.engine.search.search_stack import SearchStack
from cython.cimports.engine.search.time_manager import NodeCounter
from cython.cimports.engine.search.transposition import EXACT, LOWER_BOUND, UPPER_BOUND, TranspositionTable, entry_move


def tactical_move(entry: u64) -> cython.int:
    """The table's move if it is a capture or promotion."""
    return entry_move(entry) if is_tactical(entry_move(entry)) else NO_MOVE


@cython.final
@cython.cclass
class Quiescence:
    """The last plies of one thread's search."""

    def __init__(self, table: TranspositionTable, stack: SearchStack, picker: MovePicker, counter: NodeCounter) -> None:
        self.position = stack.position
        self.table = table
        self.stack = stack
        self.picker = picker
        self.counter = counter

    def search(self, alpha: cython.int, beta: cython.int, ply: cython.int) -> cython.int:
        """Score once the captures are over: who is to move may also stand pat on the evaluation.

        Some quiet move is nearly always at least as good as that. In check there is no standing pat, and every
        evasion is tried. (chessprogramming wiki: Quiescence Search)
        """
        self.counter.count(ply)
        if self.counter.stopped:
            return DRAW
        if ply >= MAX_PLY:
            return self.stack.evaluate(ply)
        if is_insufficient_material(self.position):
            return DRAW
        in_check: cython.bint = self.position.in_check()
        entry: u64 = self.table.probe(self.position.key)
        if beta - alpha == 1:
            known: cython.int = self.stack.table_cutoff(entry, beta, 0, ply)
            if known != NO_SCORE:
                return known
        best: cython.int = mated_in(ply)
        bar: cython.int = -INFINITE        # what a capture must be hoped to reach
        floor: cython.int = alpha
        self.stack.note_evaluation(entry, in_check, ply)
        if in_check:
            self.stack.begin_moves(ply)
            self.picker.begin(ply, entry_move(entry))
        else:
            best = self.stack.refined_evaluation(entry, ply)
            if best >= beta:
                return best
            if best > alpha:
                alpha = best
            if has_pieces(self.position, self.position.side_to_move):   # what a lone king takes may change everything
                bar = self.stack.static_eval(ply) + DELTA_MARGIN
            self.picker.begin_tactical(ply, tactical_move(entry), 0)
        best_move: cython.int = NO_MOVE
        move: cython.int = self.picker.next(ply)
        score: cython.int
        while move != NO_MOVE:
            # Delta pruning: even with its booty and a margin the capture stays below alpha.
            # (chessprogramming wiki: Delta Pruning)
            if bar > -INFINITE and not is_promotion(move) and bar + self.booty(move) <= alpha:
                if bar + self.booty(move) > best:
                    best = bar + self.booty(move)
                move = self.picker.next(ply)
                continue
            self.stack.expect(move)
            self.stack.make(move, ply)
            score = -self.search(-beta, -alpha, ply + 1)
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
            move = self.picker.next(ply)
        bound: cython.int = LOWER_BOUND if best >= beta else EXACT if best > floor and best_move else UPPER_BOUND
        self.table.store(self.position.key, best_move, to_table(best, ply), 0, bound, self.stack.raw_evals[ply])
        return best

    def booty(self, move: cython.int) -> cython.int:
        """The value of what the move takes; a pawn for en passant, whose square is empty."""
        return EXCHANGE_VALUE[KIND_OF[self.position.board[to_square(move)]]]
