# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Crazyhouse: a captured piece changes sides, and may be dropped on an empty square instead of a move.

A promoted piece is a pawn again when it is captured. There is no fifty-move rule, and always enough material to mate.
Captures and pawn moves can be undone by drops, so that positions repeat across them: here `halfmove_clock` counts all
plies, and `fen_clock` those since the last capture or pawn move, which only a FEN tells.
`extra` holds the pockets: five bits for each kind from pawn to queen, White's below Black's; `promoted` the squares of
promoted pieces.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.engine.core.attacks import BETWEEN, PAWN_ATTACKS, piece_attacks
from cython.cimports.engine.core.bitboard import ALL_SQUARES, END_RANKS, bit, lsb, u64
from cython.cimports.engine.core.checks import gives_check
from cython.cimports.engine.core.move import (
    DROP,
    EN_PASSANT,
    flag_of,
    from_square,
    is_capture,
    is_drop,
    is_promotion,
    to_square,
)
from cython.cimports.engine.core.movegen import generate, is_legal
from cython.cimports.engine.core.params import EXCHANGE_VALUE
from cython.cimports.engine.core.pieces import KIND_OF, KINDS, PAWN, QUEEN
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.see import exchange_wins
from cython.cimports.engine.core.zobrist import PIECE_KEY
from cython.cimports.engine.variants.variant_position import VariantPosition


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def place_in_pocket(colour: cython.int, kind: cython.int) -> cython.int:
    """Return the lowest bit of the count of a kind in `extra`."""
    return 5 * (5 * colour + kind)


@cython.final
@cython.cclass
class CrazyhousePosition(VariantPosition):
    """A position of crazyhouse."""

    def __init__(self) -> None:
        VariantPosition.__init__(self)
        self.has_fifty_move_rule = self.has_plain_exchanges = False

    def begin(self, extra: int, promoted: int) -> None:
        """Complete `set_up` by pockets and promoted pieces."""
        VariantPosition.begin(self, extra, promoted)
        self.fen_clock = self.halfmove_clock

    def generate(self, moves: cython.p_int, start: cython.int, tactical_only: cython.bint) -> cython.int:
        """Write the legal moves and drops to moves[start:] and return their end. A drop counts as quiet."""
        end: cython.int = generate(self, moves, start, tactical_only)
        return end if tactical_only else self.add_drops(moves, end)

    def add_drops(self, moves: cython.p_int, end: cython.int) -> cython.int:
        """Append the drops, in check only those between king and checker; return the new end."""
        us: cython.int = self.side_to_move
        king: cython.int = self.king_square(us)
        allowed: u64 = ~self.occupied & ALL_SQUARES
        checkers: u64 = self.attackers(king, us ^ 1, self.occupied)
        if checkers & (checkers - 1):
            return end
        if checkers:
            allowed &= BETWEEN[king * 64 + lsb(checkers)]
        kind: cython.int
        for kind in range(PAWN, QUEEN + 1):
            if self.extra >> place_in_pocket(us, kind) & 31:
                targets: u64 = allowed & ~END_RANKS if kind == PAWN else allowed
                while targets:
                    moves[end] = kind | lsb(targets) << 6 | DROP << 12
                    end += 1
                    targets &= targets - 1
        return end

    def is_legal(self, move: cython.int) -> cython.bint:
        """Return whether this move or drop, perhaps of another position, is legal here."""
        if not is_drop(move):
            return is_legal(self, move)
        kind: cython.int = from_square(move)
        target: u64 = bit(to_square(move))
        if kind > QUEEN or not self.extra >> place_in_pocket(self.side_to_move, kind) & 31 or self.occupied & target:
            return False
        if kind == PAWN and target & END_RANKS:
            return False
        return not self.in_check() or self.is_generated(move)

    def is_forcing(self, move: cython.int) -> cython.bint:
        """Return whether a legal move or drop gives check."""
        if not is_drop(move):
            return gives_check(self, move)
        kind: cython.int = from_square(move)
        king: cython.int = self.king_square(self.side_to_move ^ 1)
        target: u64 = bit(to_square(move))
        if kind == PAWN:
            return PAWN_ATTACKS[(self.side_to_move ^ 1) * 64 + king] & target != 0
        return piece_attacks(kind, king, self.occupied) & target != 0

    def is_zugzwang_unlikely(self) -> cython.bint:
        """Return True: zugzwang is all but unknown."""
        return True

    def exchange_wins(self, move: cython.int, threshold: cython.int) -> cython.bint:
        """Return whether the move wins at least `threshold` centipawns; a drop may only lose what it drops."""
        if not is_drop(move):
            return exchange_wins(self, move, threshold)
        target: cython.int = to_square(move)
        them: cython.int = self.side_to_move ^ 1
        value: cython.int = EXCHANGE_VALUE[from_square(move)]
        if value <= -threshold or not self.is_attacked(target, them):
            return threshold <= 0
        guarded: cython.bint = self.is_attacked(target, self.side_to_move)
        return guarded and not PAWN_ATTACKS[self.side_to_move * 64 + target] & self.pieces[them * KINDS + PAWN]

    def make(self, move: cython.int) -> cython.void:
        """Play a legal move or drop."""
        self.remember()
        self.undo_fen_clock[self.height] = self.fen_clock
        before: u64 = self.extra_key()
        clock: cython.int = self.halfmove_clock + 1
        if flag_of(move) == DROP:
            self.drop(from_square(move), to_square(move))
        else:
            self.follow_pieces(move)
            Position.make(self, move)
        self.fen_clock = self.fen_clock + 1 if self.halfmove_clock else 0
        self.halfmove_clock = clock
        self.key ^= before ^ self.extra_key()

    def follow_pieces(self, move: cython.int) -> cython.void:
        """Update pockets and promoted pieces for a move about to be made."""
        one: u64 = 1
        origin: u64 = bit(from_square(move))
        target: u64 = bit(to_square(move))
        if is_capture(move):
            square: cython.int = to_square(move) ^ 8 if flag_of(move) == EN_PASSANT else to_square(move)
            kind: cython.int = PAWN if self.promoted & target else KIND_OF[self.board[square]]
            self.extra += one << place_in_pocket(self.side_to_move, kind)
            self.promoted &= ~target
        if is_promotion(move):
            self.promoted |= target
        elif self.promoted & origin:
            self.promoted ^= origin | target

    def drop(self, kind: cython.int, square: cython.int) -> cython.void:
        """Place a piece from the pocket: a null move and a new piece."""
        one: u64 = 1
        us: cython.int = self.side_to_move
        piece: cython.int = us * KINDS + kind
        self.undo_castling[self.height] = self.castling_rights
        self.undo_pawn_key[self.height] = self.pawn_key
        self.make_null()
        self.halfmove_clock = kind != PAWN
        self.put(piece, square)
        self.key ^= PIECE_KEY[piece * 64 + square]
        if kind == PAWN:
            self.pawn_key ^= PIECE_KEY[piece * 64 + square]
        self.extra -= one << place_in_pocket(us, kind)

    def unmake(self, move: cython.int) -> cython.void:
        """Unmake the last move or drop."""
        if flag_of(move) == DROP:
            self.remove(self.board[to_square(move)], to_square(move))
            self.unmake_null()
            self.pawn_key = self.undo_pawn_key[self.height]
        else:
            Position.unmake(self, move)
        self.fen_clock = self.undo_fen_clock[self.height]
        self.recall()

    def _copy_ply(self, height: cython.int, other: Position, other_height: cython.int) -> cython.void:
        VariantPosition._copy_ply(self, height, other, other_height)
        self.undo_fen_clock[height] = cython.cast(CrazyhousePosition, other).undo_fen_clock[other_height]

    def copy_from(self, other: CrazyhousePosition) -> None:
        """Copy another position of crazyhouse, including the plies that can be unmade."""
        VariantPosition.copy_from(self, other)
        self.fen_clock = other.fen_clock

    def state(self) -> dict[str, Any]:
        """Return every field that a move may change, by name."""
        of_fen = {"halfmove_clock": self.fen_clock, "reversible_plies": self.halfmove_clock}
        return {**VariantPosition.state(self), **of_fen}
