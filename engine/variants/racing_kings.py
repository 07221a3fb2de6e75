# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Racing kings: the side whose king is first on the eighth rank has won. No move may give check; there are no pawns.

White moves first, so Black has one more move when White has arrived: if Black arrives too, the game is drawn.
"""

from __future__ import annotations

import cython
from cython.cimports.engine.core.bitboard import RANK_8
from cython.cimports.engine.core.checks import gives_check
from cython.cimports.engine.core.move import from_square, to_square
from cython.cimports.engine.core.movegen import generate, is_legal
from cython.cimports.engine.core.pieces import BLACK, KINDS, KING, WHITE
from cython.cimports.engine.variants.variant_position import DRAWN, MAX_VARIANT_MOVES, UNDECIDED, VariantPosition


@cython.final
@cython.cclass
class RacingKingsPosition(VariantPosition):
    """A position of racing kings."""

    def generate(self, moves: cython.p_int, start: cython.int, tactical_only: cython.bint) -> cython.int:
        """Write the legal moves to moves[start:] and return their end."""
        end: cython.int = generate(self, moves, start, tactical_only)
        kept: cython.int = start
        index: cython.int
        for index in range(start, end):
            if not gives_check(self, moves[index]):
                moves[kept] = moves[index]
                kept += 1
        return kept

    def is_legal(self, move: cython.int) -> cython.bint:
        """Return whether this move, perhaps of another position, is legal here."""
        return is_legal(self, move) and not gives_check(self, move)

    def is_forced(self) -> cython.bint:
        """Return whether White has arrived and Black has one move left."""
        return self.pieces[KING] & RANK_8 != 0

    def is_forcing(self, move: cython.int) -> cython.bint:
        """Return whether the king comes nearer to the goal."""
        if from_square(move) != self.king_square(self.side_to_move):
            return False
        return to_square(move) >> 3 > from_square(move) >> 3

    def variant_result(self) -> cython.int:
        """Return who has won the race: White only once Black cannot arrive too."""
        if self.pieces[KING] & RANK_8:
            if self.pieces[KINDS + KING] & RANK_8:
                return DRAWN
            return UNDECIDED if self.side_to_move == BLACK and self.can_reach_goal() else WHITE
        return BLACK if self.pieces[KINDS + KING] & RANK_8 else UNDECIDED

    def can_reach_goal(self) -> cython.bint:
        """Return whether the king of the side to move can step to the goal."""
        moves = cython.declare(cython.int[MAX_VARIANT_MOVES])
        end: cython.int = self.generate(moves, 0, False)
        king: cython.int = self.king_square(self.side_to_move)
        index: cython.int
        for index in range(end):
            if from_square(moves[index]) == king and to_square(moves[index]) >= 56:
                return True
        return False
