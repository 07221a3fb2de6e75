# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Three-check: the side that gives three checks wins. Otherwise it is standard chess.

`extra` counts the checks given: White's in the lowest four bits, Black's in the next four.
"""

from __future__ import annotations

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.checks import gives_check
from cython.cimports.engine.core.pieces import BLACK, WHITE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.see import exchange_wins
from cython.cimports.engine.variants.variant_position import MOST_GAIN, UNDECIDED, VariantPosition

if not cython.compiled:
    CHECKS_TO_WIN = 3
FIRST_CHECK = cython.declare(cython.int, 200)        # centipawns that a check is worth in an exchange, the second twice


@cython.final
@cython.cclass
class ThreeCheckPosition(VariantPosition):
    """A position of three-check."""

    def __init__(self) -> None:
        VariantPosition.__init__(self)
        self.can_move_back = False     # there may be a check more

    def make(self, move: cython.int) -> cython.void:
        """Play a legal move, and count its check."""
        self.remember()
        Position.make(self, move)
        if self.in_check():
            one: u64 = 1
            self.key ^= self.extra_key()
            self.extra += one << 4 * (self.side_to_move ^ 1)
            self.key ^= self.extra_key()

    def unmake(self, move: cython.int) -> cython.void:
        """Unmake the last move."""
        Position.unmake(self, move)
        self.recall()

    def check_value(self, move: cython.int) -> cython.int:
        """Return the centipawns that the move's check is worth, 0 if it gives none."""
        given: cython.int = self.extra >> 4 * self.side_to_move & 15
        if not gives_check(self, move):
            return 0
        return MOST_GAIN if given == CHECKS_TO_WIN - 1 else FIRST_CHECK * (given + 1)

    def gain(self, move: cython.int) -> cython.int:
        """Return what a capture and its check win at once."""
        return min(VariantPosition.gain(self, move) + self.check_value(move), MOST_GAIN)

    def exchange_wins(self, move: cython.int, threshold: cython.int) -> cython.bint:
        """Return whether the move, with its check, wins at least `threshold` centipawns after the exchange."""
        return exchange_wins(self, move, threshold - self.check_value(move))

    def variant_result(self) -> cython.int:
        """Return the side that has given three checks."""
        white: cython.int = self.extra & 15
        black: cython.int = self.extra >> 4
        if white >= CHECKS_TO_WIN:
            return WHITE
        return BLACK if black >= CHECKS_TO_WIN else UNDECIDED

    def cannot_win(self, colour: int) -> bool:
        """Return whether the side has only its king: every other piece can give check."""
        return self.has_only_king(colour)

    def is_dead_draw(self) -> cython.bint:
        """Return whether there are only kings."""
        return self.has_only_king(WHITE) and self.has_only_king(BLACK)
