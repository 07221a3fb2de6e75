# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""In which order moves are searched: good guesses first is what makes alpha-beta fast.

The table's move, before any other is even generated; captures that win or hold material, the most valuable victim
first; killers and other quiet moves by history; captures that lose material. (chessprogramming wiki: Move Ordering)

A ranked move is one number, `rank * 65536 + move` with a rank of 16 bits, so that the best move is just the largest.
"""

import cython
from cython.cimports.engine.core.move import NO_MOVE, is_promotion, is_tactical, promoted_kind, to_square
from cython.cimports.engine.core.movegen import generate, is_legal
from cython.cimports.engine.core.params import EXCHANGE_VALUE
from cython.cimports.engine.core.pieces import KIND_OF
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import MAX_PLY
from cython.cimports.engine.core.see import exchange_wins
from cython.cimports.engine.search.history import History

MOVES_PER_PLY = cython.declare(cython.int, 288)     # see movegen.py
OTHER_END = cython.declare(cython.int, 56 | 56 << 6)   # turns the ranks of both squares of a move round

# The stages of a list.
TABLE_MOVE = cython.declare(cython.int, 0)
GENERATION = cython.declare(cython.int, 1)
TACTICAL = cython.declare(cython.int, 2)
QUIET = cython.declare(cython.int, 3)
CHECKS = cython.declare(cython.int, 4)              # only if `only_checks` was called
LOSING = cython.declare(cython.int, 5)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def take_best(moves: cython.p_int, index: cython.int, end: cython.int) -> cython.int:
    """Bring the best of moves[index:end] to `index` and return it unranked; most nodes need few."""
    best: cython.int = moves[index]
    other: cython.int
    for other in range(index + 1, end):        # two plain loops: the compiler vectorises the first
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
def seen_by(side: cython.int, move: cython.int) -> cython.int:
    """The move as that side sees it from its end of the board, and back."""
    return move ^ OTHER_END if side else move


@cython.final
@cython.cclass
class MovePicker:
    """The moves of the nodes on the way from the root, one list for each ply.

    A list is moves[MOVES_PER_PLY * ply:]: captures and promotions first, then the quiet moves. Those that lose material
    are written back over the beginning, whose moves have been given out by then.
    """

    def __init__(self, position: Position, history: History) -> None:
        if not cython.compiled:
            self.moves = [0] * (MOVES_PER_PLY * (MAX_PLY + 1))
            self.root_moves = [0] * MOVES_PER_PLY
            self.stage = [0] * (MAX_PLY + 1)
            self.table_move = [0] * (MAX_PLY + 1)
            self.goal = [0] * (MAX_PLY + 1)
            self.index = [0] * (MAX_PLY + 1)
            self.tactical_end = [0] * (MAX_PLY + 1)
            self.losing_end = [0] * (MAX_PLY + 1)
            self.end = [0] * (MAX_PLY + 1)
            self.tactical_only = [False] * (MAX_PLY + 1)
        self.position = position
        self.history = history
        self.root_count = 0

    def restrict_root(self, moves: list) -> None:
        """At ply 0 give out only these legal moves."""
        index: cython.int
        self.root_count = len(moves)
        for index in range(self.root_count):
            self.root_moves[index] = moves[index]

    def order(self, table_move: int, tactical_only: bool = False, quiets: int = MOVES_PER_PLY) -> list[int]:
        """The moves of the root in the order in which they are given out, for Python callers.

        `quiets` are given out before `only_checks` is called.
        """
        if tactical_only:
            self.begin_tactical(0, table_move, 0)
        else:
            self.begin(0, table_move)
        moves = []
        move: cython.int = self.next(0)
        while move != NO_MOVE:
            moves.append(move)
            if self.stage[0] == QUIET:
                quiets -= 1
                if quiets <= 0:
                    self.only_checks(0)
            move = self.next(0)
        return moves

    def begin(self, ply: cython.int, table_move: cython.int) -> cython.void:
        """All moves of the node, which history has been told of."""
        self.begin_tactical(ply, table_move, 0)
        self.tactical_only[ply] = False

    def begin_tactical(self, ply: cython.int, table_move: cython.int, goal: cython.int) -> cython.void:
        """Only the captures and promotions that win at least `goal` centipawns by exchange."""
        self.stage[ply] = TABLE_MOVE
        self.table_move[ply] = table_move if self.is_possible(ply, table_move) else NO_MOVE
        self.goal[ply] = goal
        self.tactical_only[ply] = True

    def is_possible(self, ply: cython.int, move: cython.int) -> cython.bint:
        """May the table's move be played? Two positions may share a key, if hardly ever."""
        index: cython.int
        if move == NO_MOVE:
            return False
        if ply == 0 and self.root_count:
            for index in range(self.root_count):
                if self.root_moves[index] == move:
                    return True
            return False
        return is_legal(self.position, move)

    def next(self, ply: cython.int) -> cython.int:
        """The next move, or NO_MOVE after the last."""
        move: cython.int = NO_MOVE
        if self.stage[ply] == TABLE_MOVE:
            self.stage[ply] = GENERATION
            if self.table_move[ply] != NO_MOVE:
                return self.table_move[ply]
        if self.stage[ply] == GENERATION:
            self.list_moves(ply)
            self.stage[ply] = TACTICAL
        if self.stage[ply] == TACTICAL:
            move = self.next_tactical(ply)
            if move != NO_MOVE or self.tactical_only[ply]:
                return move
            self.rank_quiets(ply)
            self.stage[ply] = QUIET
        if self.stage[ply] == QUIET:
            move = self.next_quiet(ply)
        elif self.stage[ply] == CHECKS:
            move = self.next_check(ply)
        if move != NO_MOVE:
            return move
        if self.stage[ply] != LOSING:
            self.stage[ply] = LOSING
            self.index[ply] = MOVES_PER_PLY * ply
        return self.next_losing(ply)

    def is_losing(self, ply: cython.int) -> cython.bint:
        """Was the move last given out a capture that loses material?"""
        return self.stage[ply] == LOSING

    def only_checks(self, ply: cython.int) -> cython.void:
        """Of the quiet moves that are left give out only those that check, in no order."""
        self.stage[ply] = CHECKS

    def list_moves(self, ply: cython.int) -> cython.void:
        """Generate, bring captures and promotions to the front, and rank those."""
        start: cython.int = MOVES_PER_PLY * ply
        end: cython.int
        index: cython.int
        move: cython.int
        tactical_end: cython.int = start
        if ply == 0 and self.root_count:
            for index in range(self.root_count):
                self.moves[index] = self.root_moves[index]
            end = self.root_count
        else:
            end = generate(self.position, self.moves, start, self.tactical_only[ply])
        for index in range(start, end):
            move = self.moves[index]
            if is_tactical(move):
                self.moves[index] = self.moves[tactical_end]
                self.moves[tactical_end] = self.tactical_rank(move) * 65536 + move
                tactical_end += 1
        self.index[ply] = self.losing_end[ply] = start
        self.tactical_end[ply] = tactical_end
        self.end[ply] = end

    def tactical_rank(self, move: cython.int) -> cython.int:
        """Most valuable victim first, then what such captures have done before.

        The empty square of an en passant or plain promotion reads as kind 0, a pawn, which ranks it about right.
        """
        target: cython.int = to_square(move)
        victim: cython.int = KIND_OF[self.position.board[target]]
        step: cython.int = self.position.board[move & 63] * 64 + target
        rank: cython.int = 8 * EXCHANGE_VALUE[victim] + self.history.captures[step * 6 + victim] // 4
        if is_promotion(move):
            rank += 8 * EXCHANGE_VALUE[promoted_kind(move)]
        return rank

    def next_tactical(self, ply: cython.int) -> cython.int:
        """The best capture left that wins its exchange; the others are kept for later."""
        while self.index[ply] < self.tactical_end[ply]:
            move: cython.int = take_best(self.moves, self.index[ply], self.tactical_end[ply])
            self.index[ply] += 1
            if move == self.table_move[ply]:
                continue
            if exchange_wins(self.position, move, self.goal[ply]):
                return move
            self.moves[self.losing_end[ply]] = move
            self.losing_end[ply] += 1
        return NO_MOVE

    def rank_quiets(self, ply: cython.int) -> cython.void:
        """Killers, then the rest by history; of equals those that lead away from the own side first."""
        index: cython.int
        self.history.rank_quiets(self.position, self.moves, self.tactical_end[ply], self.end[ply], ply)
        if self.position.side_to_move:
            for index in range(self.tactical_end[ply], self.end[ply]):
                self.moves[index] ^= OTHER_END

    def next_quiet(self, ply: cython.int) -> cython.int:
        """The best quiet move left."""
        side: cython.int = self.position.side_to_move
        while self.index[ply] < self.end[ply]:
            move: cython.int = seen_by(side, take_best(self.moves, self.index[ply], self.end[ply]))
            self.index[ply] += 1
            if move != self.table_move[ply]:
                return move
        return NO_MOVE

    def next_check(self, ply: cython.int) -> cython.int:
        """The next quiet move that attacks the enemy king."""
        side: cython.int = self.position.side_to_move
        while self.index[ply] < self.end[ply]:
            move: cython.int = seen_by(side, self.moves[self.index[ply]] & 0xFFFF)
            self.index[ply] += 1
            if move != self.table_move[ply] and self.position.gives_check(move):
                return move
        return NO_MOVE

    def next_losing(self, ply: cython.int) -> cython.int:
        """The captures that lose material, in the order they were found."""
        if self.index[ply] < self.losing_end[ply]:
            self.index[ply] += 1
            return self.moves[self.index[ply] - 1]
        return NO_MOVE
