# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Draws by the fifty-move rule, by repetition and by insufficient material; which material cannot win."""

import cython
from cython.cimports.engine.core.bitboard import DARK_SQUARES, popcount, u64
from cython.cimports.engine.core.pieces import BISHOP, KINDS, KNIGHT, PAWN, QUEEN, ROOK
from cython.cimports.engine.core.position import Position

if not cython.compiled:
    FIFTY_MOVES_PLIES = 100        # half-moves without a capture or pawn move


def is_repetition(position: Position, root_height: cython.int) -> cython.bint:
    """Return whether the position occurred once since the root or twice before it.

    The search scores both as a draw.
    """
    seen: cython.int = 0
    height: cython.int = position.height - 4
    oldest: cython.int = position.height - position.halfmove_clock
    if oldest < 0:
        oldest = 0
    while height >= oldest:
        if position.undo_key[height] == position.key:
            seen += 1
            if height > root_height or seen == 2:
                return True
        height -= 2
    return False


def repetition_count(position: Position) -> int:
    """Return how often the position has occurred in the game, including now."""
    return _reversible_keys(position).count(position.key)


def has_repeated(position: Position) -> bool:
    """Return whether a position has occurred twice since the last capture or pawn move."""
    keys = _reversible_keys(position)
    return len(set(keys)) < len(keys)


def _reversible_keys(position: Position) -> list[int]:
    """Return the keys of the positions since the last capture or pawn move, the present one first."""
    oldest = max(0, position.height - position.halfmove_clock)
    return [position.key, *(position.undo_key[height] for height in range(oldest, position.height))]


def is_insufficient_material(position: Position) -> cython.bint:
    """Return whether neither side can mate.

    That is so for bare kings, one minor piece, or bishops on squares of one colour.
    """
    heavy: u64 = (
        position.pieces[PAWN] | position.pieces[ROOK] | position.pieces[QUEEN]
        | position.pieces[KINDS + PAWN] | position.pieces[KINDS + ROOK] | position.pieces[KINDS + QUEEN]
    )
    if heavy:
        return False
    knights: u64 = position.pieces[KNIGHT] | position.pieces[KINDS + KNIGHT]
    bishops: u64 = position.pieces[BISHOP] | position.pieces[KINDS + BISHOP]
    if knights:
        return popcount(knights | bishops) == 1
    return not bishops & DARK_SQUARES or not bishops & ~DARK_SQUARES


def cannot_win(position: Position, colour: int) -> bool:
    """Return whether the side cannot mate even with the opponent's help."""
    us: cython.int = colour * KINDS
    them: cython.int = KINDS - us
    pieces = position.pieces
    if pieces[us + PAWN] | pieces[us + ROOK] | pieces[us + QUEEN]:
        return False
    knights: u64 = pieces[us + KNIGHT]
    bishops: u64 = pieces[us + BISHOP]
    if knights:                    # a knight mates only if other pieces block the king; a queen cannot block it
        blocking: u64 = pieces[them + PAWN] | pieces[them + KNIGHT] | pieces[them + BISHOP] | pieces[them + ROOK]
        return popcount(knights) == 1 and not bishops and not blocking
    if not bishops or pieces[them + PAWN] | pieces[them + KNIGHT]:
        return not bishops
    bishops |= pieces[them + BISHOP]
    return not bishops & DARK_SQUARES or not bishops & ~DARK_SQUARES
