# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Staged move ordering: alpha-beta is fast if good moves come first.

1. the move of the transposition table, before any move is generated;
2. captures and promotions that do not lose material, the most valuable victim first;
3. killers, then other quiet moves by history;
4. captures that lose material.

A ranked move is one number, `rank * 65536 + move` with a rank of 16 bits: the best move is the largest.
(chessprogramming wiki: Move Ordering)
"""

from array import array

import cython
from cython.cimports.engine.core.move import NO_MOVE, is_promotion, is_tactical, promoted_kind
from cython.cimports.engine.core.movegen import MAX_MOVES
from cython.cimports.engine.core.params import EXCHANGE_VALUE, GOOD_CAPTURE_HISTORY
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import MAX_PLY
from cython.cimports.engine.search.history import History
from cython.cimports.engine.search.rules import Rules
from cython.cimports.engine.variants.variant_position import MAX_VARIANT_MOVES

if not cython.compiled:
    FLIP_MOVE = 56 | 56 << 6       # mirrors the ranks of both squares of a move
    # Stages; of these QUIET_CHECKS comes only after `skip_to_quiet_checks`.
    TT_MOVE, GENERATION, GOOD_TACTICAL, QUIET, QUIET_CHECKS, BAD_CAPTURE = range(6)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def take_best(moves: cython.p_int, index: cython.int, end: cython.int) -> cython.int:
    """Move the best of moves[index:end] to `index` and return it without its rank."""
    best: cython.int = moves[index]
    other: cython.int
    for other in range(index + 1, end):        # two simple loops: the compiler vectorizes the first
        best = moves[other] if moves[other] > best else best
    other = index
    while moves[other] != best:
        other += 1
    moves[other] = moves[index]
    moves[index] = best
    return best & 0xFFFF


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def flip_for(side: cython.int, move: cython.int) -> cython.int:
    """Return the move seen from that side's end of the board; calling it twice restores the move."""
    return move ^ FLIP_MOVE if side else move


@cython.final
@cython.cclass
class MovePicker:
    """The moves of the nodes on the path from the root, one list for each ply.

    A list begins at moves[moves_per_ply * ply]: captures and promotions, then quiet moves. Captures that lose material
    are written back over the beginning of the list, whose moves have been returned by then.
    """

    def __init__(self, position: Position, history: History) -> None:
        self.position = position
        self.rules = Rules(position)
        self.history = history
        self.root_count = 0
        self.moves_per_ply = MAX_MOVES if self.rules.variant is None else MAX_VARIANT_MOVES
        self.memory = array("i", bytes(4 * self.moves_per_ply * (MAX_PLY + 1)))
        if cython.compiled:
            view: cython.int[::1] = self.memory
            self.moves = cython.address(view[0])
        else:
            self.moves = self.memory

    def restrict_root(self, moves: list) -> None:
        """Return only these legal moves at ply 0."""
        index: cython.int
        self.root_count = len(moves)
        for index in range(self.root_count):
            self.root_moves[index] = moves[index]

    def order(self, tt_move: int, tactical_only: bool = False, quiets: int = MAX_MOVES) -> list[int]:
        """Return the moves of the root in order, for tests; calls `skip_to_quiet_checks` after `quiets` quiet moves."""
        if tactical_only:
            self.begin_tactical(0, tt_move, 0)
        else:
            self.begin(0, tt_move)
        moves = []
        move: cython.int
        while (move := self.next(0)) != NO_MOVE:
            moves.append(move)
            if self.stage[0] == QUIET:
                quiets -= 1
                if quiets <= 0:
                    self.skip_to_quiet_checks(0)
        return moves

    def begin(self, ply: cython.int, tt_move: cython.int) -> cython.void:
        """Begin a node with all moves; `History.begin_node` comes first."""
        self.begin_tactical(ply, tt_move, 0)
        self.tactical_only[ply] = False

    def begin_tactical(self, ply: cython.int, tt_move: cython.int, threshold: cython.int) -> cython.void:
        """Begin a node with the captures and promotions that win at least `threshold` centipawns by exchange."""
        self.stage[ply] = TT_MOVE
        self.tt_move[ply] = tt_move if self.is_playable(ply, tt_move) else NO_MOVE
        self.threshold[ply] = threshold
        self.tactical_only[ply] = True

    def is_playable(self, ply: cython.int, move: cython.int) -> cython.bint:
        """Return whether the table's move is legal here; two positions can share a key."""
        index: cython.int
        if move == NO_MOVE:
            return False
        if ply == 0 and self.root_count:
            for index in range(self.root_count):
                if self.root_moves[index] == move:
                    return True
            return False
        return self.rules.is_legal(move)

    def next(self, ply: cython.int) -> cython.int:
        """Return the next move, NO_MOVE after the last."""
        move: cython.int = NO_MOVE
        if self.stage[ply] == TT_MOVE:
            self.stage[ply] = GENERATION
            if self.tt_move[ply] != NO_MOVE:
                return self.tt_move[ply]
        if self.stage[ply] == GENERATION:
            self.generate_moves(ply)
            self.stage[ply] = GOOD_TACTICAL
        if self.stage[ply] == GOOD_TACTICAL:
            move = self.next_good_tactical(ply)
            if move != NO_MOVE or self.tactical_only[ply]:
                return move
            self.rank_quiets(ply)
            self.stage[ply] = QUIET
        if self.stage[ply] == QUIET:
            move = self.next_quiet(ply)
        elif self.stage[ply] == QUIET_CHECKS:
            move = self.next_check(ply)
        if move != NO_MOVE:
            return move
        if self.stage[ply] != BAD_CAPTURE:
            self.stage[ply] = BAD_CAPTURE
            self.index[ply] = self.moves_per_ply * ply
        return self.next_bad_capture(ply)

    def is_bad_capture(self, ply: cython.int) -> cython.bint:
        """Return whether the last move returned is a capture that loses material."""
        return self.stage[ply] == BAD_CAPTURE

    def skip_to_quiet_checks(self, ply: cython.int) -> cython.void:
        """Of the remaining quiet moves keep only checks, unordered and without ranks."""
        side: cython.int = self.position.side_to_move
        index: cython.int
        for index in range(self.index[ply], self.end[ply]):
            self.moves[index] = flip_for(side, self.moves[index] & 0xFFFF)
        self.end[ply] = self.rules.keep_forcing(self.moves, self.index[ply], self.end[ply])
        self.stage[ply] = QUIET_CHECKS

    def generate_moves(self, ply: cython.int) -> cython.void:
        """Generate the moves, put captures and promotions first, and rank those."""
        start: cython.int = self.moves_per_ply * ply
        end: cython.int
        index: cython.int
        move: cython.int
        tactical_end: cython.int = start
        if ply == 0 and self.root_count:
            for index in range(self.root_count):
                self.moves[index] = self.root_moves[index]
            end = self.root_count
        else:
            end = self.rules.generate(self.moves, start, self.tactical_only[ply])
        for index in range(start, end):
            move = self.moves[index]
            if is_tactical(move):
                self.moves[index] = self.moves[tactical_end]
                self.moves[tactical_end] = self.tactical_rank(move) * 65536 + move
                tactical_end += 1
        self.index[ply] = self.bad_end[ply] = start
        self.tactical_end[ply] = tactical_end
        self.end[ply] = end

    def tactical_rank(self, move: cython.int) -> cython.int:
        """Return the rank of a capture or promotion: most valuable victim first, then by capture history.

        En passant and plain promotions have an empty target, which counts as a pawn.
        """
        rank: cython.int = 8 * self.rules.gain(move) + (self.history.capture_score(self.position, move) >> 2)
        if is_promotion(move):
            rank += 8 * EXCHANGE_VALUE[promoted_kind(move)]
        return rank if rank < 32767 else 32767     # a variant's largest gains would not fit into 16 bits

    def next_good_tactical(self, ply: cython.int) -> cython.int:
        """Return the best remaining capture that wins its exchange; keep the losing ones for later.

        When all moves are searched, a capture with a good history may lose a little, and one with a bad history must
        win a little. A piece may be given for the last pawn: that may save a draw.
        """
        while self.index[ply] < self.tactical_end[ply]:
            move: cython.int = take_best(self.moves, self.index[ply], self.tactical_end[ply])
            self.index[ply] += 1
            if move == self.tt_move[ply]:
                continue
            least: cython.int = self.threshold[ply]
            if not self.tactical_only[ply]:
                least -= self.history.capture_score(self.position, move) // GOOD_CAPTURE_HISTORY
            if self.rules.exchange_wins(move, least) or self.rules.takes_last_pawn(move):
                return move
            self.moves[self.bad_end[ply]] = move
            self.bad_end[ply] += 1
        return NO_MOVE

    def rank_quiets(self, ply: cython.int) -> cython.void:
        """Rank quiet moves by killers and history; of equals those towards the opponent's side come first."""
        index: cython.int
        self.history.rank_quiets(self.position, self.moves, self.tactical_end[ply], self.end[ply], ply)
        if self.position.side_to_move:
            for index in range(self.tactical_end[ply], self.end[ply]):
                self.moves[index] ^= FLIP_MOVE

    def next_quiet(self, ply: cython.int) -> cython.int:
        """Return the best remaining quiet move."""
        side: cython.int = self.position.side_to_move
        while self.index[ply] < self.end[ply]:
            move: cython.int = flip_for(side, take_best(self.moves, self.index[ply], self.end[ply]))
            self.index[ply] += 1
            if move != self.tt_move[ply]:
                return move
        return NO_MOVE

    def next_check(self, ply: cython.int) -> cython.int:
        """Return the next quiet move that gives check."""
        while self.index[ply] < self.end[ply]:
            self.index[ply] += 1
            move: cython.int = self.moves[self.index[ply] - 1]
            if move != self.tt_move[ply]:
                return move
        return NO_MOVE

    def next_bad_capture(self, ply: cython.int) -> cython.int:
        """Return the next capture that loses material, in the order found."""
        if self.index[ply] < self.bad_end[ply]:
            self.index[ply] += 1
            return self.moves[self.index[ply] - 1]
        return NO_MOVE
