# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Setting up a position piece by piece, and copying one."""

import cython
from cython.cimports.engine.core.bitboard import bit, u64
from cython.cimports.engine.core.pieces import BLACK, KINDS, NO_PIECE, NO_SQUARE, PAWN
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.zobrist import BLACK_KEY, CASTLING_KEY, EN_PASSANT_KEY, PIECE_KEY


def set_up(
    position: Position, board: list, side_to_move: int, rooks: list, en_passant: int, halfmove_clock: int
) -> None:
    """Fill an empty position: 64 pieces from a1 on, and the squares of the castling rooks K Q k q, or NO_SQUARE.

    The position must be legal, which `fen.py` ensures. An en passant square that no legal capture can use is dropped,
    so that equal keys mean equal moves.
    """
    square: cython.int
    for square in range(64):
        if board[square] != NO_PIECE:
            position.put(board[square], square)
            position.key ^= PIECE_KEY[board[square] * 64 + square]
            if board[square] % KINDS == PAWN:
                position.pawn_key ^= PIECE_KEY[board[square] * 64 + square]
    position.side_to_move = side_to_move
    position.halfmove_clock = halfmove_clock
    for right in range(4):
        if rooks[right] != NO_SQUARE:
            _grant_castling(position, right, rooks[right])
    position.key ^= CASTLING_KEY[position.castling_rights]
    if side_to_move == BLACK:
        position.key ^= BLACK_KEY
    if en_passant != NO_SQUARE and position.en_passant_is_possible(en_passant):
        position.en_passant = en_passant
        position.key ^= EN_PASSANT_KEY[en_passant]

def _grant_castling(position: Position, right: cython.int, rook: cython.int) -> None:
    """Allow one castling, and compute which squares must be empty and which unattacked for it."""
    king: cython.int = position.king_square(right >> 1)
    king_target: cython.int = (king & 56) + (6 if rook > king else 2)
    rook_target: cython.int = king_target + (-1 if rook > king else 1)
    path: u64 = bit(king_target) | bit(rook_target)
    for square in range(min(king, rook, king_target, rook_target), max(king, rook, king_target, rook_target)):
        if min(king, king_target) < square < max(king, king_target) or min(rook, rook_target) < square < max(
            rook, rook_target
        ):
            path |= bit(square)
    position.castling_empty[right] = path & ~(bit(king) | bit(rook))
    safe: u64 = bit(king_target)
    for square in range(min(king, king_target), max(king, king_target)):
        safe |= bit(square)
    position.castling_safe[right] = safe
    position.castling_rook[right] = rook
    position.castling_rights |= 1 << right
    position.rights_kept[rook] &= 15 ^ (1 << right)
    position.rights_kept[king] &= 12 if right < 2 else 3


def copy_position(target: Position, source: Position) -> None:
    """Make `target` equal to `source`, the plies that can be taken back included."""
    index: cython.int
    for index in range(12):
        target.pieces[index] = source.pieces[index]
    for index in range(64):
        target.board[index] = source.board[index]
        target.rights_kept[index] = source.rights_kept[index]
    for index in range(4):
        target.castling_rook[index] = source.castling_rook[index]
        target.castling_empty[index] = source.castling_empty[index]
        target.castling_safe[index] = source.castling_safe[index]
    for index in range(source.height):
        target.undo_castling[index] = source.undo_castling[index]
        target.undo_en_passant[index] = source.undo_en_passant[index]
        target.undo_halfmove_clock[index] = source.undo_halfmove_clock[index]
        target.undo_captured[index] = source.undo_captured[index]
        target.undo_key[index] = source.undo_key[index]
        target.undo_pawn_key[index] = source.undo_pawn_key[index]
    target.colours[0], target.colours[1], target.occupied = source.colours[0], source.colours[1], source.occupied
    target.side_to_move, target.castling_rights = source.side_to_move, source.castling_rights
    target.en_passant, target.halfmove_clock, target.height = source.en_passant, source.halfmove_clock, source.height
    target.piece_square, target.phase = source.piece_square, source.phase
    target.key, target.pawn_key = source.key, source.pawn_key
