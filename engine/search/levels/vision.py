# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Which moves a player of limited strength sees.

A recapture is always seen. Of quiet moves, checks, castling and the escape of an attacked piece are overlooked less
often than others. Captures have a chance of their own, less for a queen than for a pawn, which is also that of
promotions. Moves that are long, go backwards, or are far from the last move are overlooked more often. A player sees
its own candidates better than the replies to them, and those better than what follows.

Whether a move is seen is settled for one thought, the choice of one move: a blind spot is a piece, its square and the
square it could go to. So the same reply is overlooked after every candidate, as people do. The blind spots come from a
hash of seed and position: a repeated search has the same, another game has others.
"""

import cython
from cython.cimports.engine.core.attacks import distance
from cython.cimports.engine.core.bitboard import popcount, u64
from cython.cimports.engine.core.checks import gives_check
from cython.cimports.engine.core.move import (
    CASTLING,
    flag_of,
    from_square,
    is_capture,
    is_promotion,
    is_tactical,
    to_square,
)
from cython.cimports.engine.core.movegen import attacked_squares
from cython.cimports.engine.core.params import EXCHANGE_VALUE
from cython.cimports.engine.core.pieces import BLACK, KIND_OF, NO_SQUARE, WHITE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.zobrist import PIECE_KEY, mix64

MOST = cython.declare(cython.int, 950)             # per mille: no legal move is overlooked more often
CANDIDATE_PERCENT = cython.declare(cython.int, 60)        # own candidates are overlooked less than replies to them,
LATER_PERCENT = cython.declare(cython.int, 130)           # what follows more


def tension(position: Position) -> int:
    """Return how many pieces and pawns of both sides the other side attacks."""
    by_white: u64 = attacked_squares(position, WHITE, position.occupied)
    by_black: u64 = attacked_squares(position, BLACK, position.occupied)
    return popcount(by_white & position.colours[BLACK]) + popcount(by_black & position.colours[WHITE])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def chance_by_victim(chance: cython.int, position: Position, move: cython.int) -> cython.int:
    """Return the chance to overlook a capture: all of `chance` for a pawn, half of it for a rook, a third for a queen.

    A promotion on an empty square counts as the capture of a pawn.
    """
    return chance * 400 // (300 + EXCHANGE_VALUE[KIND_OF[position.board[to_square(move)]]])


@cython.final
@cython.cclass
class Vision:
    """What one player sees during one thought."""

    def __init__(self, thought: int, blindness: int, capture_blindness: int, last_move: int) -> None:
        """`thought` is a hash of game and position; blindness is how many of 1000 ordinary replies are overlooked.

        `last_move` is the opponent's: what that piece attacks now is seen.
        """
        self.thought = thought
        self.moved_last = to_square(last_move) if last_move else NO_SQUARE
        self.blindness = blindness
        self.capture_blindness = capture_blindness

    def sees(
        self, position: Position, move: cython.int, previous: cython.int, ply: cython.int
    ) -> cython.bint:
        """Return whether the player sees a legal move that follows `previous`, `ply` plies from the root."""
        chance: cython.int = self.chance_to_overlook(position, move, previous, ply)
        if chance <= 0:
            return True
        origin: cython.int = from_square(move)
        spot: u64 = PIECE_KEY[position.board[origin] * 64 + origin] ^ to_square(move)
        return mix64(self.thought ^ spot) % 1000 >= cython.cast(u64, chance)

    def chance_to_overlook(
        self, position: Position, move: cython.int, previous: cython.int, ply: cython.int
    ) -> cython.int:
        """Return how many of 1000 such moves the player overlooks."""
        origin: cython.int = from_square(move)
        target: cython.int = to_square(move)
        chance: cython.int = self.capture_blindness
        if is_capture(move):
            if previous and target == to_square(previous):
                if is_capture(previous):
                    return 0
                chance >>= 2
            elif ply == 1 and origin == self.moved_last:
                chance >>= 2
            elif ply == 0:
                chance >>= 1
            chance = chance_by_victim(chance, position, move)
        elif is_promotion(move):
            chance >>= 2
        else:
            chance = self.blindness
            if gives_check(position, move):
                chance = self.capture_blindness >> 2 if ply == 0 else chance >> 2
            elif flag_of(move) == CASTLING:
                chance >>= 2
            elif ply == 0 and position.is_attacked(origin, position.side_to_move ^ 1):
                chance >>= 1       # the escape of an attacked piece
        percent: cython.int = 100
        if distance(origin, target) >= 4:
            percent += 50
        if (target >> 3 < origin >> 3) if position.side_to_move == WHITE else (target >> 3 > origin >> 3):
            percent += 40
        if previous and distance(target, to_square(previous)) >= 4:
            percent += 40
        if ply != 1:
            percent = percent * (CANDIDATE_PERCENT if ply == 0 else LATER_PERCENT) // 100
        chance = chance * percent // 100
        return chance if chance < MOST else MOST

    def seen(self, position: Position, moves: list, previous: int) -> list[int]:
        """Return the moves of the root that the player considers; all of them if it sees none."""
        return [move for move in moves if self.sees(position, move, previous, 0)] or moves

    def seen_in_variant(self, position: Position, moves: list) -> list[int]:
        """Return the moves of the root that the player considers in a variant, where it sees all replies to them.

        Therefore it overlooks more candidates than in standard chess. The capture of a pawn is overlooked at most as
        often as a quiet move.
        """
        found: list[int] = []
        move: cython.int
        for move in moves:
            chance: cython.int = self.blindness
            if is_tactical(move):
                if chance > self.capture_blindness >> 1:
                    chance = self.capture_blindness >> 1
                chance = chance_by_victim(chance, position, move)
            if chance > MOST:
                chance = MOST
            if mix64(self.thought ^ cython.cast(u64, move)) % 1000 >= cython.cast(u64, chance):
                found.append(move)
        return found or moves
