# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Antichess: the side that loses all pieces or cannot move has won. Captures are forced; the king is an ordinary piece.

There is no check and no castling, and a pawn may promote to a king.
"""

from __future__ import annotations

import cython
from cython.cimports.engine.core.bitboard import ALL_SQUARES, DARK_SQUARES, popcount, u64
from cython.cimports.engine.core.move import (
    CAPTURE,
    KING_PROMOTION,
    PROMOTION,
    flag_of,
    is_king_promotion,
    to_square,
)
from cython.cimports.engine.core.movegen import add_unpinned_moves, attacked_squares
from cython.cimports.engine.core.pieces import (
    BISHOP,
    BLACK,
    KINDS,
    KING,
    KNIGHT,
    NO_SQUARE,
    PAWN,
    QUEEN,
    WHITE,
)
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.variants.variant_position import UNDECIDED, VariantPosition


@cython.final
@cython.cclass
class AntichessPosition(VariantPosition):
    """A position of antichess."""

    def __init__(self) -> None:
        VariantPosition.__init__(self)
        self.allows_null_move = self.has_plain_exchanges = False

    def generate(self, moves: cython.p_int, start: cython.int, tactical_only: cython.bint) -> cython.int:
        """Write the captures to moves[start:], or all moves if there is no capture; return their end."""
        enemies: u64 = self.colours[self.side_to_move ^ 1]
        empty: u64 = ~self.occupied & ALL_SQUARES
        end: cython.int = add_unpinned_moves(self, moves, start, enemies, False)
        end = self.add_king_moves(moves, end, enemies)
        if end == start:
            end = add_unpinned_moves(self, moves, start, empty, tactical_only)
            if not tactical_only:
                end = self.add_king_moves(moves, end, empty)
        return self.add_king_promotions(moves, start, end)

    def add_king_promotions(self, moves: cython.p_int, start: cython.int, end: cython.int) -> cython.int:
        """Append a promotion to king for each promotion to queen; return the new end."""
        index: cython.int
        last: cython.int = end
        for index in range(start, last):
            if flag_of(moves[index]) & ~CAPTURE == PROMOTION + QUEEN - 1:
                moves[end] = (moves[index] & ~(PROMOTION << 12)) | KING_PROMOTION << 12
                end += 1
        return end

    def make(self, move: cython.int) -> cython.void:
        """Play a legal move."""
        us: cython.int = self.side_to_move
        Position.make(self, move)
        if is_king_promotion(move):
            self.promote(us * KINDS + PAWN, us * KINDS + KING, to_square(move))

    def unmake(self, move: cython.int) -> cython.void:
        """Unmake the last move."""
        us: cython.int = self.side_to_move ^ 1
        if is_king_promotion(move):
            self.remove(us * KINDS + KING, to_square(move))
            self.put(us * KINDS + PAWN, to_square(move))
        Position.unmake(self, move)

    def in_check(self) -> cython.bint:
        """Return False: there is no check."""
        return False

    def en_passant_is_legal(self, origin: cython.int, target: cython.int) -> cython.bint:
        """Return True: no king can be exposed."""
        return True

    def is_legal(self, move: cython.int) -> cython.bint:
        """Return whether this move, perhaps of another position, is legal here."""
        return self.is_generated(move)

    def is_forced(self) -> cython.bint:
        """Return whether the side to move must capture."""
        attacked: u64 = attacked_squares(self, self.side_to_move, self.occupied)
        return attacked & self.colours[self.side_to_move ^ 1] != 0 or self.en_passant != NO_SQUARE

    def is_forcing(self, move: cython.int) -> cython.bint:
        """Return whether the opponent must capture the piece that moves."""
        return self.is_attacked(to_square(move), self.side_to_move ^ 1)

    def is_zugzwang_unlikely(self) -> cython.bint:
        """Return whether the side to move has more than two pieces: with fewer, zugzwang decides."""
        return popcount(self.colours[self.side_to_move]) > 2

    def exchange_wins(self, move: cython.int, threshold: cython.int) -> cython.bint:
        """Return True: what an exchange wins or loses says nothing."""
        return True

    def variant_result(self) -> cython.int:
        """Return the side that has lost all its pieces."""
        if not self.colours[WHITE]:
            return WHITE
        return UNDECIDED if self.colours[BLACK] else BLACK

    def result_without_moves(self) -> cython.int:
        """Return the side to move: it wins."""
        return self.side_to_move

    def cannot_win(self, colour: int) -> bool:
        """Return whether each side has only a knight, and this side will have to let the other be captured.

        The side to move can win exactly if the knights stand on squares of the same colour.
        """
        white: u64 = self.colours[WHITE]
        black: u64 = self.colours[BLACK]
        knights: u64 = self.pieces[KNIGHT] | self.pieces[KINDS + KNIGHT]
        if knights != self.occupied or popcount(white) != 1 or popcount(black) != 1:
            return False
        same_colour: cython.bint = popcount(self.occupied & DARK_SQUARES) != 1
        return (colour == self.side_to_move) != same_colour

    def is_dead_draw(self) -> cython.bint:
        """Return whether only bishops of opposite colours can move, and no pawn can ever meet the enemy's."""
        pawns: u64 = self.pieces[PAWN] | self.pieces[KINDS + PAWN]
        white: u64 = self.pieces[BISHOP]
        black: u64 = self.pieces[KINDS + BISHOP]
        if white | black | pawns != self.occupied or not white or not black:
            return False
        whites: u64 = DARK_SQUARES if white & DARK_SQUARES else ~DARK_SQUARES & ALL_SQUARES
        return (
            not self.colours[WHITE] & ~whites
            and not self.colours[BLACK] & whites
            and self.pawns_are_stuck(WHITE)
            and self.pawns_are_stuck(BLACK)
        )
