# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""King of the hill: the side that brings its king to the centre wins. Otherwise it is standard chess."""

from __future__ import annotations

import cython
from cython.cimports.engine.core.bitboard import u64
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
        centre: u64 = 0x0000001818000000
        if self.pieces[self.side_to_move * KINDS + KING] >> from_square(move) & 1:
            return centre >> to_square(move) & 1
        return gives_check(self, move)

    def variant_result(self) -> cython.int:
        """Return the side whose king stands on d4, e4, d5 or e5."""
        centre: u64 = 0x0000001818000000
        if self.pieces[KING] & centre:
            return WHITE
        return BLACK if self.pieces[KINDS + KING] & centre else UNDECIDED
