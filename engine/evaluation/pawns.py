# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Terms of pawns and kings alone: structure, passed pawns, shelter. A hash table keeps them, as pawns seldom move.

Each term is written for "us" and returns a packed score for our side alone. (chessprogramming wiki: Pawn Structure,
Pawn Hash Table, King Safety: Pawn Shield)
"""

import cython
from cython.cimports.engine.core.attacks import distance, pawn_attacks
from cython.cimports.engine.core.bitboard import (
    advance,
    ahead,
    beside,
    bit,
    files_of,
    lsb,
    msb,
    popcount,
    u64,
)
from cython.cimports.engine.core.pieces import BLACK, KINDS, KING, PAWN, WHITE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.zobrist import PIECE_KEY
from cython.cimports.engine.evaluation.weights import WEIGHTS

from engine.evaluation.weights import first_weight

if not cython.compiled:
    SLOTS = 8192

    class _PawnEntry:
        __slots__ = ("check", "passed", "score")

        def __init__(self) -> None:
            self.check = self.passed = self.score = 0

    TABLE = [_PawnEntry() for _ in range(SLOTS)]

PASSED_PAWNS = 16                  # where `pawns_and_kings` leaves them in `attacked_by`, see evaluate.py
KINGS_MATTER = cython.declare(cython.int, 3)        # passed pawns from this rank on, counted from 0, draw the kings


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def passed_pawns(ours: u64, theirs: u64, us: cython.int) -> u64:
    """Return our passed pawns.

    . . x x x . . .      No enemy pawn may stand on a square marked x,
    . . x x x . . .      nor our own on the file, for the pawn P
    . . . P . . . .      to be passed.
    """
    them: cython.int = us ^ 1
    in_front: u64 = ahead(theirs, them)
    return ours & ~(in_front | beside(in_front) | ahead(ours, them))


DOUBLED = cython.declare(cython.int, first_weight("doubled"))
ISOLATED = cython.declare(cython.int, first_weight("isolated"))
BACKWARD = cython.declare(cython.int, first_weight("backward"))
CONNECTED = cython.declare(cython.int, first_weight("connected"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def structure(ours: u64, theirs: u64, us: cython.int) -> cython.int:
    """Score doubled, isolated, backward and connected pawns.

    A backward pawn is behind its neighbours and cannot safely advance.
    """
    score: cython.int = 0
    neighbours: u64 = beside(files_of(ours))
    score += popcount(ours & ahead(ours, us)) * WEIGHTS[DOUBLED]
    score += popcount(ours & ~neighbours) * WEIGHTS[ISOLATED]
    attacks: u64 = pawn_attacks(ours, us)
    guarded_some_day: u64 = attacks | ahead(attacks, us)
    held_up: u64 = advance(ours, us) & pawn_attacks(theirs, us ^ 1) & ~guarded_some_day
    score += popcount(advance(held_up, us ^ 1) & neighbours) * WEIGHTS[BACKWARD]
    connected: u64 = ours & (attacks | beside(ours))
    while connected:
        score += WEIGHTS[CONNECTED + (relative(lsb(connected), us) >> 3)]
        connected &= connected - 1
    return score


def relative(square: cython.int, us: cython.int) -> cython.int:
    """Return the square from our side: our back rank is the first."""
    return square ^ 56 if us else square


PASSED = cython.declare(cython.int, first_weight("passed"))
PASSED_OWN_KING = cython.declare(cython.int, first_weight("passed_own_king"))
PASSED_THEIR_KING = cython.declare(cython.int, first_weight("passed_their_king"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def race(position: Position, passed: u64, us: cython.int) -> cython.int:
    """Score passed pawns by rank and by the kings' distances to the square before them."""
    score: cython.int = 0
    while passed:
        square: cython.int = lsb(passed)
        rank: cython.int = relative(square, us) >> 3
        score += WEIGHTS[PASSED + rank]
        if rank >= KINGS_MATTER:
            stop: cython.int = square - 8 if us else square + 8
            score += WEIGHTS[PASSED_OWN_KING + distance(position.king_square(us), stop)]
            score += WEIGHTS[PASSED_THEIR_KING + distance(position.king_square(us ^ 1), stop)]
        passed &= passed - 1
    return score


SHELTER_FRONT = cython.declare(cython.int, first_weight("shelter_front"))
SHELTER_SIDE = cython.declare(cython.int, first_weight("shelter_side"))
STORM_FRONT = cython.declare(cython.int, first_weight("storm_front"))
STORM_SIDE = cython.declare(cython.int, first_weight("storm_side"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def shelter(position: Position, us: cython.int) -> cython.int:
    """Score the pawns before our king: our shelter and their pawn storm."""
    king: cython.int = position.king_square(us)
    before: u64 = bit(king) | beside(bit(king))
    before |= ahead(before, us)
    ours: u64 = position.pieces[us * KINDS + PAWN] & before
    theirs: u64 = position.pieces[(us ^ 1) * KINDS + PAWN] & before
    king_file: cython.int = king & 7
    file: cython.int
    score: cython.int = 0
    for file in range(king_file - 1 if king_file > 0 else 0, king_file + 2 if king_file < 7 else 8):
        cover: cython.int = nearest_rank(ours & files_of(bit(file)), us)
        storm: cython.int = nearest_rank(theirs & files_of(bit(file)), us)
        if file == king_file:
            score += WEIGHTS[SHELTER_FRONT + cover] + WEIGHTS[STORM_FRONT + storm]
        else:
            score += WEIGHTS[SHELTER_SIDE + cover] + WEIGHTS[STORM_SIDE + storm]
    return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def nearest_rank(pawns: u64, us: cython.int) -> cython.int:
    """Return the rank of the pawn nearest to our side; 0 if there is none."""
    if pawns == 0:
        return 0
    return 7 - (msb(pawns) >> 3) if us else lsb(pawns) >> 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def side_score(position: Position, passed: u64, us: cython.int) -> cython.int:
    """Return the sum of one side's terms."""
    ours: u64 = position.pieces[us * KINDS + PAWN]
    theirs: u64 = position.pieces[(us ^ 1) * KINDS + PAWN]
    return structure(ours, theirs, us) + race(position, passed & ours, us) + shelter(position, us)


def pawns_and_kings(position: Position, attacked_by: cython.p_ulonglong) -> cython.int:
    """Return White's score less Black's, packed; store all passed pawns in `attacked_by[PASSED_PAWNS]`.

    Threads share the table without a lock: an entry that two threads wrote at once fails its check and is computed
    again.
    """
    white: u64 = position.pieces[PAWN]
    black: u64 = position.pieces[KINDS + PAWN]
    key: u64 = position.pawn_key
    key ^= PIECE_KEY[KING * 64 + position.king_square(WHITE)]
    key ^= PIECE_KEY[(KINDS + KING) * 64 + position.king_square(BLACK)]
    slot: cython.int = cython.cast(cython.int, key & (SLOTS - 1))
    passed: u64 = TABLE[slot].passed
    score: cython.int = TABLE[slot].score
    if TABLE[slot].check != key ^ passed ^ cython.cast(u64, score):
        passed = passed_pawns(white, black, WHITE) | passed_pawns(black, white, BLACK)
        score = side_score(position, passed, WHITE) - side_score(position, passed, BLACK)
        TABLE[slot].passed = passed
        TABLE[slot].score = score
        TABLE[slot].check = key ^ passed ^ cython.cast(u64, score)
    attacked_by[PASSED_PAWNS] = passed
    return score


def forget() -> None:
    """Clear the table after a change of weights."""
    slot: cython.int
    for slot in range(SLOTS):
        TABLE[slot].check = 0


def pawn_terms(position: Position, us: int) -> dict[str, int]:
    """Return the terms of one side by name, packed."""
    side: cython.int = us
    ours: u64 = position.pieces[side * KINDS + PAWN]
    theirs: u64 = position.pieces[(side ^ 1) * KINDS + PAWN]
    return {
        "pawn structure": structure(ours, theirs, side),
        "passed pawns": race(position, passed_pawns(ours, theirs, side), side),
        "king shelter": shelter(position, side),
    }
