# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Atomic: a capture explodes, and with it all pieces around except pawns. The side that explodes the enemy king wins.

A king cannot capture, and no side may explode its own king. Kings that touch cannot be taken, so they are not in check.
"""

from __future__ import annotations

import cython
from cython.cimports.engine.core.attacks import KING_ATTACKS
from cython.cimports.engine.core.bitboard import ALL_SQUARES, bit, lsb, msb, u64
from cython.cimports.engine.core.move import (
    CASTLING,
    EN_PASSANT,
    castled_king,
    castled_rook,
    flag_of,
    from_square,
    is_capture,
    to_square,
)
from cython.cimports.engine.core.movegen import add_castling, add_unpinned_moves, attacked_squares
from cython.cimports.engine.core.params import EXCHANGE_VALUE
from cython.cimports.engine.core.pieces import BLACK, KIND_OF, KINDS, KING, NO_PIECE, PAWN, WHITE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.zobrist import CASTLING_KEY, PIECE_KEY
from cython.cimports.engine.variants.insufficient_material import atomic_cannot_be_won, atomic_is_closed
from cython.cimports.engine.variants.variant_position import MOST_GAIN, UNDECIDED, VariantPosition


@cython.final
@cython.cclass
class AtomicPosition(VariantPosition):
    """A position of atomic chess. `undo_variant` has the exploded squares of a ply, and the pieces, four bits each."""

    def __init__(self) -> None:
        VariantPosition.__init__(self)
        self.has_plain_exchanges = False

    def generate(self, moves: cython.p_int, start: cython.int, tactical_only: cython.bint) -> cython.int:
        """Write the legal moves to moves[start:] and return their end."""
        us: cython.int = self.side_to_move
        end: cython.int = add_unpinned_moves(self, moves, start, ~self.colours[us] & ALL_SQUARES, tactical_only)
        if not tactical_only:
            end = self.add_king_moves(moves, end, ~self.occupied & ALL_SQUARES)
            if self.castling_rights >> us * 2 & 3 and not self.in_check():
                end = add_castling(self, moves, end, 0, 0)
        index: cython.int
        kept: cython.int = start
        for index in range(start, end):
            if self.is_safe(moves[index]):
                moves[kept] = moves[index]
                kept += 1
        return kept

    def is_safe(self, move: cython.int) -> cython.bint:
        """Return whether a move explodes the enemy king, or leaves the own king out of check; never exploding both."""
        origin: cython.int = from_square(move)
        target: cython.int = to_square(move)
        us: cython.int = self.side_to_move
        king: cython.int = self.king_square(us)
        enemy_king: u64 = self.pieces[(us ^ 1) * KINDS + KING]
        occupied: u64 = self.occupied & ~bit(origin)
        exploded: u64 = 0
        if flag_of(move) == CASTLING:
            if self.is_blocked_by_attack(origin, target, occupied):
                return False
            king = castled_king(origin, target)
            occupied = (occupied & ~bit(target)) | bit(king) | bit(castled_rook(origin, target))
        elif is_capture(move):
            exploded = self.explosion(target)
            if exploded & bit(king):
                return False
            if exploded & enemy_king:
                return True
            if flag_of(move) == EN_PASSANT:
                exploded |= bit(target ^ 8)
            occupied &= ~exploded
        else:
            king = target if origin == king else king
            occupied |= bit(target)
        if KING_ATTACKS[king] & enemy_king:
            return True
        return not self.attackers(king, us ^ 1, occupied) & ~exploded

    def is_blocked_by_attack(self, king: cython.int, rook: cython.int, occupied: u64) -> cython.bint:
        """Return whether a square that the castling king passes is attacked, and does not touch a king."""
        us: cython.int = self.side_to_move
        way: u64 = self.castling_safe[2 * us + (0 if rook > king else 1)]
        way &= ~bit(castled_king(king, rook))      # there the rook may shield it
        return way & ~KING_ATTACKS[self.king_square(us ^ 1)] & attacked_squares(self, us ^ 1, occupied) != 0

    def explosion(self, square: cython.int) -> u64:
        """Return the squares that a capture on this square clears."""
        pawns: u64 = self.pieces[PAWN] | self.pieces[KINDS + PAWN]
        return (KING_ATTACKS[square] & self.occupied & ~pawns) | bit(square)

    def make(self, move: cython.int) -> cython.void:
        """Play a legal move."""
        Position.make(self, move)
        if is_capture(move):
            self.explode(self.explosion(to_square(move)))

    def explode(self, squares: u64) -> cython.void:
        """Clear the squares of the capture just made."""
        height: cython.int = self.height - 1
        pieces: u64 = 0
        rights: cython.int = self.castling_rights
        self.undo_variant[2 * height] = squares
        while squares:
            square: cython.int = lsb(squares)
            piece: cython.int = self.board[square]
            pieces = pieces << 4 | piece
            self.remove(piece, square)
            self.key ^= PIECE_KEY[piece * 64 + square]
            if KIND_OF[piece] == PAWN:
                self.pawn_key ^= PIECE_KEY[piece * 64 + square]
            rights &= self.rights_kept[square]
            squares &= squares - 1
        self.undo_variant[2 * height + 1] = pieces
        self.key ^= CASTLING_KEY[self.castling_rights] ^ CASTLING_KEY[rights]
        self.castling_rights = rights

    def unmake(self, move: cython.int) -> cython.void:
        """Unmake the last move."""
        if is_capture(move):
            squares: u64 = self.undo_variant[2 * self.height - 2]
            pieces: u64 = self.undo_variant[2 * self.height - 1]
            while squares:
                self.put(pieces & 15, msb(squares))
                pieces >>= 4
                squares ^= bit(msb(squares))
        Position.unmake(self, move)

    def in_check(self) -> cython.bint:
        """Return whether the king of the side to move could be taken: not if it touches the enemy's, or is gone."""
        king: u64 = self.pieces[self.side_to_move * KINDS + KING]
        if not king or KING_ATTACKS[lsb(king)] & self.pieces[(self.side_to_move ^ 1) * KINDS + KING]:
            return False
        return self.is_attacked(lsb(king), self.side_to_move ^ 1)

    def en_passant_is_legal(self, origin: cython.int, target: cython.int) -> cython.bint:
        """Return whether the pawn on `origin` may legally capture en passant on `target`."""
        return self.variant_result() == UNDECIDED and self.is_safe(origin | target << 6 | EN_PASSANT << 12)

    def is_legal(self, move: cython.int) -> cython.bint:
        """Return whether this move, perhaps of another position, is legal here."""
        return self.is_generated(move)

    def gain(self, move: cython.int) -> cython.int:
        """Return what the explosion takes from the enemy less what it takes from us, most for the king."""
        if not is_capture(move):
            return 0
        target: cython.int = to_square(move)
        them: cython.int = self.side_to_move ^ 1
        exploded: u64 = self.explosion(target) | bit(from_square(move))
        if exploded & self.pieces[them * KINDS + KING]:
            return MOST_GAIN
        if flag_of(move) == EN_PASSANT:
            exploded |= bit(target ^ 8)
        gain: cython.int = 0
        while exploded:
            piece: cython.int = self.board[lsb(exploded)]
            if piece != NO_PIECE:
                value: cython.int = EXCHANGE_VALUE[KIND_OF[piece]]
                gain += value if (piece >= KINDS) == them else -value
            exploded &= exploded - 1
        return max(-MOST_GAIN, min(gain, MOST_GAIN))

    def exchange_wins(self, move: cython.int, threshold: cython.int) -> cython.bint:
        """Return whether the explosion wins at least `threshold` centipawns. Nothing can recapture."""
        return not is_capture(move) or self.gain(move) >= threshold

    def variant_result(self) -> cython.int:
        """Return the side whose enemy's king has exploded."""
        if not self.pieces[KING]:
            return BLACK
        return UNDECIDED if self.pieces[KINDS + KING] else WHITE

    def cannot_win(self, colour: int) -> bool:
        """Return whether the side has only its king."""
        return self.has_only_king(colour)

    def is_dead_draw(self) -> cython.bint:
        """Return whether nobody can win by the material, or because the pawns are stuck and nothing can explode."""
        if self.variant_result() != UNDECIDED:
            return False
        if atomic_is_closed(self) and self.pawns_are_stuck(WHITE) and self.pawns_are_stuck(BLACK):
            return True
        return atomic_cannot_be_won(self)
