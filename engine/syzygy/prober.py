# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""WDL probing: whether a position with few pieces is won, drawn or lost, without the interpreter lock.

Where a capture decides, a WDL file may store any value that packs well, and it knows neither castling nor en passant.
So captures are tried first, by a small alpha-beta search. A value holds right after a capture or a pawn move; later
the fifty-move rule may save the loser. (chessprogramming wiki: Syzygy Bases)
"""

import cython
from cython.cimports.engine.core.bitboard import popcount, u64
from cython.cimports.engine.core.move import EN_PASSANT, flag_of, is_capture
from cython.cimports.engine.core.movegen import MAX_MOVES, generate
from cython.cimports.engine.core.pieces import KINDS, KING, NO_SQUARE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.syzygy.packed_values import NO_VALUE
from cython.cimports.engine.syzygy.table import TableTree

LOSS, WDL_DRAW, WIN = -2, 0, 2
UNKNOWN = NO_VALUE                 # a file is missing or damaged, or the position cannot be probed


def material_key_of(position: Position) -> u64:
    """Return the material on the board as `file_header.material_key` counts it."""
    key: u64 = 0
    piece: cython.int
    for piece in range(2 * KINDS - 1):
        if piece != KING:
            key |= cython.cast(u64, popcount(position.pieces[piece])) << (4 * piece)
    return key


@cython.final
@cython.cclass
class Prober:
    """Probes one thread's position as it changes."""

    def __init__(self, position: Position, tree: TableTree | None, max_pieces: int) -> None:
        """Positions with more than `max_pieces` pieces, kings included, are not probed."""
        self.position = position
        self.tree = tree
        self.max_pieces = max_pieces if tree is not None else 0
        self.hits = 0
        self.decided_by_capture = False

    def can_probe(self) -> cython.bint:
        """Return whether there are few enough pieces and no castling rights."""
        return not self.position.castling_rights and popcount(self.position.occupied) <= self.max_pieces

    def probe(self) -> cython.int:
        """Return WIN to LOSS for the side to move, or UNKNOWN."""
        if not self.can_probe():
            return UNKNOWN
        wdl: cython.int = self.probe_without_en_passant(LOSS, WIN)
        if wdl != UNKNOWN and self.position.en_passant != NO_SQUARE:
            wdl = self.add_en_passant(wdl)
        self.hits += wdl != UNKNOWN
        return wdl

    def probe_without_en_passant(self, alpha: cython.int, beta: cython.int) -> cython.int:
        """Return the WDL as if en passant were illegal, or UNKNOWN.

        Sets `decided_by_capture`: whether a capture reaches this value and the value is better than a draw.
        """
        moves = cython.declare(cython.int[MAX_MOVES])
        end: cython.int = generate(self.position, moves, 0, True)
        index: cython.int
        wdl: cython.int
        for index in range(end):
            if not is_capture(moves[index]) or flag_of(moves[index]) == EN_PASSANT:
                continue
            wdl = self.probe_after(moves[index], -beta, -alpha)
            if wdl == UNKNOWN:
                return UNKNOWN
            if wdl > alpha:
                alpha = wdl
                if alpha >= beta:
                    self.decided_by_capture = True
                    return alpha
        wdl = self.stored_wdl()
        if wdl == UNKNOWN:
            return UNKNOWN
        self.decided_by_capture = alpha >= wdl and alpha > WDL_DRAW
        return max(alpha, wdl)

    def probe_after(self, move: cython.int, alpha: cython.int, beta: cython.int) -> cython.int:
        """Return the WDL of a capture for the side that makes it, or UNKNOWN; the window is the other side's."""
        self.position.make(move)
        wdl: cython.int = self.probe_without_en_passant(alpha, beta)
        self.position.unmake(move)
        return UNKNOWN if wdl == UNKNOWN else -wdl

    def stored_wdl(self) -> cython.int:
        """Return the stored WDL, possibly wrong where a capture decides, or UNKNOWN."""
        key: u64 = material_key_of(self.position)
        if key == 0:
            return WDL_DRAW            # bare kings have no file
        value: cython.int = self.tree.probe(self.position, key)
        return value - 2 if 0 <= value <= 4 else UNKNOWN

    def add_en_passant(self, wdl: cython.int) -> cython.int:
        """Return the WDL given the one without en passant, or UNKNOWN.

        If no other move is legal, the capture replaces the stalemate.
        """
        moves = cython.declare(cython.int[MAX_MOVES])
        end: cython.int = generate(self.position, moves, 0, False)
        best: cython.int = UNKNOWN
        has_other_moves: cython.bint = False
        index: cython.int
        for index in range(end):
            if flag_of(moves[index]) != EN_PASSANT:
                has_other_moves = True
                continue
            found: cython.int = self.probe_after(moves[index], LOSS, WIN)
            if found == UNKNOWN:
                return UNKNOWN
            best = max(best, found)
        if best == UNKNOWN:
            return wdl
        return max(best, wdl) if has_other_moves else best

    # --- For Python callers ------------------------------------------------------------------------------------------

    def wdl(self) -> int | None:
        """Return WIN to LOSS for the side to move, or None if no table knows."""
        wdl: cython.int = self.probe()
        return None if wdl == UNKNOWN else wdl

    def wdl_without_en_passant(self) -> tuple[int, bool] | None:
        """Return the WDL as if en passant were illegal and whether a capture decides, or None if no table knows."""
        wdl: cython.int = self.probe_without_en_passant(LOSS, WIN) if self.can_probe() else UNKNOWN
        return None if wdl == UNKNOWN else (wdl, self.decided_by_capture)

    def material_key(self) -> int:
        """Return the material key of the position."""
        return material_key_of(self.position)

    def disable(self) -> None:
        """Probe nothing from now on."""
        self.max_pieces = 0
