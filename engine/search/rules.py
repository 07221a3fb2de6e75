# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""All that the search asks of the rules: the same questions for standard chess and for each variant.

Standard chess is answered by direct calls. A variant answers by what it overrides in `VariantPosition`.
"""

import cython
from cython.cimports.engine.core.bitboard import bit, popcount, u64
from cython.cimports.engine.core.checks import gives_check, keep_checks
from cython.cimports.engine.core.draws import is_insufficient_material
from cython.cimports.engine.core.move import to_square
from cython.cimports.engine.core.movegen import generate, is_legal
from cython.cimports.engine.core.params import EXCHANGE_VALUE
from cython.cimports.engine.core.pieces import KIND_OF, KINDS, PAWN, QUEEN, ROOK
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import DRAW, NO_SCORE, mated_in
from cython.cimports.engine.core.see import exchange_wins
from cython.cimports.engine.variants.variant_position import DRAWN, UNDECIDED, VariantPosition

if not cython.compiled:
    LAST_PAWN_PIECES = 5           # as many can still be a win that the loss of the last pawn makes a dead draw


@cython.final
@cython.cclass
class Rules:
    """The rules of the position being searched; `VariantPosition` explains the properties."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.variant = position if isinstance(position, VariantPosition) else None
        self.has_fifty_move_rule = self.variant is None or self.variant.has_fifty_move_rule
        self.allows_null_move = self.variant is None or self.variant.allows_null_move
        self.has_plain_exchanges = self.variant is None or self.variant.has_plain_exchanges

    # --- Moves -------------------------------------------------------------------------------------------------------

    def generate(self, moves: cython.p_int, start: cython.int, tactical_only: cython.bint) -> cython.int:
        """Write the legal moves to moves[start:] and return their end; only captures and promotions if asked."""
        if self.variant is None:
            return generate(self.position, moves, start, tactical_only)
        return self.variant.generate(moves, start, tactical_only)

    def is_legal(self, move: cython.int) -> cython.bint:
        """Return whether this move, perhaps of another position, is legal here, in a game that is not over."""
        if self.variant is None:
            return is_legal(self.position, move)
        return self.variant.is_legal(move)

    def is_forcing(self, move: cython.int) -> cython.bint:
        """Return whether a legal quiet move gives check, threatens to end the game, or forces a capture."""
        if self.variant is None:
            return gives_check(self.position, move)
        return self.variant.is_forcing(move)

    def keep_forcing(self, moves: cython.p_int, start: cython.int, end: cython.int) -> cython.int:
        """Keep only the forcing moves of the legal quiet ones in moves[start:end]; return their new end."""
        if self.variant is None:
            return keep_checks(self.position, moves, start, end)
        kept: cython.int = start
        index: cython.int
        for index in range(start, end):
            if self.variant.is_forcing(moves[index]):
                moves[kept] = moves[index]
                kept += 1
        return kept

    def is_forced(self) -> cython.bint:
        """Return whether few moves are legal and the static evaluation is unreliable: in check, or made to capture."""
        if self.variant is None:
            return self.position.in_check()
        return self.variant.is_forced()

    def is_zugzwang_unlikely(self) -> cython.bint:
        """Return whether the side to move is unlikely to be in zugzwang."""
        if self.variant is None:
            return self.position.has_pieces(self.position.side_to_move)
        return self.variant.is_zugzwang_unlikely()

    def is_stuck(self) -> cython.bint:
        """Return whether a side that is likely to be in zugzwang has no legal move; False in standard chess."""
        return self.variant is not None and self.variant.is_stuck()

    def can_move_back(self) -> cython.bint:
        """Return whether moving a piece back repeats the position: not if captures are forced or checks are counted."""
        if self.variant is None:
            return True
        return self.variant.can_move_back and (not self.variant.is_forced() or self.variant.in_check())

    # --- Exchanges ---------------------------------------------------------------------------------------------------

    def gain(self, move: cython.int) -> cython.int:
        """Return what a capture wins at once, in centipawns; for en passant the empty target counts as a pawn."""
        if self.variant is None:
            return EXCHANGE_VALUE[KIND_OF[self.position.board[to_square(move)]]]
        return self.variant.gain(move)

    def exchange_wins(self, move: cython.int, threshold: cython.int) -> cython.bint:
        """Return whether the move wins at least `threshold` centipawns after the exchange that follows."""
        if self.variant is None:
            return exchange_wins(self.position, move, threshold)
        return self.variant.exchange_wins(move, threshold)

    def takes_last_pawn(self, move: cython.int) -> cython.bint:
        """Return whether a capture takes the enemy's last pawn in an endgame of minor pieces: perhaps a dead draw."""
        if self.variant is not None or popcount(self.position.occupied) > LAST_PAWN_PIECES:
            return False
        us: cython.int = self.position.side_to_move * KINDS
        them: cython.int = KINDS - us
        heavy: u64 = (
            self.position.pieces[us + ROOK] | self.position.pieces[us + QUEEN]
            | self.position.pieces[them + ROOK] | self.position.pieces[them + QUEEN]
        )
        return heavy == 0 and self.position.pieces[them + PAWN] == bit(to_square(move))

    # --- The end of the game -----------------------------------------------------------------------------------------

    def end_score(self, ply: cython.int) -> cython.int:
        """Return the score of a game that is over although there may be legal moves, else NO_SCORE."""
        if self.variant is None:
            return DRAW if is_insufficient_material(self.position) else NO_SCORE
        result: cython.int = self.variant.variant_result()
        if result == UNDECIDED and self.variant.is_dead_draw() and self.variant.can_move():
            return DRAW
        return score_of(result, self.position.side_to_move, ply)

    def score_without_moves(self, ply: cython.int) -> cython.int:
        """Return the score of a node without legal moves."""
        if self.variant is None:
            return mated_in(ply) if self.position.in_check() else DRAW
        return score_of(self.variant.result_without_moves(), self.position.side_to_move, ply)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def score_of(result: cython.int, us: cython.int, ply: cython.int) -> cython.int:
    """Return the score of a result for the side to move: a win counts as a mate. NO_SCORE if it is undecided."""
    if result == UNDECIDED:
        return NO_SCORE
    if result == DRAWN:
        return DRAW
    return -mated_in(ply) if result == us else mated_in(ply)
