# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The board: pieces, rights and keys; making and taking back moves; who attacks what; repetition.

Knows nothing of texts (`fen.py`) or of which moves are legal (`movegen.py`). `make` trusts its move. Each position sums
PIECE_SQUARE and PHASE over its pieces; `evaluation/piece_square.py` fills these tables.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.engine.core.attacks import (
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

STACK = 1024                       # plies that can be taken back: the game's since its last irreversible move, the
GAME_STACK = 512                   # search's on top; a game never fills more than this

if not cython.compiled:
    PIECE_SQUARE = [0] * 768       # [piece * 64 + square], negative for Black's pieces
    PHASE = [0] * 12               # [piece]


@cython.final
@cython.cclass
class Position:
    """A chess position with the plies that led to it. Castling rights are the bits K 1, Q 2, k 4, q 8."""

    def __init__(self) -> None:
        if not cython.compiled:
            self.pieces = [0] * 12
            self.colours = [0] * 2
            self.board = [NO_PIECE] * 64
            self.castling_rook = [NO_SQUARE] * 4
            self.castling_empty = [0] * 4
            self.castling_safe = [0] * 4
            self.rights_kept = [15] * 64
            self.undo_castling = [0] * STACK
            self.undo_en_passant = [0] * STACK
            self.undo_halfmove_clock = [0] * STACK
            self.undo_captured = [0] * STACK
            self.undo_key = [0] * STACK
            self.undo_pawn_key = [0] * STACK
        self.clear()

    # --- Set-up ------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """An empty board, White to move; not a legal position until `set_up`."""
        index: cython.int
        for index in range(12):
            self.pieces[index] = 0
        for index in range(64):
            self.board[index] = NO_PIECE
            self.rights_kept[index] = 15
        for index in range(4):
            self.castling_rook[index] = NO_SQUARE
            self.castling_empty[index] = self.castling_safe[index] = 0
        self.colours[0] = self.colours[1] = self.occupied = self.key = self.pawn_key = 0
        self.side_to_move = WHITE
        self.castling_rights = self.halfmove_clock = self.height = self.piece_square = self.phase = 0
        self.en_passant = NO_SQUARE

    # --- Pieces (the key is left to the caller) ------------------------------------------------------------------

    def put(self, piece: cython.int, square: cython.int) -> cython.void:
        """Place a piece on an empty square."""
        here: u64 = bit(square)
        self.pieces[piece] |= here
        self.colours[piece >= KINDS] |= here
        self.occupied |= here
        self.board[square] = piece
        self.piece_square += PIECE_SQUARE[piece * 64 + square]
        self.phase += PHASE[piece]

    def remove(self, piece: cython.int, square: cython.int) -> cython.void:
        """Take the piece that stands there off the board."""
        here: u64 = bit(square)
        self.pieces[piece] ^= here
        self.colours[piece >= KINDS] ^= here
        self.occupied ^= here
        self.board[square] = NO_PIECE
        self.piece_square -= PIECE_SQUARE[piece * 64 + square]
        self.phase -= PHASE[piece]

    def shift(self, piece: cython.int, origin: cython.int, target: cython.int) -> cython.void:
        """Move a piece to an empty square."""
        both: u64 = bit(origin) | bit(target)
        self.pieces[piece] ^= both
        self.colours[piece >= KINDS] ^= both
        self.occupied ^= both
        self.board[origin] = NO_PIECE
        self.board[target] = piece
        self.piece_square += PIECE_SQUARE[piece * 64 + target] - PIECE_SQUARE[piece * 64 + origin]

    # --- Moves -------------------------------------------------------------------------------------------------

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

    def key_after(self, move: cython.int) -> u64:
        """The key that a legal move leads to; another one for the few that move or take more than they seem to.

        For a guess that may be wrong, before the move is made.
        """
        origin: cython.int = from_square(move)
        target: cython.int = to_square(move)
        piece: cython.int = self.board[origin]
        captured: cython.int = self.board[target]
        rights: cython.int = self.castling_rights
        key: u64 = self.key ^ EN_PASSANT_KEY[self.en_passant] ^ BLACK_KEY
        key ^= CASTLING_KEY[rights] ^ CASTLING_KEY[rights & self.rights_kept[origin] & self.rights_kept[target]]
        if captured != NO_PIECE:
            key ^= PIECE_KEY[captured * 64 + target]
        return key ^ PIECE_KEY[piece * 64 + origin] ^ PIECE_KEY[piece * 64 + target]

    def unmake(self, move: cython.int) -> cython.void:
        """Take back the move last made."""
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

    def promote(self, pawn: cython.int, piece: cython.int, square: cython.int) -> cython.void:
        """Change the pawn that has arrived into a piece."""
        self.remove(pawn, square)
        self.put(piece, square)
        self.key ^= PIECE_KEY[pawn * 64 + square] ^ PIECE_KEY[piece * 64 + square]
        self.pawn_key ^= PIECE_KEY[pawn * 64 + square]

    def castle(self, king: cython.int, origin: cython.int, rook_origin: cython.int) -> cython.void:
        """King and rook change places as the rules of Chess960 have it."""
        short: cython.bint = rook_origin > origin
        king_target: cython.int = (origin & 56) + (6 if short else 2)
        rook_target: cython.int = king_target - 1 if short else king_target + 1
        rook: cython.int = king - KING + ROOK
        self.remove(king, origin)
        self.remove(rook, rook_origin)
        self.put(king, king_target)
        self.put(rook, rook_target)
        self.key ^= PIECE_KEY[king * 64 + origin] ^ PIECE_KEY[king * 64 + king_target]
        self.key ^= PIECE_KEY[rook * 64 + rook_origin] ^ PIECE_KEY[rook * 64 + rook_target]

    def uncastle(self, king: cython.int, origin: cython.int, rook_origin: cython.int) -> cython.void:
        """The way back of `castle`."""
        short: cython.bint = rook_origin > origin
        king_target: cython.int = (origin & 56) + (6 if short else 2)
        rook: cython.int = king - KING + ROOK
        self.remove(king, king_target)
        self.remove(rook, king_target - 1 if short else king_target + 1)
        self.put(king, origin)
        self.put(rook, rook_origin)

    def make_null(self) -> cython.void:
        """Pass. The halfmove clock starts anew: no repetition is real across a pass."""
        height: cython.int = self.height
        self.undo_en_passant[height] = self.en_passant
        self.undo_halfmove_clock[height] = self.halfmove_clock
        self.undo_key[height] = self.key
        self.key ^= EN_PASSANT_KEY[self.en_passant] ^ BLACK_KEY
        self.en_passant = NO_SQUARE
        self.halfmove_clock = 0
        self.side_to_move ^= 1
        self.height = height + 1

    def unmake_null(self) -> cython.void:
        """Take back a pass."""
        height: cython.int = self.height - 1
        self.height = height
        self.side_to_move ^= 1
        self.en_passant = self.undo_en_passant[height]
        self.halfmove_clock = self.undo_halfmove_clock[height]
        self.key = self.undo_key[height]

    # --- Attacks -----------------------------------------------------------------------------------------------

    def attackers(self, square: cython.int, by: cython.int, occupied: u64) -> u64:
        """The pieces of colour `by` that attack the square, seen through the given occupancy."""
        first: cython.int = by * KINDS
        queens: u64 = self.pieces[first + QUEEN]
        return (
            (KNIGHT_ATTACKS[square] & self.pieces[first + KNIGHT])
            | (PAWN_ATTACKS[(by ^ 1) * 64 + square] & self.pieces[first + PAWN])
            | (KING_ATTACKS[square] & self.pieces[first + KING])
            | (bishop_attacks(square, occupied) & (self.pieces[first + BISHOP] | queens))
            | (rook_attacks(square, occupied) & (self.pieces[first + ROOK] | queens))
        )

    def is_attacked(self, square: cython.int, by: cython.int) -> cython.bint:
        """`attackers` of the present board, but content with one."""
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

    def king_square(self, colour: cython.int) -> cython.int:
        """Where the king of that colour stands."""
        return lsb(self.pieces[colour * KINDS + KING])

    def in_check(self) -> cython.bint:
        """Is the king of the side to move attacked?"""
        return self.is_attacked(self.king_square(self.side_to_move), self.side_to_move ^ 1)

    def gives_check(self, move: cython.int) -> cython.bint:
        """Does a legal move attack the enemy king, itself or by uncovering? Castling counts as no."""
        us: cython.int = self.side_to_move
        king: cython.int = self.king_square(us ^ 1)
        moved: u64 = bit(to_square(move))
        kind: cython.int = promoted_kind(move) if is_promotion(move) else self.board[from_square(move)] - us * KINDS
        if flag_of(move) == CASTLING:
            return False
        if kind == KNIGHT and KNIGHT_ATTACKS[king] & moved:
            return True
        if kind == PAWN and PAWN_ATTACKS[(us ^ 1) * 64 + king] & moved:
            return True
        occupied: u64 = (self.occupied ^ bit(from_square(move))) | moved
        if flag_of(move) == EN_PASSANT:
            occupied ^= bit(to_square(move) ^ 8)
        queens: u64 = self.pieces[us * KINDS + QUEEN] | (moved if kind == QUEEN else 0)
        diagonal: u64 = self.pieces[us * KINDS + BISHOP] | queens | (moved if kind == BISHOP else 0)
        straight: u64 = self.pieces[us * KINDS + ROOK] | queens | (moved if kind == ROOK else 0)
        diagonal &= occupied
        straight &= occupied
        return bishop_attacks(king, occupied) & diagonal != 0 or rook_attacks(king, occupied) & straight != 0

    def en_passant_is_legal(self, origin: cython.int, target: cython.int) -> cython.bint:
        """May the pawn of the side to move on `origin` capture en passant on `target`, king's safety included?

        Both pawns leave their rank at once, so that no pin mask tells: the board after the capture is asked.
        """
        them: cython.int = self.side_to_move ^ 1
        captured: u64 = bit(target ^ 8)
        occupied: u64 = (self.occupied ^ bit(origin) ^ captured) | bit(target)
        return not self.attackers(self.king_square(self.side_to_move), them, occupied) & ~captured

    def en_passant_is_possible(self, target: cython.int) -> cython.bint:
        """Can the side to move capture en passant on `target` with any pawn?"""
        us: cython.int = self.side_to_move
        pawns: u64 = PAWN_ATTACKS[(us ^ 1) * 64 + target] & self.pieces[us * KINDS + PAWN]
        while pawns:
            if self.en_passant_is_legal(lsb(pawns), target):
                return True
            pawns &= pawns - 1
        return False

    # --- Draws -------------------------------------------------------------------------------------------------

    def is_repetition(self, root_height: cython.int) -> cython.bint:
        """Has this position stood once since the root, or twice before? Either is as good as drawn."""
        seen: cython.int = 0
        height: cython.int = self.height - 4
        oldest: cython.int = self.height - self.halfmove_clock
        if oldest < 0:
            oldest = 0
        while height >= oldest:
            if self.undo_key[height] == self.key:
                seen += 1
                if height > root_height or seen == 2:
                    return True
            height -= 2
        return False

    # --- For Python callers --------------------------------------------------------------------------------------

    def push(self, move: int) -> None:
        """Play a legal move that will be taken back. Raises IndexError when the stack is full."""
        if self.height >= STACK - 1:
            raise IndexError("more plies than a position can take back")
        self.make(move)

    def pop(self, move: int) -> None:
        """Take back the move last pushed."""
        self.unmake(move)

    def commit(self, move: int) -> None:
        """Play a move of the game for good: whatever can never be repeated is forgotten, so no game is too long."""
        self.make(move)
        if self.halfmove_clock == 0:
            self.height = 0
        elif self.height > GAME_STACK:
            self._forget(GAME_STACK // 2)

    def _forget(self, plies: cython.int) -> None:
        """Drop the oldest plies from the stack."""
        height: cython.int
        for height in range(self.height - plies):
            self.undo_castling[height] = self.undo_castling[height + plies]
            self.undo_en_passant[height] = self.undo_en_passant[height + plies]
            self.undo_halfmove_clock[height] = self.undo_halfmove_clock[height + plies]
            self.undo_captured[height] = self.undo_captured[height + plies]
            self.undo_key[height] = self.undo_key[height + plies]
            self.undo_pawn_key[height] = self.undo_pawn_key[height + plies]
        self.height -= plies

    def repetition_count(self) -> int:
        """How often this position has stood in the game, now included."""
        count = 1
        height: cython.int = self.height - 4
        while height >= 0 and height >= self.height - self.halfmove_clock:
            if self.undo_key[height] == self.key:
                count += 1
            height -= 2
        return count

    def state(self) -> dict[str, Any]:
        """Every field that a move may change, by name; equal states are equal positions."""
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
        """For Python callers."""
        return self.side_to_move == BLACK

    def is_check(self) -> bool:
        """`in_check` for Python callers."""
        return self.in_check()

    def checks(self, move: int) -> bool:
        """`gives_check` for Python callers."""
        return self.gives_check(move)

    def key_expected_after(self, move: int) -> int:
        """`key_after` for Python callers."""
        return self.key_after(move)

    def attackers_of(self, square: int, by: int) -> int:
        """`attackers` on the present board, for Python callers."""
        return self.attackers(square, by, self.occupied)
