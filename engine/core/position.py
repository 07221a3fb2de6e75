# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""A position: the board, castling rights and keys; making and unmaking moves; attackers of a square.

Text is read in `fen.py`, legal moves are found in `movegen.py`, draws in `draws.py`. `make` does not check its move.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.engine.core.attacks import (
    BETWEEN,
    KING_ATTACKS,
    KNIGHT_ATTACKS,
    PAWN_ATTACKS,
    bishop_attacks,
    rook_attacks,
)
from cython.cimports.engine.core.bitboard import bit, lsb, u64
from cython.cimports.engine.core.move import (
    CASTLING,
    DOUBLE_PUSH,
    EN_PASSANT,
    castled_king,
    castled_rook,
    flag_of,
    from_square,
    is_capture,
    is_promotion,
    promoted_kind,
    to_square,
)
from cython.cimports.engine.core.pieces import (
    BISHOP,
    BLACK,
    KINDS,
    KING,
    KNIGHT,
    NO_PIECE,
    NO_SQUARE,
    PAWN,
    QUEEN,
    ROOK,
    WHITE,
)
from cython.cimports.engine.core.zobrist import BLACK_KEY, CASTLING_KEY, EN_PASSANT_KEY, PIECE_KEY

from engine.core import params

if not cython.compiled:
    STACK = 1024                   # plies that can be unmade: those of the game and those of a search on top
    GAME_STACK = 512               # ... of the game: beyond these, `commit` drops the oldest
    PIECE_SQUARE = [0] * (NO_PIECE * 64)    # [piece * 64 + square], packed, negative for Black; the evaluation fills it
    PHASE = [0] * NO_PIECE         # [piece]

for _piece in range(NO_PIECE):
    PHASE[_piece] = params.PHASE_VALUE[_piece % KINDS]


@cython.cclass
class Position:
    """A chess position and the plies that can be unmade. Castling rights are the bits K 1, Q 2, k 4, q 8."""

    def __init__(self) -> None:
        """Begin with an empty board, which `set_up` fills."""
        index: cython.int
        for index in range(64):
            self.board[index] = NO_PIECE
            self.rights_kept[index] = 15
        for index in range(4):
            self.castling_rook[index] = NO_SQUARE
        self.en_passant = NO_SQUARE

    def set_up(self, board: list, side_to_move: int, rooks: list, en_passant: int, halfmove_clock: int) -> None:
        """Place 64 pieces from a1 on; `rooks` are the squares of the castling rooks K Q k q, or NO_SQUARE.

        The position must be legal; `fen.py` checks that. An en passant square without a legal capture is dropped, so
        that positions with the same legal moves have the same key.
        """
        square: cython.int
        for square in range(64):
            if board[square] != NO_PIECE:
                self.put(board[square], square)
                self.key ^= PIECE_KEY[board[square] * 64 + square]
                if board[square] % KINDS == PAWN:
                    self.pawn_key ^= PIECE_KEY[board[square] * 64 + square]
        self.side_to_move = side_to_move
        self.halfmove_clock = halfmove_clock
        for right in range(4):
            if rooks[right] != NO_SQUARE:
                self._grant_castling(right, rooks[right])
        self.key ^= CASTLING_KEY[self.castling_rights]
        if side_to_move == BLACK:
            self.key ^= BLACK_KEY
        if en_passant != NO_SQUARE and self.en_passant_is_possible(en_passant):
            self.en_passant = en_passant
            self.key ^= EN_PASSANT_KEY[en_passant]

    def _grant_castling(self, right: cython.int, rook: cython.int) -> None:
        """Grant one castling right; record which squares must be empty and which not attacked."""
        king: cython.int = self.king_square(right >> 1)
        king_target: cython.int = castled_king(king, rook)
        rook_target: cython.int = castled_rook(king, rook)
        king_path: u64 = BETWEEN[king * 64 + king_target] | bit(king_target)
        rook_path: u64 = BETWEEN[rook * 64 + rook_target] | bit(rook_target)
        self.castling_empty[right] = (king_path | rook_path) & ~(bit(king) | bit(rook))
        self.castling_safe[right] = king_path
        self.castling_rook[right] = rook
        self.castling_rights |= 1 << right
        self.rights_kept[rook] &= 15 ^ (1 << right)
        self.rights_kept[king] &= 12 if right < 2 else 3

    @cython.final
    def put(self, piece: cython.int, square: cython.int) -> cython.void:
        """Place a piece on an empty square; the caller updates the key."""
        here: u64 = bit(square)
        self.pieces[piece] |= here
        self.colours[piece >= KINDS] |= here
        self.occupied |= here
        self.board[square] = piece
        self.piece_square += PIECE_SQUARE[piece * 64 + square]
        self.phase += PHASE[piece]

    @cython.final
    def remove(self, piece: cython.int, square: cython.int) -> cython.void:
        """Take a piece off its square; the caller updates the key."""
        here: u64 = bit(square)
        self.pieces[piece] ^= here
        self.colours[piece >= KINDS] ^= here
        self.occupied ^= here
        self.board[square] = NO_PIECE
        self.piece_square -= PIECE_SQUARE[piece * 64 + square]
        self.phase -= PHASE[piece]

    @cython.final
    def shift(self, piece: cython.int, origin: cython.int, target: cython.int) -> cython.void:
        """Move a piece to an empty square; the caller updates the key."""
        both: u64 = bit(origin) | bit(target)
        self.pieces[piece] ^= both
        self.colours[piece >= KINDS] ^= both
        self.occupied ^= both
        self.board[origin] = NO_PIECE
        self.board[target] = piece
        self.piece_square += PIECE_SQUARE[piece * 64 + target] - PIECE_SQUARE[piece * 64 + origin]

    def make(self, move: cython.int) -> cython.void:
        """Play a legal move."""
        origin: cython.int = from_square(move)
        target: cython.int = to_square(move)
        flag: cython.int = flag_of(move)
        us: cython.int = self.side_to_move
        piece: cython.int = self.board[origin]
        captured: cython.int = NO_PIECE
        height: cython.int = self.height
        self.undo_castling[height] = self.castling_rights
        self.undo_en_passant[height] = self.en_passant
        self.undo_halfmove_clock[height] = self.halfmove_clock
        self.undo_key[height] = self.key
        self.undo_pawn_key[height] = self.pawn_key
        self.halfmove_clock += 1
        self.key ^= CASTLING_KEY[self.castling_rights] ^ EN_PASSANT_KEY[self.en_passant] ^ BLACK_KEY
        self.en_passant = NO_SQUARE
        self.side_to_move = us ^ 1
        self.height = height + 1
        self.castling_rights &= self.rights_kept[origin] & self.rights_kept[target]
        self.key ^= CASTLING_KEY[self.castling_rights]
        if flag == CASTLING:
            self.castle(piece, origin, target)
            return
        if is_capture(move):
            square: cython.int = target ^ 8 if flag == EN_PASSANT else target
            captured = self.board[square]
            self.remove(captured, square)
            self.key ^= PIECE_KEY[captured * 64 + square]
            if captured == (us ^ 1) * KINDS + PAWN:
                self.pawn_key ^= PIECE_KEY[captured * 64 + square]
            self.halfmove_clock = 0
        self.undo_captured[height] = captured
        self.shift(piece, origin, target)
        self.key ^= PIECE_KEY[piece * 64 + origin] ^ PIECE_KEY[piece * 64 + target]
        if piece == us * KINDS + PAWN:
            self.pawn_key ^= PIECE_KEY[piece * 64 + origin] ^ PIECE_KEY[piece * 64 + target]
            self.halfmove_clock = 0
            if is_promotion(move):
                self.promote(piece, us * KINDS + promoted_kind(move), target)
            elif flag == DOUBLE_PUSH and self.en_passant_is_possible(target ^ 8):
                self.en_passant = target ^ 8
                self.key ^= EN_PASSANT_KEY[target ^ 8]

    @cython.final
    def key_after(self, move: cython.int) -> u64:
        """Return the key after a legal move, for prefetching; wrong for special moves and some of variants."""
        origin: cython.int = from_square(move)
        target: cython.int = to_square(move)
        piece: cython.int = self.board[origin]
        captured: cython.int = self.board[target]
        rights: cython.int = self.castling_rights
        key: u64 = self.key ^ EN_PASSANT_KEY[self.en_passant] ^ BLACK_KEY
        key ^= CASTLING_KEY[rights] ^ CASTLING_KEY[rights & self.rights_kept[origin] & self.rights_kept[target]]
        key ^= PIECE_KEY[captured * 64 + target]
        return key ^ PIECE_KEY[piece * 64 + origin] ^ PIECE_KEY[piece * 64 + target]

    def unmake(self, move: cython.int) -> cython.void:
        """Unmake the last move."""
        origin: cython.int = from_square(move)
        target: cython.int = to_square(move)
        flag: cython.int = flag_of(move)
        us: cython.int = self.side_to_move ^ 1
        height: cython.int = self.height - 1
        self.height = height
        self.side_to_move = us
        if flag == CASTLING:
            self.uncastle(us * KINDS + KING, origin, target)
        else:
            if is_promotion(move):
                self.remove(self.board[target], target)
                self.put(us * KINDS + PAWN, target)
            self.shift(self.board[target], target, origin)
            if is_capture(move):
                self.put(self.undo_captured[height], target ^ 8 if flag == EN_PASSANT else target)
        self.castling_rights = self.undo_castling[height]
        self.en_passant = self.undo_en_passant[height]
        self.halfmove_clock = self.undo_halfmove_clock[height]
        self.key = self.undo_key[height]
        self.pawn_key = self.undo_pawn_key[height]

    @cython.final
    def promote(self, pawn: cython.int, piece: cython.int, square: cython.int) -> cython.void:
        """Replace the pawn on its last rank by a piece."""
        self.remove(pawn, square)
        self.put(piece, square)
        self.key ^= PIECE_KEY[pawn * 64 + square] ^ PIECE_KEY[piece * 64 + square]
        self.pawn_key ^= PIECE_KEY[pawn * 64 + square]

    @cython.final
    def castle(self, king: cython.int, origin: cython.int, rook_origin: cython.int) -> cython.void:
        """Castle by the rules of Chess960."""
        king_target: cython.int = castled_king(origin, rook_origin)
        rook_target: cython.int = castled_rook(origin, rook_origin)
        rook: cython.int = king - KING + ROOK
        self.remove(king, origin)
        self.remove(rook, rook_origin)
        self.put(king, king_target)
        self.put(rook, rook_target)
        self.key ^= PIECE_KEY[king * 64 + origin] ^ PIECE_KEY[king * 64 + king_target]
        self.key ^= PIECE_KEY[rook * 64 + rook_origin] ^ PIECE_KEY[rook * 64 + rook_target]

    @cython.final
    def uncastle(self, king: cython.int, origin: cython.int, rook_origin: cython.int) -> cython.void:
        """Undo `castle`."""
        rook: cython.int = king - KING + ROOK
        self.remove(king, castled_king(origin, rook_origin))
        self.remove(rook, castled_rook(origin, rook_origin))
        self.put(king, origin)
        self.put(rook, rook_origin)

    @cython.final
    def make_null(self) -> cython.void:
        """Make a null move. It resets the halfmove clock: repetitions do not count across it."""
        height: cython.int = self.height
        self.undo_en_passant[height] = self.en_passant
        self.undo_halfmove_clock[height] = self.halfmove_clock
        self.undo_key[height] = self.key
        self.key ^= EN_PASSANT_KEY[self.en_passant] ^ BLACK_KEY
        self.en_passant = NO_SQUARE
        self.halfmove_clock = 0
        self.side_to_move ^= 1
        self.height = height + 1

    @cython.final
    def unmake_null(self) -> cython.void:
        """Unmake a null move."""
        height: cython.int = self.height - 1
        self.height = height
        self.side_to_move ^= 1
        self.en_passant = self.undo_en_passant[height]
        self.halfmove_clock = self.undo_halfmove_clock[height]
        self.key = self.undo_key[height]

    @cython.final
    def attackers(self, square: cython.int, by: cython.int, occupied: u64) -> u64:
        """Return the pieces of colour `by` that attack the square, given the occupied squares."""
        first: cython.int = by * KINDS
        queens: u64 = self.pieces[first + QUEEN]
        return (
            (KNIGHT_ATTACKS[square] & self.pieces[first + KNIGHT])
            | (PAWN_ATTACKS[(by ^ 1) * 64 + square] & self.pieces[first + PAWN])
            | (KING_ATTACKS[square] & self.pieces[first + KING])
            | (bishop_attacks(square, occupied) & (self.pieces[first + BISHOP] | queens))
            | (rook_attacks(square, occupied) & (self.pieces[first + ROOK] | queens))
        )

    @cython.final
    def is_attacked(self, square: cython.int, by: cython.int) -> cython.bint:
        """Return whether `by` attacks the square; faster than `attackers`."""
        first: cython.int = by * KINDS
        if KNIGHT_ATTACKS[square] & self.pieces[first + KNIGHT]:
            return True
        if PAWN_ATTACKS[(by ^ 1) * 64 + square] & self.pieces[first + PAWN]:
            return True
        if KING_ATTACKS[square] & self.pieces[first + KING]:
            return True
        queens: u64 = self.pieces[first + QUEEN]
        if bishop_attacks(square, self.occupied) & (self.pieces[first + BISHOP] | queens):
            return True
        return rook_attacks(square, self.occupied) & (self.pieces[first + ROOK] | queens) != 0

    @cython.final
    def king_square(self, colour: cython.int) -> cython.int:
        """Return the king's square."""
        return lsb(self.pieces[colour * KINDS + KING])

    def in_check(self) -> cython.bint:
        """Return whether the side to move is in check."""
        return self.is_attacked(self.king_square(self.side_to_move), self.side_to_move ^ 1)

    def en_passant_is_legal(self, origin: cython.int, target: cython.int) -> cython.bint:
        """Return whether the pawn on `origin` may legally capture en passant on `target`.

        Both pawns leave their rank at once, which no pin mask covers, so this looks at the board after the capture.
        """
        them: cython.int = self.side_to_move ^ 1
        captured: u64 = bit(target ^ 8)
        occupied: u64 = (self.occupied ^ bit(origin) ^ captured) | bit(target)
        return not self.attackers(self.king_square(self.side_to_move), them, occupied) & ~captured

    @cython.final
    def en_passant_is_possible(self, target: cython.int) -> cython.bint:
        """Return whether any pawn of the side to move may capture en passant on `target`."""
        us: cython.int = self.side_to_move
        pawns: u64 = PAWN_ATTACKS[(us ^ 1) * 64 + target] & self.pieces[us * KINDS + PAWN]
        while pawns:
            if self.en_passant_is_legal(lsb(pawns), target):
                return True
            pawns &= pawns - 1
        return False

    @cython.final
    def has_pieces(self, colour: cython.int) -> cython.bint:
        """Return whether the side has more than king and pawns."""
        first: cython.int = colour * KINDS
        return self.colours[colour] != self.pieces[first + PAWN] | self.pieces[first + KING]

    def push(self, move: int) -> None:
        """Play a legal move that `pop` will unmake. Raises IndexError when the stack is full."""
        if self.height >= STACK - 1:
            raise IndexError("more plies than a position can take back")
        self.make(move)

    def pop(self, move: int) -> None:
        """Unmake the last pushed move."""
        self.unmake(move)

    def commit(self, move: int) -> None:
        """Play a move of the game for good; drop plies that cannot be repeated, so that a game may have any length."""
        self.make(move)
        if self.halfmove_clock == 0:
            self.height = 0
        elif self.height > GAME_STACK:
            self._forget(GAME_STACK // 2)

    def _forget(self, plies: cython.int) -> None:
        """Drop the oldest plies from the stack."""
        height: cython.int
        for height in range(self.height - plies):
            self._copy_ply(height, self, height + plies)
        self.height -= plies

    def _copy_ply(self, height: cython.int, other: Position, other_height: cython.int) -> cython.void:
        self.undo_castling[height] = other.undo_castling[other_height]
        self.undo_en_passant[height] = other.undo_en_passant[other_height]
        self.undo_halfmove_clock[height] = other.undo_halfmove_clock[other_height]
        self.undo_captured[height] = other.undo_captured[other_height]
        self.undo_key[height] = other.undo_key[other_height]
        self.undo_pawn_key[height] = other.undo_pawn_key[other_height]

    def copy_from(self, other: Position) -> None:
        """Copy another position, including the plies that can be unmade."""
        index: cython.int
        for index in range(12):
            self.pieces[index] = other.pieces[index]
        for index in range(64):
            self.board[index] = other.board[index]
            self.rights_kept[index] = other.rights_kept[index]
        for index in range(4):
            self.castling_rook[index] = other.castling_rook[index]
            self.castling_empty[index] = other.castling_empty[index]
            self.castling_safe[index] = other.castling_safe[index]
        for index in range(other.height):
            self._copy_ply(index, other, index)
        self.colours[0], self.colours[1], self.occupied = other.colours[0], other.colours[1], other.occupied
        self.side_to_move, self.castling_rights = other.side_to_move, other.castling_rights
        self.en_passant, self.halfmove_clock, self.height = other.en_passant, other.halfmove_clock, other.height
        self.piece_square, self.phase = other.piece_square, other.phase
        self.key, self.pawn_key = other.key, other.pawn_key

    def state(self) -> dict[str, Any]:
        """Return the fields of the position by name, without those for unmaking moves and for the paths of castling."""
        return {
            "board": [self.board[square] for square in range(64)],
            "pieces": [self.pieces[piece] for piece in range(12)],
            "colours": [self.colours[WHITE], self.colours[BLACK]],
            "occupied": self.occupied,
            "side_to_move": self.side_to_move,
            "castling_rights": self.castling_rights,
            "castling_rooks": [self.castling_rook[right] for right in range(4)],
            "en_passant": self.en_passant,
            "halfmove_clock": self.halfmove_clock,
            "height": self.height,
            "piece_square": self.piece_square,
            "phase": self.phase,
            "key": self.key,
            "pawn_key": self.pawn_key,
        }

    def black_to_move(self) -> bool:
        """Return whether Black is to move."""
        return self.side_to_move == BLACK

    def is_check(self) -> bool:
        """Return `in_check` to Python callers."""
        return self.in_check()

    def python_key_after(self, move: int) -> int:
        """Return `key_after` to Python callers."""
        return self.key_after(move)

    def attackers_of(self, square: int, by: int) -> int:
        """Return the pieces of colour `by` that attack the square."""
        return self.attackers(square, by, self.occupied)
