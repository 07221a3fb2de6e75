# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What matters in one variant only: its class adds these terms to those that `variant_evaluation.py` has for all."""

from functools import cache

import cython
from cython.cimports.engine.core.bitboard import (
    ALL_SQUARES,
    CENTRAL_SQUARES,
    RANK_8,
    advance,
    beside,
    lsb,
    popcount,
    u64,
)
from cython.cimports.engine.core.pieces import BLACK, KINDS, KING, PAWN, QUEEN, WHITE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.evaluation.variant_evaluation import (
    ATTACKED,
    OWN,
    UNITS,
    ZONE,
    VariantEvaluation,
    VariantNetwork,
)

from engine.evaluation.network import Network
from engine.evaluation.variant_weights import VALUES

FARTHEST = cython.declare(cython.int, 8)            # steps of a king that are counted
UNREACHABLE = cython.declare(cython.int, 9)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def steps_to(position: Position, attacked_by: cython.p_ulonglong, us: cython.int, goal: u64) -> cython.int:
    """Return how many steps our king needs to the goal over squares that the enemy does not attack now."""
    free: u64 = ~(attacked_by[ATTACKED + (us ^ 1)] | position.colours[us])
    reached: u64 = position.pieces[us * KINDS + KING]
    steps: cython.int = 0
    while not reached & goal:
        spread: u64 = reached | beside(reached)
        spread = (spread | advance(spread, WHITE) | advance(spread, BLACK)) & ALL_SQUARES
        if steps == FARTHEST or not spread & free & ~reached:
            return UNREACHABLE
        reached |= spread & free
        steps += 1
    return steps


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def at_most(number: cython.int, most: cython.int) -> cython.int:
    return number if number < most else most


@cython.final
@cython.cclass
class KingOfTheHillEvaluation(VariantEvaluation):
    """Own weights: [steps of the king to the centre], 10: the next step wins."""

    def own_terms(
        self, position: Position, extra: u64, attacked_by: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        steps: cython.int = steps_to(position, attacked_by, us, CENTRAL_SQUARES)
        score: cython.int = self.weights[OWN + steps]
        return score + self.weights[OWN + 10] if steps == 1 and position.side_to_move == us else score


@cython.final
@cython.cclass
class ThreeCheckEvaluation(VariantEvaluation):
    """Own weights: [checks given], 8 + [checks given, half the units of the attack on the king].

    For the network, each check given is a pawn off the board.
    """

    def count_off_board(self, extra: u64, counts: cython.p_int) -> cython.void:
        """Count a pawn for each check given."""
        VariantEvaluation.count_off_board(self, extra, counts)
        us: cython.int
        for us in range(2):
            counts[us * KINDS + PAWN] = cython.cast(cython.int, extra >> 4 * us & 3)

    def own_terms(
        self, position: Position, extra: u64, attacked_by: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        given: cython.int = cython.cast(cython.int, extra >> 4 * us & 3)
        units: cython.int = cython.cast(cython.int, attacked_by[UNITS + us])
        return self.weights[OWN + given] + self.weights[OWN + 8 + given * 8 + at_most(units // 2, 7)]


@cython.final
@cython.cclass
class CrazyhouseEvaluation(VariantEvaluation):
    """Own weights: [kind] for each piece in the pocket, 8 + [kind] for the first of them, and 16 + [pieces in the
    pocket, squares around the enemy king where they can be dropped or may go].
    """

    def count_off_board(self, extra: u64, counts: cython.p_int) -> cython.void:
        """Count the pieces in the pockets."""
        VariantEvaluation.count_off_board(self, extra, counts)
        us: cython.int
        kind: cython.int
        for us in range(2):
            for kind in range(PAWN, QUEEN + 1):
                counts[us * KINDS + kind] = cython.cast(cython.int, extra >> 5 * (5 * us + kind) & 31)

    def own_terms(
        self, position: Position, extra: u64, attacked_by: cython.p_ulonglong, us: cython.int
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
        holes: cython.int = popcount(attacked_by[ZONE + them] & ~position.colours[them] & ~attacked_by[ATTACKED + them])
        holes += popcount(attacked_by[ZONE + them] & attacked_by[ATTACKED + us])
        return score + self.weights[OWN + 16 + at_most(pocketed, 5) * 8 + at_most(holes, 7)]


@cython.final
@cython.cclass
class AtomicEvaluation(VariantEvaluation):
    """Own weights: [pieces beside our king], 8 + [pieces beside the enemy king that we attack], 12 + the same if it is
    our move.
    """

    def own_terms(
        self, position: Position, extra: u64, attacked_by: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        them: cython.int = us ^ 1
        ours: u64 = attacked_by[ZONE + us] & position.colours[us]
        zone: u64 = attacked_by[ZONE + them] & ~attacked_by[ZONE + us]
        bombs: u64 = zone & position.colours[them] & attacked_by[ATTACKED + us]
        number: cython.int = at_most(popcount(bombs), 3)
        score: cython.int = self.weights[OWN + at_most(popcount(ours), 7)] + self.weights[OWN + 8 + number]
        return score + self.weights[OWN + 12 + number] if position.side_to_move == us else score


@cython.final
@cython.cclass
class AntichessEvaluation(VariantEvaluation):
    """Own weights: [pieces left]."""

    def own_terms(
        self, position: Position, extra: u64, attacked_by: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        return self.weights[OWN + at_most(popcount(position.colours[us]), 16)]


@cython.final
@cython.cclass
class HordeEvaluation(VariantEvaluation):
    """Own weights: [rank] for each pawn of White, 8 + [a quarter of their number], 24 + [pieces of Black]."""

    def own_terms(
        self, position: Position, extra: u64, attacked_by: cython.p_ulonglong, us: cython.int
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
    """Own weights: [steps of the king to the goal], 10: the next step wins, as Black cannot draw."""

    def own_terms(
        self, position: Position, extra: u64, attacked_by: cython.p_ulonglong, us: cython.int
    ) -> cython.int:
        steps: cython.int = steps_to(position, attacked_by, us, RANK_8)
        score: cython.int = self.weights[OWN + steps]
        wins_at_once: cython.bint = steps == 1 and position.side_to_move == us
        if wins_at_once and (us == BLACK or steps_to(position, attacked_by, BLACK, RANK_8) > 1):
            score += self.weights[OWN + 10]
        return score


CLASSES = {
    "kingOfTheHill": KingOfTheHillEvaluation,
    "threeCheck": ThreeCheckEvaluation,
    "crazyhouse": CrazyhouseEvaluation,
    "antichess": AntichessEvaluation,
    "atomic": AtomicEvaluation,
    "horde": HordeEvaluation,
    "racingKings": RacingKingsEvaluation,
}


def evaluation_of(variant: str, network: Network | None = None) -> VariantEvaluation:
    """Return the evaluation of this variant of Lichess's: by its terms, or for one thread by a network."""
    return _terms_of(variant) if network is None else VariantNetwork(_terms_of(variant), network)


@cache
def _terms_of(variant: str) -> VariantEvaluation:
    return CLASSES[variant](VALUES[variant], goes_up=variant == "racingKings")
