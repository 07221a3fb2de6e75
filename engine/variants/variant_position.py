# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What the positions of all variants have in common: standard chess, in which a subclass changes what differs.

A variant may override `generate`, `make` and `unmake`, `in_check` and `en_passant_is_legal`, and the ends of its games:
`variant_result`, `result_without_moves`, `cannot_win`, `is_dead_draw`. What it knows beside the board is in two
numbers, `extra` and `promoted`, which the key includes. What a search wants to know of the rules follows from these,
but some variants must or can answer in another way.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.engine.core.attacks import KING_ATTACKS
from cython.cimports.engine.core.bitboard import advance, lsb, u64
from cython.cimports.engine.core.checks import gives_check
from cython.cimports.engine.core.move import CAPTURE, QUIET, from_square, to_square
from cython.cimports.engine.core.movegen import generate, is_legal
from cython.cimports.engine.core.params import EXCHANGE_VALUE
from cython.cimports.engine.core.pieces import KIND_OF, KINDS, KING, NO_SQUARE, PAWN
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.see import exchange_wins
from cython.cimports.engine.core.zobrist import mix64

from engine.core.perft import check_depth

if not cython.compiled:
    DRAWN, UNDECIDED = 2, 3        # beside WHITE and BLACK: how a game stands
    MAX_VARIANT_MOVES = 1024       # `tests/engine/variants/test_moves.py` proves that no position has more
    # Centipawns, for what wins the game. 8 times this and a quarter of the capture history fit into the 16 bits of a
    # rank of the move picker.
    MOST_GAIN = 3400


@cython.cclass
class VariantPosition(Position):
    """A position of a variant. Of the numbers in `undo_variant`, two belong to each ply, for what `unmake` needs.

    Properties of the variant, all true unless it says otherwise:

    - `has_fifty_move_rule`: a hundred half-moves without a capture or pawn move are a draw;
    - `allows_null_move`: to pass is hardly ever an advantage, so that a search may try it;
    - `has_plain_exchanges`: a capture takes one piece off the board for good, and is worth that piece;
    - `can_move_back`: pieces that move there and back bring back the position.
    """

    def __init__(self) -> None:
        Position.__init__(self)
        self.has_fifty_move_rule = self.allows_null_move = self.has_plain_exchanges = self.can_move_back = True

    def begin(self, extra: int, promoted: int) -> None:
        """Complete `set_up` by what the variant knows beside the board."""
        self.extra, self.promoted = extra, promoted
        self.key ^= self.extra_key()

    # --- What a variant may change -------------------------------------------------------------------------------

    def generate(self, moves: cython.p_int, start: cython.int, tactical_only: cython.bint) -> cython.int:
        """Write the moves that are legal while the game is not over to moves[start:] and return their end."""
        return generate(self, moves, start, tactical_only)

    def variant_result(self) -> cython.int:
        """Return who has won by the variant's own rules: WHITE, BLACK, DRAWN or UNDECIDED."""
        return UNDECIDED

    def result_without_moves(self) -> cython.int:
        """Return the result if the side to move has no legal move: mate or stalemate."""
        return self.side_to_move ^ 1 if self.in_check() else DRAWN

    def cannot_win(self, colour: int) -> bool:
        """Return whether the side cannot win even with the opponent's help."""
        return False

    def is_dead_draw(self) -> cython.bint:
        """Return whether nobody can win, so that Lichess ends a game that no other rule ends. Searches ask often."""
        return False

    # --- What a search asks of a game that is not over -------------------------------------------------------------

    def is_legal(self, move: cython.int) -> cython.bint:
        """Return whether this move, perhaps of another position, is legal here."""
        return is_legal(self, move)

    def is_forced(self) -> cython.bint:
        """Return whether the rules leave few moves (check, forced captures): the search uses no static evaluation."""
        return self.in_check()

    def is_forcing(self, move: cython.int) -> cython.bint:
        """Return whether a legal quiet move gives check, threatens to end the game, or forces a capture."""
        return gives_check(self, move)

    def is_zugzwang_unlikely(self) -> cython.bint:
        """Return whether the side to move is unlikely to be in zugzwang."""
        return self.has_pieces(self.side_to_move)

    def gain(self, move: cython.int) -> cython.int:
        """Return what a capture wins at once, in centipawns, -MOST_GAIN to MOST_GAIN."""
        return EXCHANGE_VALUE[KIND_OF[self.board[to_square(move)]]]

    def exchange_wins(self, move: cython.int, threshold: cython.int) -> cython.bint:
        """Return whether the move wins at least `threshold` centipawns after the exchange that follows."""
        return exchange_wins(self, move, threshold)

    # --- What follows from it ------------------------------------------------------------------------------------

    def is_generated(self, move: cython.int) -> cython.bint:
        """Return whether the move is legal, by generating all: `is_legal` for any variant."""
        moves = cython.declare(cython.int[MAX_VARIANT_MOVES])
        end: cython.int = self.generate(moves, 0, False)
        index: cython.int
        for index in range(end):
            if moves[index] == move:
                return True
        return False

    def legal(self, moves: cython.p_int) -> cython.int:
        """Write the legal moves to an array of MAX_VARIANT_MOVES places; return how many there are."""
        return self.generate(moves, 0, False) if self.variant_result() == UNDECIDED else 0

    def add_king_moves(self, moves: cython.p_int, end: cython.int, allowed: u64) -> cython.int:
        """Append the steps of all kings onto `allowed` squares, also attacked ones; return the new end."""
        us: cython.int = self.side_to_move
        kings: u64 = self.pieces[us * KINDS + KING]
        while kings:
            targets: u64 = KING_ATTACKS[lsb(kings)] & allowed
            while targets:
                flag: cython.int = CAPTURE if self.colours[us ^ 1] >> lsb(targets) & 1 else QUIET
                moves[end] = lsb(kings) | lsb(targets) << 6 | flag << 12
                end += 1
                targets &= targets - 1
            kings &= kings - 1
        return end

    def can_move(self) -> cython.bint:
        """Return whether the side to move has a legal move, in a game that is not over."""
        moves = cython.declare(cython.int[MAX_VARIANT_MOVES])
        return self.generate(moves, 0, False) != 0

    def is_stuck(self) -> cython.bint:
        """Return whether a side that is likely to be in zugzwang has no legal move at all."""
        return not self.is_zugzwang_unlikely() and not self.can_move()

    def extra_key(self) -> u64:
        """Return the part of the key that is not about the board."""
        return mix64(self.extra ^ mix64(self.promoted))

    def remember(self) -> cython.void:
        """Store `extra` and `promoted` for `recall`, before a move."""
        self.undo_variant[2 * self.height] = self.extra
        self.undo_variant[2 * self.height + 1] = self.promoted

    def recall(self) -> cython.void:
        """Restore what `remember` stored, after the move is unmade."""
        self.extra = self.undo_variant[2 * self.height]
        self.promoted = self.undo_variant[2 * self.height + 1]

    def has_only_king(self, colour: cython.int) -> cython.bint:
        """Return whether the side has nothing but kings."""
        return self.colours[colour] == self.pieces[colour * KINDS + KING]

    def pawns_are_stuck(self, colour: cython.int) -> cython.bint:
        """Return whether each pawn of the side stands before a pawn and could not move if its side were to move."""
        pawns: u64 = self.pieces[PAWN] | self.pieces[KINDS + PAWN]
        if advance(self.pieces[colour * KINDS + PAWN], colour) & ~pawns:
            return False
        moves = cython.declare(cython.int[MAX_VARIANT_MOVES])
        us: cython.int = self.side_to_move
        en_passant: cython.int = self.en_passant
        self.side_to_move, self.en_passant = colour, en_passant if colour == us else NO_SQUARE
        end: cython.int = self.generate(moves, 0, True)
        self.side_to_move, self.en_passant = us, en_passant
        index: cython.int
        for index in range(end):
            if KIND_OF[self.board[from_square(moves[index])]] == PAWN:
                return False
        return True

    def leaves(self, depth: cython.int) -> u64:
        """Return the leaves of the tree of legal moves; the last ply's moves are counted without making them."""
        if depth == 0:
            return 1
        moves = cython.declare(cython.int[MAX_VARIANT_MOVES])
        end: cython.int = self.legal(moves)
        if depth == 1:
            return end
        total: u64 = 0
        index: cython.int
        for index in range(end):
            self.make(moves[index])
            total += self.leaves(depth - 1)
            self.unmake(moves[index])
        return total

    def _copy_ply(self, height: cython.int, other: Position, other_height: cython.int) -> cython.void:
        Position._copy_ply(self, height, other, other_height)
        self.undo_variant[2 * height] = cython.cast(VariantPosition, other).undo_variant[2 * other_height]
        self.undo_variant[2 * height + 1] = cython.cast(VariantPosition, other).undo_variant[2 * other_height + 1]

    # --- For Python callers --------------------------------------------------------------------------------------

    def copy_from(self, other: VariantPosition) -> None:
        """Copy another position of the same variant, including the plies that can be unmade."""
        Position.copy_from(self, other)
        self.extra, self.promoted = other.extra, other.promoted

    def state(self) -> dict[str, Any]:
        """Return every field that a move may change, by name."""
        return {**Position.state(self), "extra": self.extra, "promoted": self.promoted}

    def legal_moves(self) -> list[int]:
        """Return the legal moves, packed as in `move.py`."""
        moves = cython.declare(cython.int[MAX_VARIANT_MOVES])
        end: cython.int = self.legal(moves)
        return [moves[index] for index in range(end)]

    def perft(self, depth: int) -> int:
        """Return the number of leaves at `depth` plies. Raises ValueError."""
        check_depth(depth)
        plies: cython.int = depth
        total: u64
        with cython.nogil:
            total = self.leaves(plies)
        return total

    def result(self) -> int:
        """Return who has won by the variant's own rules: 0 White, 1 Black, 2 drawn, 3 undecided."""
        return self.variant_result()

    def result_if_stuck(self) -> int:
        """Return the result for a side to move that has no legal move, as numbered by `result`."""
        return self.result_without_moves()

    def is_dead(self) -> bool:
        """Return whether nobody can win."""
        return self.is_dead_draw()

    def is_checkmate(self) -> bool:
        """Return whether the side to move is checkmated, also if the game is over by the variant's own rules."""
        return self.in_check() and not self.can_move()

    def opponent_is_in_check(self) -> bool:
        """Return whether the side that is not to move is in check, which no legal position allows."""
        self.side_to_move ^= 1
        found: cython.bint = self.in_check()
        self.side_to_move ^= 1
        return found
