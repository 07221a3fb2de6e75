# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Horde: White has pawns instead of pieces and king, and has lost when nothing is left. Black plays standard chess.

White's pawns may move two squares from the first rank too; this is no double step that Black could take en passant.
"""

from __future__ import annotations

import cython
from cython.cimports.engine.core.bitboard import ALL_SQUARES, lsb, popcount, u64
from cython.cimports.engine.core.checks import gives_check
from cython.cimports.engine.core.movegen import add_unpinned_moves, generate, is_legal
from cython.cimports.engine.core.pieces import BLACK, PAWN, WHITE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.variants.variant_position import MAX_VARIANT_MOVES, UNDECIDED, VariantPosition

from engine.variants.insufficient_material import horde_cannot_win


@cython.final
@cython.cclass
class HordePosition(VariantPosition):
    """A position of horde."""

    def generate(self, moves: cython.p_int, start: cython.int, tactical_only: cython.bint) -> cython.int:
        """Write the legal moves to moves[start:] and return their end."""
        if self.side_to_move == BLACK:
            return generate(self, moves, start, tactical_only)
        end: cython.int = add_unpinned_moves(self, moves, start, ~self.colours[WHITE] & ALL_SQUARES, tactical_only)
        if tactical_only:
            return end
        empty: u64 = ~self.occupied
        steps: u64 = ((self.pieces[PAWN] & 0xFF) << 8 & empty) << 8 & empty
        while steps:
            moves[end] = (lsb(steps) - 16) | lsb(steps) << 6
            end += 1
            steps &= steps - 1
        return end

    def in_check(self) -> cython.bint:
        """Return whether Black is to move and in check."""
        return self.side_to_move == BLACK and Position.in_check(self)

    def en_passant_is_legal(self, origin: cython.int, target: cython.int) -> cython.bint:
        """Return whether the pawn on `origin` may legally capture en passant on `target`."""
        return self.side_to_move == WHITE or Position.en_passant_is_legal(self, origin, target)

    def is_legal(self, move: cython.int) -> cython.bint:
        """Return whether this move, perhaps of another position, is legal here."""
        return is_legal(self, move) if self.side_to_move == BLACK else self.is_generated(move)

    def is_forcing(self, move: cython.int) -> cython.bint:
        """Return whether a legal move of White gives check."""
        return self.side_to_move == WHITE and gives_check(self, move)

    def is_zugzwang_unlikely(self) -> cython.bint:
        """Return whether the side to move has a piece, or White some pawns that can advance."""
        return self.has_pieces(self.side_to_move) or (self.side_to_move == WHITE and popcount(self.free_pawns()) > 2)

    def free_pawns(self) -> u64:
        """Return the squares onto which White's pawns can step."""
        return self.pieces[PAWN] << 8 & ~self.occupied & ALL_SQUARES

    def variant_result(self) -> cython.int:
        """Return BLACK if White has nothing left."""
        return UNDECIDED if self.colours[WHITE] else BLACK

    def cannot_win(self, colour: int) -> bool:
        """Return whether White cannot mate, or the position is closed."""
        return self.is_dead_draw() or (colour == WHITE and horde_cannot_win(self.state()["pieces"]))

    def is_dead_draw(self) -> cython.bint:
        """Return whether White cannot move, and no move of Black changes that.

        Black's capture of the last piece is no such move. One move stops two pawns at most: it takes the first en
        passant in front of the second.
        """
        if not self.colours[WHITE] or popcount(self.free_pawns()) > 2:
            return False
        if self.side_to_move == WHITE:
            return not self.can_move()
        moves = cython.declare(cython.int[MAX_VARIANT_MOVES])
        index: cython.int
        for index in range(self.generate(moves, 0, False)):
            self.make(moves[index])
            closed: cython.bint = self.colours[WHITE] != 0 and not self.can_move()
            self.unmake(moves[index])
            if not closed:
                return False
        return True
