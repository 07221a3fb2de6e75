# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""King of the hill: the side that brings its king to the centre wins. Otherwise it is standard chess."""

from __future__ import annotations

import cython
from cython.cimports.engine.core.bitboard import CENTRAL_SQUARES, bit
from cython.cimports.engine.core.checks import gives_check
from cython.cimports.engine.core.move import from_square, to_square
from cython.cimports.engine.core.pieces import BLACK, KINDS, KING, WHITE
from cython.cimports.engine.variants.variant_position import UNDECIDED, VariantPosition


@cython.final
@cython.cclass
class KingOfTheHillPosition(VariantPosition):
    """A position of king of the hill."""

    def is_forcing(self, move: cython.int) -> cython.bint:
        """Return whether a legal move gives check, or wins by bringing the king to the centre."""
        if self.pieces[self.side_to_move * KINDS + KING] >> from_square(move) & 1:
            return CENTRAL_SQUARES & bit(to_square(move)) != 0
        return gives_check(self, move)

    def variant_result(self) -> cython.int:
        """Return the side whose king stands on d4, e4, d5 or e5."""
        if self.pieces[KING] & CENTRAL_SQUARES:
            return WHITE
        return BLACK if self.pieces[KINDS + KING] & CENTRAL_SQUARES else UNDECIDED
