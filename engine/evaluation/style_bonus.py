# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What a named style adds to the evaluation: centipawns for what it likes to see on the board, for its own side only.

The bonus is a sum of a few cheap features, each with a weight in centipawns. It is added to the score of the network or
of the hand-written terms, so the search finds the moves that serve the style. The opponent is not expected to share the
taste. `style.py` has the styles by name. Must not know the search.
"""

from collections.abc import Mapping

import cython
from cython.cimports.engine.core.attacks import KING_ATTACKS, piece_attacks
from cython.cimports.engine.core.bitboard import CENTRAL_SQUARES, advance, beside, bit, files_of, lsb, popcount, u64
from cython.cimports.engine.core.params import NETWORK_LIMIT, STYLE_BEHIND, STYLE_FAR_BEHIND, STYLE_LIMIT
from cython.cimports.engine.core.pieces import BISHOP, KINDS, KING, KNIGHT, PAWN, QUEEN
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.evaluation.endings import piece_material

# The features of our side, by the names of their weights.
FEATURES = (
    "attackers",       # for each pair of our pieces that attack the squares around the enemy king
    "storm",           # for each rank that our pawns on the files around the enemy king have advanced
    "danger",          # as `attackers`, for the enemy's pieces and our king
    "sacrifice",       # for each pawn's worth of material that we are short of, up to four; less as we fall behind
    "pieces_off",      # for each piece, pawns left out, that has left the board, of either side
    "queens_off",      # if no queen is left
    "centre",          # for each pawn of ours on d4, e4, d5 or e5
    "development",     # for each knight and bishop of ours off its first square; three times that for a castled king
    "blocked",         # for each pawn of ours that an enemy pawn blocks
)
if not cython.compiled:
    FEATURE_COUNT = len(FEATURES)
if len(FEATURES) != FEATURE_COUNT:
    raise ImportError(f"style_bonus.pxd: FEATURE_COUNT is {FEATURE_COUNT}, expected {len(FEATURES)}")
ATTACKERS = cython.declare(cython.int, FEATURES.index("attackers"))
STORM = cython.declare(cython.int, FEATURES.index("storm"))
DANGER = cython.declare(cython.int, FEATURES.index("danger"))
SACRIFICE = cython.declare(cython.int, FEATURES.index("sacrifice"))
PIECES_OFF = cython.declare(cython.int, FEATURES.index("pieces_off"))
QUEENS_OFF = cython.declare(cython.int, FEATURES.index("queens_off"))
CENTRE = cython.declare(cython.int, FEATURES.index("centre"))
DEVELOPMENT = cython.declare(cython.int, FEATURES.index("development"))
BLOCKED = cython.declare(cython.int, FEATURES.index("blocked"))

KNIGHTS_AT_HOME = cython.declare(u64, 0x42)                    # b1, g1
BISHOPS_AT_HOME = cython.declare(u64, 0x24)                    # c1, f1
CASTLED = cython.declare(u64, 0x47)                            # a1, b1, c1, g1
ALL_PIECES = cython.declare(cython.int, 16)                    # without pawns
FULLY_BEHIND = cython.declare(cython.int, 64)                  # how far a side is behind: 0 to this
MOST_SACRIFICED = cython.declare(cython.int, 4)                # pawns


def king_attackers(position: Position, us: cython.int) -> cython.int:
    """Return how many of our pieces, pawns and king left out, attack the enemy king or a square beside it."""
    king: cython.int = position.king_square(us ^ 1)
    zone: u64 = KING_ATTACKS[king] | bit(king)
    count: cython.int = 0
    kind: cython.int
    for kind in range(KNIGHT, KING):
        pieces: u64 = position.pieces[us * KINDS + kind]
        while pieces:
            count += (piece_attacks(kind, lsb(pieces), position.occupied) & zone) != 0
            pieces &= pieces - 1
    return count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pawn_storm(position: Position, us: cython.int) -> cython.int:
    """Return the ranks that our pawns on the files around the enemy king have advanced."""
    king: u64 = bit(position.king_square(us ^ 1))
    pawns: u64 = position.pieces[us * KINDS + PAWN] & files_of(king | beside(king))
    ranks: cython.int = 0
    while pawns:
        rank: cython.int = lsb(pawns) >> 3
        ranks += (6 - rank) if us else (rank - 1)
        pawns &= pawns - 1
    return ranks


def material(position: Position, us: cython.int) -> cython.int:
    """Return our material in pawns: 1 for a pawn, 3 for a knight or bishop, 5 for a rook, 9 for a queen."""
    return popcount(position.pieces[us * KINDS + PAWN]) + piece_material(position, us)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sacrificed(position: Position, us: cython.int) -> cython.int:
    """Return how many pawns' worth of material we are short of, at most MOST_SACRIFICED."""
    short: cython.int = material(position, us ^ 1) - material(position, us)
    return 0 if short < 0 else short if short < MOST_SACRIFICED else MOST_SACRIFICED


def development(position: Position, us: cython.int) -> cython.int:
    """Return how many of our knights and bishops have left their squares, plus 3 if our king stands castled."""
    first: cython.int = us * KINDS
    shift: cython.int = 56 if us else 0
    knights: u64 = position.pieces[first + KNIGHT] & ~(KNIGHTS_AT_HOME << shift)
    bishops: u64 = position.pieces[first + BISHOP] & ~(BISHOPS_AT_HOME << shift)
    castled: cython.bint = (position.pieces[first + KING] & (CASTLED << shift)) != 0
    return popcount(knights | bishops) + (3 if castled else 0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pairs(count: cython.int) -> cython.int:
    return count * (count - 1) // 2


@cython.final
@cython.cclass
class StyleBonus:
    """The weights of one style. `only_behind`: they count only as far as our side is worse."""

    def __init__(self, weights: Mapping[str, int], only_behind: bool = False) -> None:
        """Weights not named are 0. Raises KeyError for the name of no feature."""
        unknown = weights.keys() - set(FEATURES)
        if unknown:
            raise KeyError(*unknown)
        index: cython.int
        for index in range(FEATURE_COUNT):
            self.weights[index] = weights.get(FEATURES[index], 0)
        self.only_behind = only_behind

    def bonus(self, position: Position, us: cython.int, behind: cython.int) -> cython.int:
        """Return what our side likes about the position, in centipawns, within +-STYLE_LIMIT.

        `behind`, 0 to FULLY_BEHIND, says how far our side is worse: a sacrifice must not lose the game.
        """
        them: cython.int = us ^ 1
        ours: u64 = position.pieces[us * KINDS + PAWN]
        sum: cython.int = 0
        if self.weights[ATTACKERS]:
            sum += self.weights[ATTACKERS] * pairs(king_attackers(position, us))
        if self.weights[DANGER]:
            sum += self.weights[DANGER] * pairs(king_attackers(position, them))
        if self.weights[STORM]:
            sum += self.weights[STORM] * pawn_storm(position, us)
        if self.weights[SACRIFICE]:
            sum += self.weights[SACRIFICE] * sacrificed(position, us) * (FULLY_BEHIND - behind) // FULLY_BEHIND
        pawns: u64 = ours | position.pieces[them * KINDS + PAWN]
        sum += self.weights[PIECES_OFF] * (ALL_PIECES - popcount(position.occupied & ~pawns))
        if not position.pieces[QUEEN] | position.pieces[KINDS + QUEEN]:
            sum += self.weights[QUEENS_OFF]
        sum += self.weights[CENTRE] * popcount(ours & CENTRAL_SQUARES)
        sum += self.weights[BLOCKED] * popcount(advance(ours, us) & position.pieces[them * KINDS + PAWN])
        if self.weights[DEVELOPMENT]:
            sum += self.weights[DEVELOPMENT] * development(position, us)
        if self.only_behind:
            sum = sum * behind // FULLY_BEHIND
        if sum > STYLE_LIMIT:
            return STYLE_LIMIT
        return -STYLE_LIMIT if sum < -STYLE_LIMIT else sum

    def added_to(self, score: cython.int, position: Position, us: cython.int) -> cython.int:
        """Return the score for the side to move with our bonus, within +-NETWORK_LIMIT."""
        ours: cython.int = score if position.side_to_move == us else -score
        behind: cython.int = 0
        if ours <= -STYLE_FAR_BEHIND:
            behind = FULLY_BEHIND
        elif ours < -STYLE_BEHIND:
            behind = FULLY_BEHIND * (-STYLE_BEHIND - ours) // (STYLE_FAR_BEHIND - STYLE_BEHIND)
        if self.only_behind and behind == 0:
            return score
        ours += self.bonus(position, us, behind)
        if ours > NETWORK_LIMIT:
            ours = NETWORK_LIMIT
        elif ours < -NETWORK_LIMIT:
            ours = -NETWORK_LIMIT
        return ours if position.side_to_move == us else -ours

    # --- For Python callers ------------------------------------------------------------------------------------------

    def add(self, score: int, position: Position, us: int) -> int:
        """Return `added_to` to Python callers."""
        return self.added_to(score, position, us)


def seen(position: Position, us: int) -> dict[str, int]:
    """Return what a side has on the board: the features in their own units, before weights and pairs."""
    return {
        "attackers": king_attackers(position, us),
        "storm": pawn_storm(position, us),
        "material": material(position, us),
        "queens": popcount(position.pieces[QUEEN] | position.pieces[KINDS + QUEEN]),
        "centre": popcount(position.pieces[us * KINDS + PAWN] & CENTRAL_SQUARES),
        "development": development(position, us),
    }
