# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Known endings: exact results against a bare king, how drawish other endings are, and the way to win without pawns.

(chessprogramming wiki: Endgame, KBNK Endgame, Wrong Color Bishop and Rook Pawn, Bishops of Opposite Colors)
"""

import cython
from cython.cimports.engine.core.attacks import distance
from cython.cimports.engine.core.bitboard import DARK_SQUARES, FILE_A, FILE_H, lsb, popcount, u64
from cython.cimports.engine.core.params import (
    ENDGAME_PIECES,
    KNOWN_WIN,
    SCALE_BARE_BISHOPS,
    SCALE_NO_PAWNS,
    SCALE_NORMAL,
    SCALE_OPPOSITE_BISHOPS,
    SCALE_PER_PAWN,
    WIN_CORNER,
    WIN_DISTANCE,
    WIN_EDGE,
    WIN_PAWN_RANK,
    WIN_WITHOUT_PAWNS,
)
from cython.cimports.engine.core.pieces import (
    BISHOP,
    BLACK,
    KINDS,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    WHITE,
)
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import DRAW, NO_SCORE, endgame_of
from cython.cimports.engine.evaluation.kpk import is_won
from cython.cimports.engine.evaluation.pawns import relative

MINOR = cython.declare(cython.int, 3)               # pawns, see `piece_material`
FEW_PAWNS = cython.declare(cython.int, 4)           # with fewer, each exchange brings the draw nearer


def has_bare_king(position: Position) -> bool:
    """Return whether a side has nothing left but its king."""
    return popcount(position.colours[WHITE]) == 1 or popcount(position.colours[BLACK]) == 1


def known_result(position: Position) -> cython.int:
    """Return White's score if one king is bare and the result is known, else NO_SCORE."""
    if position.colours[BLACK] == position.pieces[KINDS + KING]:
        return strong_side_verdict(position, WHITE)
    if position.colours[WHITE] == position.pieces[KING]:
        score: cython.int = strong_side_verdict(position, BLACK)
        return score if score == NO_SCORE else -score
    return NO_SCORE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def strong_side_verdict(position: Position, us: cython.int) -> cython.int:
    """Return our score against a bare king, or NO_SCORE."""
    first: cython.int = us * KINDS
    pawns: u64 = position.pieces[first + PAWN]
    knights: u64 = position.pieces[first + KNIGHT]
    bishops: u64 = position.pieces[first + BISHOP]
    heavy: u64 = position.pieces[first + ROOK] | position.pieces[first + QUEEN]
    if heavy or (bishops & DARK_SQUARES and bishops & ~DARK_SQUARES):
        return drive_to_the_edge(position, us)
    if pawns:
        if not knights and not bishops and popcount(pawns) == 1:
            return king_and_pawn(position, us)
        return DRAW if not knights and is_wrong_bishop_draw(position, us) else NO_SCORE
    if knights and bishops:
        return drive_to_the_corner(position, us)
    return NO_SCORE if popcount(knights) > 2 else DRAW     # two knights cannot force mate


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def king_and_pawn(position: Position, us: cython.int) -> cython.int:
    """Score king and pawn against king exactly; a pawn further advanced scores more."""
    pawn: cython.int = relative(lsb(position.pieces[us * KINDS + PAWN]), us)
    ours: cython.int = relative(position.king_square(us), us)
    theirs: cython.int = relative(position.king_square(us ^ 1), us)
    if pawn & 4:                   # mirror onto the files a to d
        pawn, ours, theirs = pawn ^ 7, ours ^ 7, theirs ^ 7
    side: cython.int = position.side_to_move ^ us
    return KNOWN_WIN + WIN_PAWN_RANK * (pawn >> 3) if is_won(side, ours, theirs, pawn) else DRAW


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_wrong_bishop_draw(position: Position, us: cython.int) -> cython.bint:
    """Return whether all our pawns promote in a corner that no bishop of ours attacks and their king guards.

    The king cannot be driven out of that corner.
    """
    pawns: u64 = position.pieces[us * KINDS + PAWN]
    corner: cython.int = 0 if us else 56
    if pawns & ~FILE_A:
        if pawns & ~FILE_H:
            return False
        corner += 7
    alike: u64 = DARK_SQUARES if DARK_SQUARES >> corner & 1 else ~DARK_SQUARES
    return not position.pieces[us * KINDS + BISHOP] & alike and distance(position.king_square(us ^ 1), corner) <= 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def drive_to_the_edge(position: Position, us: cython.int) -> cython.int:
    """Score a bare king by its distance to the edge and to our king."""
    material: cython.int = endgame_of(position.piece_square)
    return KNOWN_WIN + (-material if us else material) + driven_back(position, us)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def driven_back(position: Position, us: cython.int) -> cython.int:
    """Score how near their king is to the edge and to ours."""
    theirs: cython.int = position.king_square(us ^ 1)
    near: cython.int = 7 - distance(position.king_square(us), theirs)
    return WIN_EDGE * (6 - to_the_edge(theirs)) + WIN_DISTANCE * near


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def drive_to_the_corner(position: Position, us: cython.int) -> cython.int:
    """Score knight and bishop, which mate only in a corner of the bishop's colour.

    Steps from the diagonal between the other two corners count. So the bare king is driven out of the wrong corner, and
    along an edge to the right one.
    """
    theirs: cython.int = position.king_square(us ^ 1)
    mirrored: cython.int = theirs if position.pieces[us * KINDS + BISHOP] & DARK_SQUARES else theirs ^ 7
    steps: cython.int = 7 - (mirrored & 7) - (mirrored >> 3)
    if steps < 0:
        steps = -steps
    near: cython.int = 7 - distance(position.king_square(us), theirs)
    return KNOWN_WIN + WIN_CORNER * steps + WIN_EDGE * (6 - to_the_edge(theirs)) + WIN_DISTANCE * near


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def to_the_edge(square: cython.int) -> cython.int:
    """Return the distance to the nearest file edge plus that to the nearest rank edge: 0 in a corner."""
    file: cython.int = square & 7
    rank: cython.int = square >> 3
    return (file if file < 4 else 7 - file) + (rank if rank < 4 else 7 - rank)


def scaled_for_drawishness(position: Position, score: cython.int) -> cython.int:
    """Scale a score for the side to move by how drawish the ending is.

    Without pawns, first add how far the weaker king is driven back, which a network does not reward.
    """
    if popcount(position.occupied) > ENDGAME_PIECES:
        return score
    strong: cython.int = position.side_to_move ^ (score < DRAW)
    if pawn_count(position) == 0:
        way: cython.int = WIN_WITHOUT_PAWNS * driven_back(position, strong)
        score = score + way if strong == position.side_to_move else score - way
    return score * drawish_scale(position, strong) // SCALE_NORMAL


def endgame_scale(position: Position, strong: cython.int) -> cython.int:
    """Return how much of its endgame advantage the stronger side keeps, of SCALE_NORMAL."""
    scale: cython.int = drawish_scale(position, strong)
    if scale < SCALE_NORMAL:
        return scale
    if are_opposite(position.pieces[BISHOP], position.pieces[KINDS + BISHOP]):
        return SCALE_OPPOSITE_BISHOPS
    scale = SCALE_NORMAL - SCALE_PER_PAWN * (FEW_PAWNS - popcount(position.pieces[strong * KINDS + PAWN]))
    return scale if scale < SCALE_NORMAL else SCALE_NORMAL


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def drawish_scale(position: Position, strong: cython.int) -> cython.int:
    """Return the scale of drawish endings. The network hardly knows them, as its training games end before."""
    pawns: cython.int = popcount(position.pieces[strong * KINDS + PAWN])
    if pawns == 0 and piece_material(position, strong) - piece_material(position, strong ^ 1) <= MINOR:
        return SCALE_NO_PAWNS      # a piece more does not win without pawns
    bare: cython.bint = popcount(position.occupied) == pawn_count(position) + 4
    if bare and are_opposite(position.pieces[BISHOP], position.pieces[KINDS + BISHOP]):
        return SCALE_BARE_BISHOPS * pawns
    return SCALE_NORMAL


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def are_opposite(ours: u64, theirs: u64) -> cython.bint:
    """Return whether each side has one bishop, on squares of opposite colours."""
    return popcount(ours) == 1 and popcount(theirs) == 1 and (ours & DARK_SQUARES == 0) != (theirs & DARK_SQUARES == 0)


def piece_material(position: Position, us: cython.int) -> cython.int:
    """Return the value of our pieces in pawns: minor pieces 3, rook 5, queen 9."""
    first: cython.int = us * KINDS
    return (
        MINOR * popcount(position.pieces[first + KNIGHT] | position.pieces[first + BISHOP])
        + 5 * popcount(position.pieces[first + ROOK])
        + 9 * popcount(position.pieces[first + QUEEN])
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def pawn_count(position: Position) -> cython.int:
    """Return the number of pawns of both sides."""
    return popcount(position.pieces[PAWN] | position.pieces[KINDS + PAWN])
