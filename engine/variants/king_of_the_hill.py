# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""King of the hill: the side that brings its king to the centre wins. Otherwise it is standard chess."""

from __future__ import annotations

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.pieces import BLACK, KINDS, KING, WHITE
from cython.cimports.engine.variants.variant_position import UNDECIDED, VariantPosition


@cython.final
@cython.cclass
class KingOfTheHillPosition(VariantPosition):
    """A position of king of the hill."""

    def variant_result(self) -> cython.int:
        """Return the side whose king stands on d4, e4, d5 or e5."""
        centre: u64 = 0x0000001818000000
        if self.pieces[KING] & centre:
            return WHITE
        return BLACK if self.pieces[KINDS + KING] & centre else UNDECIDED
