# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The search of a player of limited strength: alpha-beta to a small depth, with only the moves that it sees.

Where it overlooks moves, it trusts that the side to move has something quiet: its score is at least its judgement of
the position. Captures are followed until they end; after some plies only recaptures are.
"""

import cython
from cython.cimports.engine.core.draws import FIFTY_MOVES_PLIES, is_insufficient_material, is_repetition
from cython.cimports.engine.core.move import from_square, is_capture, is_tactical, to_square
from cython.cimports.engine.core.movegen import MAX_MOVES, generate
from cython.cimports.engine.core.params import EXCHANGE_VALUE
from cython.cimports.engine.core.pieces import KIND_OF
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import DRAW, INFINITE, is_decided, mated_in
from cython.cimports.engine.core.see import exchange_wins
from cython.cimports.engine.search.levels.judgement import Judge
from cython.cimports.engine.search.levels.vision import Vision
from cython.cimports.engine.search.search_stack import Variations
from cython.cimports.engine.search.time_manager import CountedSearch, NodeCounter, TimeManager

if not cython.compiled:
    MAX_PLIES = 32                 # from the root, captures and evasions included

RECAPTURE_BONUS = cython.declare(cython.int, 100)   # cp
THEORY_BONUS = cython.declare(cython.int, 60)       # cp: a known opening is left only for something better


@cython.final
@cython.cclass
class LevelSearch(CountedSearch):
    """One thought of one player."""

    def __init__(
        self,
        position: Position,
        vision: Vision,
        judge: Judge,
        time_manager: TimeManager,
        exchange_plies: int,
        previous: int,
        node_limit: int,
    ) -> None:
        """`previous` is the opponent's last move, 0 if there is none; `node_limit` is 0 for no limit."""
        self.position = position
        self.vision = vision
        self.judge = judge
        self.counter = NodeCounter(time_manager, node_limit)
        self.variations = Variations()
        self.exchange_plies = exchange_plies
        self.root_height = position.height
        self.root_previous = previous
        self.root_moves = 0
        self.theory_moves = 0

    # --- For Python callers --------------------------------------------------------------------------------------

    def restrict_root(self, moves: list) -> None:
        """Consider these legal moves at the root, in this order."""
        index: cython.int
        for index in range(len(moves)):
            self.moves[index] = moves[index]
        self.root_moves = len(moves)

    def remember_theory(self, moves: list) -> None:
        """Prefer these moves of the root, which the player knows from its openings."""
        index: cython.int
        for index in range(len(moves)):
            self.theory[index] = moves[index]
        self.theory_moves = len(moves)

    def run(self, depth: int) -> int:
        """Search the root without the interpreter lock and return its score.

        If `was_stopped()`, that is a lower bound, and meaningless without a principal variation.
        """
        plies: cython.int = depth
        score: cython.int
        with cython.nogil:
            score = self.node(-INFINITE, INFINITE, plies, 0)
            if self.variations.length[0] > 0 and not is_decided(score):
                score -= self.instinct(self.variations.moves[0])
        return score

    def principal_variation(self) -> list[int]:
        """Return the principal variation of the last `run`, empty if no move was finished."""
        return self.variations.principal()

    # --- Nodes -----------------------------------------------------------------------------------------------------

    def previous(self, ply: cython.int) -> cython.int:
        """Return the move that led to this node."""
        return self.played[ply - 1] if ply > 0 else self.root_previous

    def node(self, alpha: cython.int, beta: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """Return the score of a node in centipawns for the side to move. In check the search goes on below depth 0."""
        self.variations.begin(ply)
        if ply > 0 and (is_insufficient_material(self.position) or is_repetition(self.position, self.root_height)):
            return DRAW
        in_check: cython.bint = self.position.in_check()
        if depth <= 0 and not in_check:
            return self.quiescence(alpha, beta, ply, 0)
        self.counter.count(ply)
        if self.counter.stopped:
            return DRAW
        if ply >= MAX_PLIES:
            return self.judge.score(self.position)
        end: cython.int = self.root_moves
        if ply > 0:
            end = generate(self.position, self.moves, ply * MAX_MOVES, False)
            if end == ply * MAX_MOVES:
                return mated_in(ply) if in_check else DRAW
            if self.position.halfmove_clock >= FIFTY_MOVES_PLIES:
                return DRAW
        best: cython.int = -INFINITE
        if ply > 0 and not in_check:
            legal: cython.int = end
            end = self.keep_seen(ply, end, False)
            if end < legal:
                best = self.judge.score(self.position)
                if best >= beta:
                    return best
        self.order(ply, end)
        floor: cython.int = best if best > alpha else alpha
        score: cython.int
        index: cython.int
        for index in range(ply * MAX_MOVES, end):
            move: cython.int = self.pick(index, end)
            self.played[ply] = move
            instinct: cython.int = self.instinct(move) if ply == 0 else 0
            self.position.make(move)
            score = -self.node(-beta, instinct - floor, depth - 1, ply + 1)
            self.position.unmake(move)
            if self.counter.stopped:
                return best if ply == 0 else DRAW
            if not is_decided(score):
                score += instinct
            if score > best:
                best = score
                if score > floor:
                    floor = score
                    self.variations.extend(move, ply)
                    if score >= beta:
                        if not is_tactical(move):
                            self.killers[ply] = move
                        break
        return best

    def quiescence(self, alpha: cython.int, beta: cython.int, ply: cython.int, plies: cython.int) -> cython.int:
        """Return the score once the captures are over; after `exchange_plies` only recaptures are followed."""
        self.counter.count(ply)
        if self.counter.stopped or is_insufficient_material(self.position):
            return DRAW
        best: cython.int = self.judge.score(self.position)
        if best >= beta or ply >= MAX_PLIES:
            return best
        if best > alpha:
            alpha = best
        end: cython.int = generate(self.position, self.moves, ply * MAX_MOVES, True)
        end = self.keep_seen(ply, end, plies >= self.exchange_plies)
        self.order(ply, end)
        index: cython.int
        score: cython.int
        for index in range(ply * MAX_MOVES, end):
            move: cython.int = self.pick(index, end)
            self.played[ply] = move
            self.position.make(move)
            score = -self.quiescence(-beta, -alpha, ply + 1, plies + 1)
            self.position.unmake(move)
            if self.counter.stopped:
                return DRAW
            if score > best:
                best = score
                if score > alpha:
                    alpha = score
                    if score >= beta:
                        break
        return best

    def instinct(self, move: cython.int) -> cython.int:
        """Return the bonus at the root for what people play almost without thinking.

        That is a move of theory, and a recapture that loses nothing.
        """
        index: cython.int
        for index in range(self.theory_moves):
            if self.theory[index] == move:
                return THEORY_BONUS
        if not is_capture(self.root_previous) or to_square(move) != to_square(self.root_previous):
            return 0
        return RECAPTURE_BONUS if exchange_wins(self.position, move, 0) else 0

    # --- The moves of a node -----------------------------------------------------------------------------------------

    def keep_seen(self, ply: cython.int, end: cython.int, recaptures_only: cython.bint) -> cython.int:
        """Keep the moves that the player sees, perhaps only recaptures; return the new end."""
        kept: cython.int = ply * MAX_MOVES
        previous: cython.int = self.previous(ply)
        index: cython.int
        for index in range(ply * MAX_MOVES, end):
            move: cython.int = self.moves[index]
            if recaptures_only and not (is_capture(previous) and to_square(move) == to_square(previous)):
                continue
            if self.vision.sees(self.position, move, previous, ply):
                self.moves[kept] = move
                kept += 1
        return kept

    def order(self, ply: cython.int, end: cython.int) -> cython.void:
        """Score the moves: captures by victim and attacker, then the killer. The root keeps its order."""
        index: cython.int
        for index in range(ply * MAX_MOVES, end):
            move: cython.int = self.moves[index]
            score: cython.int = 0
            if ply == 0:
                score = end - index
            elif is_tactical(move):
                score = 10000 + 10 * EXCHANGE_VALUE[KIND_OF[self.position.board[to_square(move)]]]
                score -= EXCHANGE_VALUE[KIND_OF[self.position.board[from_square(move)]]]
            elif move == self.killers[ply]:
                score = 5000
            self.scores[index] = score

    def pick(self, index: cython.int, end: cython.int) -> cython.int:
        """Swap the best of the remaining moves to this index and return it."""
        best: cython.int = index
        other: cython.int
        for other in range(index + 1, end):
            if self.scores[other] > self.scores[best]:
                best = other
        move: cython.int = self.moves[best]
        score: cython.int = self.scores[best]
        self.moves[best], self.scores[best] = self.moves[index], self.scores[index]
        self.moves[index], self.scores[index] = move, score
        return move
