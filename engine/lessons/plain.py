# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The textbook searches, one idea each: no transposition table, no pruning but alpha-beta.

All of them give the same value at the same depth, but for quiescence, which looks further; what differs is the number
of nodes. (chessprogramming wiki: Minimax, Negamax, Alpha-Beta, MVV-LVA, Killer Heuristic, Quiescence Search)
"""

import cython
from cython.cimports.engine.core.draws import FIFTY_MOVES_PLIES, is_insufficient_material, is_repetition
from cython.cimports.engine.core.move import (
    CASTLING,
    NO_MOVE,
    flag_of,
    from_square,
    is_capture,
    is_promotion,
    is_tactical,
    promoted_kind,
    to_square,
)
from cython.cimports.engine.core.movegen import MAX_MOVES, generate
from cython.cimports.engine.core.pieces import KIND_OF, NO_PIECE, WHITE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import DRAW, INFINITE, MAX_PLY, NO_SCORE, mated_in
from cython.cimports.engine.evaluation.evaluate import evaluate
from cython.cimports.engine.lessons.terms import Terms
from cython.cimports.engine.search.search_stack import Variations
from cython.cimports.engine.search.time_manager import CountedSearch, NodeCounter, TimeManager

FIRST = cython.declare(cython.int, 1 << 30)         # the priority of moves: the last best line before all others,
GAINS = cython.declare(cython.int, 1 << 20)         # then captures and promotions, the most valuable victim first,
KILLER = cython.declare(cython.int, 1 << 19)        # then the killers of this ply,
CASTLES = cython.declare(cython.int, 1 << 10)       # then castling, then steps towards the centre
# How near the centre a file or a rank is.
INWARD = cython.declare(cython.int[8])
if not cython.compiled:
    INWARD = [0] * 8
for _index, _value in enumerate((0, 1, 2, 3, 3, 2, 1, 0)):
    INWARD[_index] = _value


@cython.final
@cython.cclass
class PlainSearch(CountedSearch):
    """Searches of one position, stopped by the clock or from any thread. Without `terms` the engine's own evaluation.

    `ordered` tries moves by their priority, `quiescent` follows captures to their end; both belong to `alpha_beta`.
    """

    def __init__(
        self, position: Position, terms: Terms | None, clock: TimeManager, ordered: bool, quiescent: bool
    ) -> None:
        self.position = Position()
        self.position.copy_from(position)
        self.terms = terms
        self.counter = NodeCounter(clock)
        self.root_height = self.position.height
        self.ordered = ordered
        self.quiescent = quiescent
        self.variations = Variations()

    # --- For Python callers --------------------------------------------------------------------------------------

    def run_minimax(self, depth: int) -> int:
        """Return the minimax value from White's view; `depth` is 1 or more."""
        plies: cython.int = depth
        score: cython.int
        with cython.nogil:
            score = self.minimax(plies, 0)
        return score

    def run_negamax(self, depth: int) -> int:
        """Return the negamax value for the side to move; `depth` is 1 or more."""
        plies: cython.int = depth
        score: cython.int
        with cython.nogil:
            score = self.negamax(plies, 0)
        return score

    def run_alpha_beta(self, depth: int) -> int:
        """Return the alpha-beta value for the side to move; `depth` is 1 or more.

        The next search tries the best line of this one first.
        """
        plies: cython.int = depth
        score: cython.int
        with cython.nogil:
            score = self.alpha_beta(plies, -INFINITE, INFINITE, 0)
        if not self.counter.stopped:
            found = self.variation()
            for ply in range(MAX_PLY):
                self.hints[ply] = found[ply] if ply < len(found) else NO_MOVE
        return score

    def variation(self) -> list[int]:
        """Return the best line of the last search."""
        return self.variations.principal()

    # --- What ends a line ----------------------------------------------------------------------------------------

    def evaluation(self) -> cython.int:
        """Return the static evaluation for the side to move."""
        return evaluate(self.position) if self.terms is None else self.terms.score(self.position)

    def score_if_over(self, moves: cython.int, ply: cython.int) -> cython.int:
        """Return the score by the rules, or NO_SCORE while the game goes on; `moves` counts the legal moves.

        Mate comes before all draws. Mates are counted from the root, so that the nearer one is preferred. A repeated
        position counts as a draw, so that the winning side makes progress.
        """
        if moves == 0:
            if not self.position.in_check():
                return DRAW
            return mated_in(ply) if self.terms is None else self.terms.mated(ply)
        if ply == 0:
            return NO_SCORE
        if self.position.halfmove_clock >= FIFTY_MOVES_PLIES or is_insufficient_material(self.position):
            return DRAW
        return DRAW if is_repetition(self.position, self.root_height) else NO_SCORE

    # --- Searches ------------------------------------------------------------------------------------------------

    def minimax(self, depth: cython.int, ply: cython.int) -> cython.int:
        """Return the value from White's view: White seeks the highest value, Black the lowest."""
        white: cython.bint = self.position.side_to_move == WHITE
        moves = cython.declare(cython.int[MAX_MOVES])
        self.counter.count(ply)
        self.variations.begin(ply)
        end: cython.int = generate(self.position, moves, 0, False)
        score: cython.int = self.score_if_over(end, ply)
        if score == NO_SCORE and depth == 0:
            score = self.evaluation()
        if score != NO_SCORE:
            return score if white else -score
        best: cython.int = -INFINITE if white else INFINITE
        index: cython.int
        for index in range(end):
            self.position.make(moves[index])
            score = self.minimax(depth - 1, ply + 1)
            self.position.unmake(moves[index])
            if self.counter.stopped:
                return DRAW
            if score > best if white else score < best:
                best = score
                self.variations.extend(moves[index], ply)
        return best

    def negamax(self, depth: cython.int, ply: cython.int) -> cython.int:
        """Return the value for the side to move: the negated value for the opponent after the best move."""
        moves = cython.declare(cython.int[MAX_MOVES])
        self.counter.count(ply)
        self.variations.begin(ply)
        end: cython.int = generate(self.position, moves, 0, False)
        score: cython.int = self.score_if_over(end, ply)
        if score != NO_SCORE:
            return score
        if depth == 0:
            return self.evaluation()
        best: cython.int = -INFINITE
        index: cython.int
        for index in range(end):
            self.position.make(moves[index])
            score = -self.negamax(depth - 1, ply + 1)
            self.position.unmake(moves[index])
            if self.counter.stopped:
                return DRAW
            if score > best:
                best = score
                self.variations.extend(moves[index], ply)
        return best

    def alpha_beta(self, depth: cython.int, alpha: cython.int, beta: cython.int, ply: cython.int) -> cython.int:
        """Return the value for the side to move: negamax that leaves a position once the opponent would avoid it."""
        if depth == 0 and self.quiescent:
            return self.quiescence(alpha, beta, ply)
        moves = cython.declare(cython.int[MAX_MOVES])
        priorities = cython.declare(cython.int[MAX_MOVES])
        self.counter.count(ply)
        self.variations.begin(ply)
        end: cython.int = generate(self.position, moves, 0, False)
        score: cython.int = self.score_if_over(end, ply)
        if score != NO_SCORE:
            return score
        if depth == 0:
            return self.evaluation()
        index: cython.int
        for index in range(end):
            priorities[index] = self.priority(moves[index], ply) if self.ordered else 0
        best: cython.int = -INFINITE
        for index in range(end):
            self.bring_best_forward(moves, priorities, index, end)
            self.position.make(moves[index])
            score = -self.alpha_beta(depth - 1, -beta, -alpha, ply + 1)
            self.position.unmake(moves[index])
            if self.counter.stopped:
                return DRAW
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    self.variations.extend(moves[index], ply)
                if score >= beta:
                    self.note_cutoff(moves[index], ply)
                    break
        return best

    def quiescence(self, alpha: cython.int, beta: cython.int, ply: cython.int) -> cython.int:
        """Return the value for the side to move once all captures are made, so that no exchange is cut off."""
        moves = cython.declare(cython.int[MAX_MOVES])
        priorities = cython.declare(cython.int[MAX_MOVES])
        self.counter.count(ply)
        self.variations.begin(ply)
        in_check: cython.bint = self.position.in_check()
        end: cython.int = generate(self.position, moves, 0, False)
        score: cython.int = self.score_if_over(end, ply)
        if score != NO_SCORE:
            return score
        if ply >= MAX_PLY - 1:
            return self.evaluation()
        best: cython.int = -INFINITE
        if not in_check:
            best = self.evaluation()
            if best >= beta:
                return best
            if best > alpha:
                alpha = best
            end = generate(self.position, moves, 0, True)
        index: cython.int
        for index in range(end):
            priorities[index] = self.priority(moves[index], ply)
        for index in range(end):
            self.bring_best_forward(moves, priorities, index, end)
            self.position.make(moves[index])
            score = -self.quiescence(-beta, -alpha, ply + 1)
            self.position.unmake(moves[index])
            if self.counter.stopped:
                return DRAW
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    self.variations.extend(moves[index], ply)
                if score >= beta:
                    break
        return best

    # --- Order ---------------------------------------------------------------------------------------------------

    def priority(self, move: cython.int, ply: cython.int) -> cython.int:
        """Return the priority of a move; the highest is tried first: the sooner the refutation, the fewer nodes."""
        if move == self.hints[ply]:
            return FIRST
        board = self.position.board
        if is_tactical(move):
            victim: cython.int = 0             # en passant finds the square empty: the victim is a pawn
            if is_capture(move) and board[to_square(move)] != NO_PIECE:
                victim = KIND_OF[board[to_square(move)]]
            promoted: cython.int = promoted_kind(move) if is_promotion(move) else 0
            # The most valuable victim first, of equal ones the least valuable attacker. (MVV-LVA)
            return GAINS + 8 * (victim + promoted) - KIND_OF[board[from_square(move)]]
        if move == self.killers[2 * ply] or move == self.killers[2 * ply + 1]:
            return KILLER
        if flag_of(move) == CASTLING:
            return CASTLES
        origin: cython.int = from_square(move)
        target: cython.int = to_square(move)
        return INWARD[target & 7] + INWARD[target >> 3] - INWARD[origin & 7] - INWARD[origin >> 3]

    def bring_best_forward(
        self, moves: cython.p_int, priorities: cython.p_int, index: cython.int, end: cython.int
    ) -> cython.void:
        """Put the remaining move of the highest priority next: often no more than one is ever needed."""
        best: cython.int = index
        other: cython.int
        for other in range(index + 1, end):
            if priorities[other] > priorities[best]:
                best = other
        moves[index], moves[best] = moves[best], moves[index]
        priorities[index], priorities[best] = priorities[best], priorities[index]

    def note_cutoff(self, move: cython.int, ply: cython.int) -> cython.void:
        """Store a quiet move that refutes as a killer: it is likely to refute other positions of this ply too."""
        if not is_tactical(move) and self.killers[2 * ply] != move:
            self.killers[2 * ply + 1] = self.killers[2 * ply]
            self.killers[2 * ply] = move
