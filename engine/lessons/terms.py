# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The evaluation the articles describe: eight terms, each with a coefficient, so that a style of play can be dialled.

Each term is a function written for "us" in centipawns; the score is the sum of ours less theirs, times the
coefficients. All sizes are guesses, chosen so that a coefficient of 1 makes sensible play. (cce: evaluation in pawns;
stratzilla's chess-engine: behaviours from coefficients)
"""

import cython
from cython.cimports.engine.core.attacks import PAWN_ATTACKS, piece_attacks
from cython.cimports.engine.core.bitboard import CENTRAL_SQUARES, bit, lsb, popcount, u64
from cython.cimports.engine.core.pieces import BLACK, KINDS, KING, PAWN, WHITE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import LONGEST_MATE, mated_in

TERM_NAMES = ("material", "mobility", "centre", "castling", "attack", "check", "pawns", "tempo")
MOST_PERCENT = 1000                # of a coefficient, either way: ten times its ordinary weight

VALUE = cython.declare(cython.int[6])              # centipawns, the classic ones; a king cannot be taken
DIMINISHING = cython.declare(cython.int[8])        # what this many attackers are worth together: each half the last
if not cython.compiled:
    VALUE = [0] * 6
    DIMINISHING = [0] * 8
for _kind, _value in enumerate((100, 300, 300, 500, 900, 0)):
    VALUE[_kind] = _value
for _count, _value in enumerate((0, 8, 12, 14, 15, 15, 15, 15)):
    DIMINISHING[_count] = _value

MOBILITY_CP = cython.declare(cython.int, 2)         # a square
CENTRE_CP = cython.declare(cython.int, 5)           # an attack on one of its four squares; standing there counts double
RIGHT_CP = cython.declare(cython.int, 10)           # a castling right
CASTLED_CP = cython.declare(cython.int, 40)         # a castled king: more than both rights, so that it castles
CHECK_CP = cython.declare(cython.int, 25)
PAWN_STEP_CP = cython.declare(cython.int, 5)        # a rank
TEMPO_CP = cython.declare(cython.int, 10)
CORNERS = cython.declare(u64, 0xC7000000000000C7)   # a, b, c, g and h on the first and last rank


def reach(kind: cython.int, us: cython.int, square: cython.int, occupied: u64) -> u64:
    """Return what our piece on this square attacks."""
    if kind == PAWN:
        return PAWN_ATTACKS[us * 64 + square]
    return piece_attacks(kind, square, occupied)


def material(position: Position, us: cython.int) -> cython.int:
    """Score our pieces."""
    total: cython.int = 0
    kind: cython.int
    for kind in range(KING):
        total += VALUE[kind] * popcount(position.pieces[us * KINDS + kind])
    return total


def mobility(position: Position, us: cython.int) -> cython.int:
    """Score the squares our pieces attack that hold none of our pieces."""
    total: cython.int = 0
    left: u64 = position.colours[us]
    while left:
        square: cython.int = lsb(left)
        left &= left - 1
        kind: cython.int = position.board[square] - us * KINDS
        total += popcount(reach(kind, us, square, position.occupied) & ~position.colours[us])
    return total * MOBILITY_CP


def centre(position: Position, us: cython.int) -> cython.int:
    """Score our attacks on the four centre squares and our pieces there."""
    total: cython.int = 2 * popcount(position.colours[us] & CENTRAL_SQUARES)
    left: u64 = CENTRAL_SQUARES
    while left:
        total += popcount(position.attackers(lsb(left), us, position.occupied))
        left &= left - 1
    return total * CENTRE_CP


def castling(position: Position, us: cython.int) -> cython.int:
    """Score the right to castle, or a castled king."""
    rights: cython.int = position.castling_rights >> us * 2 & 3
    if rights:
        return RIGHT_CP * popcount(rights)
    home: cython.int = position.king_square(us)
    on_first_rank: cython.bint = home >> 3 == (7 if us == BLACK else 0)
    return CASTLED_CP if on_first_rank and CORNERS & bit(home) else 0


def attack(position: Position, us: cython.int) -> cython.int:
    """Score our attacks on all pieces, ours included; each further attacker adds half as much."""
    total: cython.int = 0
    left: u64 = position.occupied
    while left:
        joined: cython.int = popcount(position.attackers(lsb(left), us, position.occupied))
        total += DIMINISHING[min(joined, 7)]
        left &= left - 1
    return total


def check(position: Position, us: cython.int) -> cython.int:
    """Score giving check."""
    return CHECK_CP if position.side_to_move != us and position.in_check() else 0


def pawn_advance(position: Position, us: cython.int) -> cython.int:
    """Score the steps of our pawns."""
    total: cython.int = 0
    left: u64 = position.pieces[us * KINDS + PAWN]
    while left:
        rank: cython.int = lsb(left) >> 3
        total += 6 - rank if us == BLACK else rank - 1
        left &= left - 1
    return total * PAWN_STEP_CP


def tempo(position: Position, us: cython.int) -> cython.int:
    """Score the right to move."""
    return TEMPO_CP if position.side_to_move == us else 0


@cython.final
@cython.cclass
class Terms:
    """The eight terms with their coefficients in percent; what is not named counts nothing.

    `mate_percent` above zero is the ordinary wish to mate, below zero the wish to be mated, zero indifference.
    """

    def __init__(self, percents: dict, mate_percent: int = 100) -> None:
        for number, name in enumerate(TERM_NAMES):
            self.percents[number] = max(-MOST_PERCENT, min(percents.get(name, 0), MOST_PERCENT))
        self.mate_percent = mate_percent

    def term(self, position: Position, number: cython.int, us: cython.int) -> cython.int:
        """Return one term of one side, without its coefficient."""
        if number == 0:
            return material(position, us)
        if number == 1:
            return mobility(position, us)
        if number == 2:
            return centre(position, us)
        if number == 3:
            return castling(position, us)
        if number == 4:
            return attack(position, us)
        if number == 5:
            return check(position, us)
        if number == 6:
            return pawn_advance(position, us)
        return tempo(position, us)

    def side(self, position: Position, us: cython.int) -> cython.int:
        """Return the sum of one side's terms, in hundredths of a centipawn."""
        total: cython.int = 0
        number: cython.int
        for number in range(8):
            if self.percents[number] != 0:
                total += self.percents[number] * self.term(position, number, us)
        return total

    def score(self, position: Position) -> cython.int:
        """Return the evaluation for the side to move in centipawns, never as much as a mate."""
        us: cython.int = position.side_to_move
        total: cython.int = (self.side(position, us) - self.side(position, us ^ 1)) // 100
        most: cython.int = LONGEST_MATE - 1
        return max(-most, min(total, most))

    def mated(self, ply: cython.int) -> cython.int:
        """Return what being mated `ply` plies from the root is worth to this style."""
        if self.mate_percent == 0:
            return 0
        return mated_in(ply) if self.mate_percent > 0 else -mated_in(ply)

    def white_terms(self, position: Position) -> dict[str, int]:
        """Return each term from White's view with its coefficient, in hundredths of a centipawn."""
        return {
            name: self.percents[number] * (self.term(position, number, WHITE) - self.term(position, number, BLACK))
            for number, name in enumerate(TERM_NAMES)
        }
