# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What a position with few men is worth, from Syzygy's WDL files, without the interpreter lock.

A WDL file may hold any value that packs well where a capture decides, and knows neither castling nor en passant: so
captures are tried first, by a small alpha-beta search down to fewer men. A value holds if the last move was a capture
or a pawn move; otherwise the fifty-move rule may save the loser. (chessprogramming wiki: Syzygy Bases)
"""

import cython
from cython.cimports.engine.core.bitboard import popcount, u64
from cython.cimports.engine.core.move import EN_PASSANT, flag_of, is_capture
from cython.cimports.engine.core.movegen import generate
from cython.cimports.engine.core.pieces import KINDS, KING, NO_SQUARE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.syzygy.packed_values import NO_VALUE
from cython.cimports.engine.syzygy.table import TableTree

LOSS, BLESSED_LOSS, DRAWN, CURSED_WIN, WIN = -2, -1, 0, 1, 2
UNKNOWN = NO_VALUE                 # a file is missing or damaged, or the position is not for tables


def key_of(position: Position) -> u64:
    """What stands on the board, as `syzygy_file.material_key` counts it."""
    key: u64 = 0
    piece: cython.int
    for piece in range(2 * KINDS - 1):
        if piece != KING:
            key |= cython.cast(u64, popcount(position.pieces[piece])) << (4 * piece)
    return key


@cython.final
@cython.cclass
class Prober:
    """Of one thread: looks up the position it was made for, as that changes."""

    def __init__(self, position: Position, tree: TableTree | None, most_men: int) -> None:
        """`most_men`: positions with more are not looked up."""
        self.position = position
        self.tree = tree
        self.most_men = most_men if tree is not None else 0
        self.hits = 0
        self.by_capture = False

    def may_know(self) -> cython.bint:
        """Are there few enough men, and no castling?"""
        return not self.position.castling_rights and popcount(self.position.occupied) <= self.most_men

    def wdl(self) -> cython.int:
        """WIN to LOSS for the side to move, or UNKNOWN."""
        if not self.may_know():
            return UNKNOWN
        value: cython.int = self.without_en_passant(LOSS, WIN)
        if value != UNKNOWN and self.position.en_passant != NO_SQUARE:
            value = self.with_en_passant(value)
        self.hits += value != UNKNOWN
        return value

    def without_en_passant(self, alpha: cython.int, beta: cython.int) -> cython.int:
        """The worth if the side to move may not capture en passant, or UNKNOWN.

        `by_capture` says afterwards whether a capture is what it is worth, and better than a draw.
        """
        moves = cython.declare(cython.int[288])
        end: cython.int = generate(self.position, moves, 0, True)
        index: cython.int
        value: cython.int
        for index in range(end):
            if not is_capture(moves[index]) or flag_of(moves[index]) == EN_PASSANT:
                continue
            value = self.after(moves[index], -beta, -alpha)
            if value == UNKNOWN:
                return UNKNOWN
            if value > alpha:
                alpha = value
                if alpha >= beta:
                    self.by_capture = True
                    return alpha
        value = self.stored()
        if value == UNKNOWN:
            return UNKNOWN
        self.by_capture = alpha >= value and alpha > DRAWN
        return alpha if alpha >= value else value

    def after(self, move: cython.int, alpha: cython.int, beta: cython.int) -> cython.int:
        """The worth of a capture for who makes it, or UNKNOWN; the window is the other side's."""
        self.position.make(move)
        value: cython.int = self.without_en_passant(alpha, beta)
        self.position.unmake(move)
        return UNKNOWN if value == UNKNOWN else -value

    def stored(self) -> cython.int:
        """What the file says, right or not where a capture decides, or UNKNOWN."""
        key: u64 = key_of(self.position)
        if key == 0:
            return DRAWN               # bare kings have no file
        value: cython.int = self.tree.value(self.position, key)
        return value - 2 if 0 <= value <= 4 else UNKNOWN

    def with_en_passant(self, value: cython.int) -> cython.int:
        """The worth, given that without en passant, or UNKNOWN.

        If nothing else is legal, what would be stalemate is the capture.
        """
        moves = cython.declare(cython.int[288])
        end: cython.int = generate(self.position, moves, 0, False)
        best: cython.int = UNKNOWN
        others: cython.bint = False
        index: cython.int
        for index in range(end):
            if flag_of(moves[index]) != EN_PASSANT:
                others = True
                continue
            found: cython.int = self.after(moves[index], LOSS, WIN)
            if found == UNKNOWN:
                return UNKNOWN
            if found > best:
                best = found
        if best == UNKNOWN:
            return value
        return best if best >= value or not others else value

    # --- For Python callers ------------------------------------------------------------------------------------------

    def worth(self) -> int | None:
        """`wdl` for Python callers; None if nobody knows."""
        value: cython.int = self.wdl()
        return None if value == UNKNOWN else value

    def worth_without_en_passant(self) -> tuple[int, bool] | None:
        """The worth if en passant were forbidden, and whether a capture is what it is worth; None if nobody knows."""
        value: cython.int = self.without_en_passant(LOSS, WIN) if self.may_know() else UNKNOWN
        return None if value == UNKNOWN else (value, self.by_capture)

    def material(self) -> int:
        """`key_of` the position, for Python callers."""
        return key_of(self.position)

    def rest(self) -> None:
        """Look nothing up any more."""
        self.most_men = 0

    def found(self) -> int:
        """How many positions were known."""
        return self.hits
