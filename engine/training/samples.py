# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The tuner's samples of the hand-written evaluation.

The evaluation itself gives the coefficients. Its balance is linear in the weights: if one weight is 1 and all others
are 0, the balance is that weight's coefficient. No coefficient is beyond +-15, so six weights at a time are set to 1,
32 and 1024 in the midgame and the endgame half, and their coefficients are read as digits of the balance.
"""

from __future__ import annotations

from array import array

import cython
from cython.cimports.engine.core.bitboard import lsb, u64
from cython.cimports.engine.core.params import PHASE_SHIFT, SCALE_NORMAL
from cython.cimports.engine.core.pieces import BLACK, KINDS, KING, WHITE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import NO_SCORE, endgame_of, midgame_of
from cython.cimports.engine.evaluation.endings import endgame_scale, known_result
from cython.cimports.engine.evaluation.evaluate import balance
from cython.cimports.engine.evaluation.weights import MATERIAL, WEIGHTS, weight_of_square
from cython.cimports.engine.training.features import WORDS, position_of, result_of, white_score
from cython.cimports.engine.training.linear_samples import LinearSamples

from engine.evaluation import weights
from engine.evaluation.evaluate import use_values

# Material and squares, the first weights, are counted on the board; the others are probed.
FIRST_PROBED = cython.declare(cython.int, weights.first_weight("knight_mobility"))
DIGIT = cython.declare(cython.int, 5)               # bits
DIGITS = cython.declare(cython.int, 3)
HALF_DIGIT = cython.declare(cython.int, 16)


@cython.final
@cython.cclass
class Samples(LinearSamples):
    """Up to `capacity` positions. From its creation until `restore` all weights of this process are zero."""

    def __init__(self, capacity: int) -> None:
        LinearSamples.__init__(self, capacity)
        self.initial = array("d", (float(pair[1]) for pairs in weights.default_values().values() for pair in pairs))
        self.position = Position()
        self.serial = 0
        self.weight_count = weights.COUNT
        use_values({name: [(0, 0)] * term.size for name, term in weights.TERMS.items()})

    def restore(self) -> None:
        """Restore the weights."""
        use_values(weights.default_values())

    # --- Filling -------------------------------------------------------------------------------------------------

    def add(self, words: u64[::1], record: cython.int) -> bool:
        """Add a record of `words`; return False if there is no room, or if its evaluation uses no weights."""
        if not self.has_room():
            return False
        self.position = position_of(words, record)
        if known_result(self.position) != NO_SCORE:
            return False
        last: u64 = words[WORDS * record + 3]
        self.scores[self.count] = white_score(last)
        self.results[self.count] = result_of(last)
        self.count_squares()
        self.probe()
        self.keep()
        return True

    def count_squares(self) -> cython.void:
        """Count the coefficients of material and squares."""
        index: cython.int
        for index in range(512):
            self.totals[index] = 0
        pieces: u64 = self.position.occupied
        while pieces:
            square: cython.int = lsb(pieces)
            piece: cython.int = self.position.board[square]
            white: cython.bint = piece < KINDS
            kind: cython.int = piece if white else piece - KINDS
            sign: cython.int = 1 if white else -1
            self.totals[weight_of_square(kind, square if white else square ^ 56)] += sign
            if kind < KING:
                self.totals[MATERIAL + kind] += sign
            pieces &= pieces - 1

    def probe(self) -> cython.void:
        """Find the other coefficients, six at a time."""
        first: cython.int = FIRST_PROBED
        digit: cython.int
        while first < self.weight_count:
            for digit in range(DIGITS):
                WEIGHTS[first + digit] = 1 << (DIGIT * digit)
                WEIGHTS[first + DIGITS + digit] = 1 << (DIGIT * digit + 16)
            self.serial += 1       # the pawn table holds values of other weights
            self.position.pawn_key = self.serial
            found: cython.int = balance(self.position)
            self.read_digits(midgame_of(found), first)
            self.read_digits(endgame_of(found), first + DIGITS)
            for digit in range(2 * DIGITS):
                WEIGHTS[first + digit] = 0
            first += 2 * DIGITS

    def read_digits(self, value: cython.int, first: cython.int) -> cython.void:
        """Read three coefficients from the digits of a balance."""
        digit: cython.int
        for digit in range(DIGITS):
            times: cython.int = ((value + HALF_DIGIT) & (2 * HALF_DIGIT - 1)) - HALF_DIGIT
            self.totals[first + digit] = times
            value = (value - times) >> DIGIT

    def keep(self) -> cython.void:
        """Store the coefficients other than zero and the shares of midgame and endgame."""
        index: cython.int
        end: cython.uint = self.begins[self.count]
        endgame: cython.double = 0
        for index in range(self.weight_count):
            if self.totals[index]:
                self.weight[end] = index
                self.times[end] = self.totals[index]
                endgame += self.totals[index] * self.initial[index]
                end += 1
        full: cython.int = 1 << PHASE_SHIFT
        phase: cython.int = self.position.phase if self.position.phase < full else full
        part: cython.int = endgame_scale(self.position, WHITE if endgame > 0 else BLACK)
        self.midgame_part[self.count] = cython.cast(cython.float, phase) / full
        self.endgame_part[self.count] = cython.cast(cython.float, full - phase) / full * part / SCALE_NORMAL
        self.count += 1
        self.begins[self.count] = end
