# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What matters in one variant only: its class adds these terms to those that `variant_evaluation.py` has for all."""

from functools import cache

import cython
from cython.cimports.engine.core.attacks import KING_ATTACKS
from cython.cimports.engine.core.bitboard import bit, lsb, popcount, u64
from cython.cimports.engine.core.pieces import KINDS, PAWN, QUEEN, WHITE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.evaluation.variant_evaluation import (
    ATTACKED,
    OWN,
    UNITS,
    ZONE,
    VariantEvaluation,
)

from engine.evaluation.variant_weights import VALUES

NEARER = cython.declare(cython.ulonglong[64])       # [square]: its neighbours that are nearer to the centre
if not cython.compiled:
    NEARER = [0] * 64


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def ring(square: cython.int) -> cython.int:
    """Return how many steps a king is from the centre, 0 to 3."""
    file: cython.int = square & 7
    rank: cython.int = square >> 3
    file = file if file < 4 else 7 - file
    rank = rank if rank < 4 else 7 - rank
    return 3 - (file if file < rank else rank)


def _fill() -> None:
    square: cython.int
    other: cython.int
    for square in range(64):
        for other in range(64):
            if KING_ATTACKS[square] & bit(other) and ring(other) < ring(square):
                NEARER[square] |= bit(other)


_fill()


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def at_most(number: cython.int, most: cython.int) -> cython.int:
    return number if number < most else most


@cython.final
@cython.cclass
class KingOfTheHillEvaluation(VariantEvaluation):
    """Own weights: [safe steps of the king towards the centre], 8: a step that wins."""

    def own_terms(
        self, position: Position, extra: u64, survey: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        king: cython.int = position.king_square(us)
        steps: u64 = NEARER[king] & ~survey[ATTACKED + (us ^ 1)] & ~position.colours[us]
        score: cython.int = self.weights[OWN + at_most(popcount(steps), 7)]
        if steps and ring(king) == 1 and position.side_to_move == us:
            score += self.weights[OWN + 8]
        return score


@cython.final
@cython.cclass
class ThreeCheckEvaluation(VariantEvaluation):
    """Own weights: [checks given], 8 + [checks given, half the units of the attack on the king]."""

    def own_terms(
        self, position: Position, extra: u64, survey: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        given: cython.int = cython.cast(cython.int, extra >> 4 * us & 3)
        units: cython.int = cython.cast(cython.int, survey[UNITS + us])
        return self.weights[OWN + given] + self.weights[OWN + 8 + given * 8 + at_most(units // 2, 7)]


@cython.final
@cython.cclass
class CrazyhouseEvaluation(VariantEvaluation):
    """Own weights: [kind] for each piece in the pocket, 8 + [kind] for the first of them, and 16 + [pieces in the
    pocket, squares around the enemy king where they can be dropped or may go].
    """

    def own_terms(
        self, position: Position, extra: u64, survey: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        them: cython.int = us ^ 1
        score: cython.int = 0
        pocketed: cython.int = 0
        kind: cython.int
        for kind in range(PAWN, QUEEN + 1):
            number: cython.int = cython.cast(cython.int, extra >> 5 * (5 * us + kind) & 31)
            if number:
                score += number * self.weights[OWN + kind] + self.weights[OWN + 8 + kind]
                pocketed += number
        holes: cython.int = popcount(survey[ZONE + them] & ~position.colours[them] & ~survey[ATTACKED + them])
        holes += popcount(survey[ZONE + them] & survey[ATTACKED + us])
        return score + self.weights[OWN + 16 + at_most(pocketed, 5) * 8 + at_most(holes, 7)]


@cython.final
@cython.cclass
class AtomicEvaluation(VariantEvaluation):
    """Own weights: [pieces beside our king], 8 + [pieces beside the enemy king that we attack], 12 + the same if it is
    our move.
    """

    def own_terms(
        self, position: Position, extra: u64, survey: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        them: cython.int = us ^ 1
        ours: u64 = survey[ZONE + us] & position.colours[us]
        bombs: u64 = survey[ZONE + them] & ~survey[ZONE + us] & position.colours[them] & survey[ATTACKED + us]
        number: cython.int = at_most(popcount(bombs), 3)
        score: cython.int = self.weights[OWN + at_most(popcount(ours), 7)] + self.weights[OWN + 8 + number]
        return score + self.weights[OWN + 12 + number] if position.side_to_move == us else score


@cython.final
@cython.cclass
class AntichessEvaluation(VariantEvaluation):
    """Own weights: [pieces left]."""

    def own_terms(
        self, position: Position, extra: u64, survey: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        return self.weights[OWN + at_most(popcount(position.colours[us]), 16)]


@cython.final
@cython.cclass
class HordeEvaluation(VariantEvaluation):
    """Own weights: [rank] for each pawn of White, 8 + [a quarter of their number], 24 + [pieces of Black]."""

    def own_terms(
        self, position: Position, extra: u64, survey: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        pawns: u64 = position.pieces[PAWN]
        if us != WHITE:
            return self.weights[OWN + 24 + at_most(popcount(position.colours[us] ^ position.pieces[KINDS + PAWN]), 15)]
        score: cython.int = self.weights[OWN + 8 + at_most(popcount(pawns) // 4, 15)]
        while pawns:
            score += self.weights[OWN + (lsb(pawns) >> 3)]
            pawns &= pawns - 1
        return score


@cython.final
@cython.cclass
class RacingKingsEvaluation(VariantEvaluation):
    """Own weights: [safe steps of the king up the board], 4 + [rank of the king] if it is our move."""

    def own_terms(
        self, position: Position, extra: u64, survey: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        king: cython.int = position.king_square(us)
        ranks_above: u64 = ~cython.cast(u64, 0) << 8 * ((king >> 3) + 1) if king < 56 else 0
        steps: u64 = KING_ATTACKS[king] & ranks_above & ~survey[ATTACKED + (us ^ 1)] & ~position.colours[us]
        score: cython.int = self.weights[OWN + at_most(popcount(steps), 3)]
        return score + self.weights[OWN + 4 + (king >> 3)] if position.side_to_move == us else score


CLASSES = {
    "kingOfTheHill": KingOfTheHillEvaluation,
    "threeCheck": ThreeCheckEvaluation,
    "crazyhouse": CrazyhouseEvaluation,
    "antichess": AntichessEvaluation,
    "atomic": AtomicEvaluation,
    "horde": HordeEvaluation,
    "racingKings": RacingKingsEvaluation,
}


@cache
def evaluation_of(variant: str) -> VariantEvaluation:
    """Return the evaluation of the variant with this name of Lichess's."""
    return CLASSES[variant](VALUES[variant], goes_up=variant == "racingKings")
