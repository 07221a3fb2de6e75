# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Which material cannot win in horde and in atomic chess."""

from typing import NamedTuple

import cython
from cython.cimports.engine.core.bitboard import ALL_SQUARES, DARK_SQUARES, popcount, u64
from cython.cimports.engine.core.pieces import BISHOP, BLACK, KINDS, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE
from cython.cimports.engine.core.position import Position


class _Defenders(NamedTuple):
    """Black's pieces in horde: each is a chance to be mated, as it takes a square from its king.

    `same` and `other` are the bishops on squares of the horde's bishop, and on the others; `total` includes the king.
    """

    pawns: int
    knights: int
    bishops: int
    rooks: int
    queens: int
    same: int
    other: int
    total: int


def horde_cannot_win(pieces: list[int]) -> bool:
    """Return whether White cannot mate, however Black helps.

    Pieces are sets of squares: White's from pawn to king, then Black's.
    (github.com/stevepapazis/horde-insufficient-material-tests, which Lichess follows)
    """
    pawns, knights, bishops, rooks, queens = (squares.bit_count() for squares in pieces[:5])
    dark = (pieces[2] & DARK_SQUARES).bit_count()
    light = bishops - dark
    strength = pawns + knights + rooks + queens + min(light, 2) + min(dark, 2)
    theirs = [squares.bit_count() for squares in pieces[6:]]
    on_dark = (pieces[8] & DARK_SQUARES).bit_count()
    on_light = theirs[2] - on_dark
    same, other = (on_light, on_dark) if light else (on_dark, on_light)
    black = _Defenders(theirs[0], theirs[1], theirs[2], theirs[3], theirs[4], same, other, sum(theirs))
    if strength == 0 or strength >= 4:
        return strength == 0
    if strength == 1:
        return black.total == 1 or _one_piece_cannot_win(pieces[:5], black)
    if pawns or queens:
        return False
    if rooks:
        return strength == 2 and rooks == bishops == 1 and black.total - black.same == 1
    if strength == 3:
        return not (knights >= 2 or (light and dark)) and black.total == 1
    return black.total == 1 or _two_pieces_cannot_win(knights, bool(light and dark), black)


def _one_piece_cannot_win(pieces: list[int], black: _Defenders) -> bool:
    """Return whether White's only piece cannot mate."""
    pawn, knight, bishop, rook, _ = map(bool, pieces)
    if pawn:                       # it may become a knight or a queen
        return _one_piece_cannot_win([0, 1, 0, 0, 0], black) and _one_piece_cannot_win([0, 0, 0, 0, 1], black)
    if knight:
        kinds = sum(map(bool, black[:4]))
        if black.total < 4 or not (black.knights >= 2 or black.pawns >= 2 or kinds >= 2):
            return True
        return any(bishops >= 2 and black.total - bishops < 3 for bishops in (black.same, black.other))
    if bishop:
        return black.other + black.pawns < 2
    if rook:
        return black.pawns < 2 and sum(map(bool, (black.pawns, black.knights, black.rooks))) < 2
    return not (black.pawns or black.rooks or black.same >= 2 or black.other >= 2)


def _two_pieces_cannot_win(knights: int, bishop_pair: bool, black: _Defenders) -> bool:
    """Return whether two of White's knights and bishops cannot mate."""
    if knights == 2:
        return not (black.pawns or black.bishops or black.knights)
    if bishop_pair:
        return not (black.pawns or black.bishops or (black.knights and black.rooks + black.queens))
    if knights:
        return not (black.pawns or black.other or black.total - black.same >= 3)
    return black.pawns + black.other + black.knights < 2


def atomic_cannot_be_won(position: Position) -> cython.bint:
    """Return whether nobody can win by the material, as Lichess judges: too little to mate, and nothing to explode."""
    count: cython.int = popcount(position.occupied)
    if count > 4:
        return False
    pawns: u64 = position.pieces[PAWN] | position.pieces[KINDS + PAWN]
    knights: u64 = position.pieces[KNIGHT] | position.pieces[KINDS + KNIGHT]
    bishops: u64 = position.pieces[BISHOP] | position.pieces[KINDS + BISHOP]
    rooks: u64 = position.pieces[ROOK] | position.pieces[KINDS + ROOK]
    queens: u64 = position.pieces[QUEEN] | position.pieces[KINDS + QUEEN]
    opposite: cython.bint = bishops & DARK_SQUARES != 0 and bishops & ~DARK_SQUARES != 0
    if popcount(position.colours[WHITE]) >= 2 and popcount(position.colours[BLACK]) >= 2:
        return opposite and not (pawns | knights | rooks | queens)
    if not (pawns | bishops | rooks | queens):
        return True
    return not (pawns | queens) and not opposite and count <= 3


def atomic_is_closed(position: Position) -> cython.bint:
    """Return whether nobody can win while no pawn can move.

    There are only kings, pawns, and bishops of one side on squares of one colour where no enemy pawn stands.
    """
    white: u64 = position.pieces[BISHOP]
    black: u64 = position.pieces[KINDS + BISHOP]
    bishops: u64 = white | black
    kings: u64 = position.pieces[KING] | position.pieces[KINDS + KING]
    pawns: u64 = position.pieces[PAWN] | position.pieces[KINDS + PAWN]
    if bishops | kings | pawns != position.occupied or (white and black):
        return False
    colour: u64 = DARK_SQUARES if bishops & DARK_SQUARES else ~DARK_SQUARES & ALL_SQUARES
    enemy_pawns: u64 = position.pieces[KINDS + PAWN] if white else position.pieces[PAWN]
    return not bishops or not (bishops & ~colour or enemy_pawns & colour)
