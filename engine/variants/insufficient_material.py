"""Which material cannot win in horde and in atomic chess.

Pieces are sets of squares: White's from pawn to king, then Black's.
"""

from typing import NamedTuple

DARK_SQUARES = 0xAA55AA55AA55AA55


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


def atomic_cannot_be_won(pieces: list[int]) -> bool:
    """Return whether nobody can win by the material, as Lichess judges: too little to mate, and nothing to explode."""
    pawns, knights, bishops, rooks, queens, _ = (a | b for a, b in zip(pieces[:6], pieces[6:], strict=True))
    white, black = (sum(squares.bit_count() for squares in pieces[first : first + 6]) for first in (0, 6))
    opposite = bool(bishops & DARK_SQUARES and bishops & ~DARK_SQUARES)
    if white >= 2 and black >= 2:
        return opposite and white + black == 4 and not (pawns or knights or rooks or queens)
    if not (pawns or bishops or rooks or queens):
        return white + black <= 4
    return not (pawns or queens or opposite) and white + black <= 3


def atomic_is_closed(pieces: list[int]) -> bool:
    """Return whether nobody can win while no pawn can move.

    There are only kings, pawns, and bishops of one side on squares of one colour where no enemy pawn stands.
    """
    if any(pieces[first + kind] for first in (0, 6) for kind in (1, 3, 4)):
        return False
    for ours, theirs in ((pieces[:6], pieces[6:]), (pieces[6:], pieces[:6])):
        if ours[2]:
            colour = DARK_SQUARES if ours[2] & DARK_SQUARES else ~DARK_SQUARES
            return not (theirs[2] or ours[2] & ~colour or theirs[0] & colour)
    return True
