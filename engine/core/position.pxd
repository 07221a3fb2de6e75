cimport cython

from engine.core.bitboard cimport u64
from engine.core.pieces cimport NO_PIECE

cdef enum:
    STACK = 1024
    GAME_STACK = 512

cdef int PIECE_SQUARE[NO_PIECE * 64]
cdef int PHASE[NO_PIECE]

cdef class Position:
    cdef u64 pieces[12]
    cdef u64 colours[2]
    cdef u64 occupied
    cdef signed char board[64]
    cdef int side_to_move
    cdef int castling_rights
    cdef int en_passant
    cdef int halfmove_clock
    cdef int height
    cdef int piece_square
    cdef int phase
    cdef u64 key
    cdef u64 pawn_key

    cdef int castling_rook[4]
    cdef u64 castling_empty[4]
    cdef u64 castling_safe[4]
    cdef signed char rights_kept[64]

    cdef int undo_castling[STACK]
    cdef int undo_en_passant[STACK]
    cdef int undo_halfmove_clock[STACK]
    cdef int undo_captured[STACK]
    cdef u64 undo_key[STACK]
    cdef u64 undo_pawn_key[STACK]

    # What a variant may do in another way.
    cdef void make(self, int move) noexcept nogil
    cdef void unmake(self, int move) noexcept nogil
    cdef bint in_check(self) noexcept nogil
    cdef bint en_passant_is_legal(self, int origin, int target) noexcept nogil
    cdef void _copy_ply(self, int height, Position other, int other_height) noexcept nogil

    # What none may. Here `final` forbids it; in the .py file it makes the calls direct, so that they can be inlined.
    @cython.final
    cdef void put(self, int piece, int square) noexcept nogil
    @cython.final
    cdef void remove(self, int piece, int square) noexcept nogil
    @cython.final
    cdef void shift(self, int piece, int origin, int target) noexcept nogil
    @cython.final
    cdef void promote(self, int pawn, int piece, int square) noexcept nogil
    @cython.final
    cdef void castle(self, int king, int origin, int rook_origin) noexcept nogil
    @cython.final
    cdef void uncastle(self, int king, int origin, int rook_origin) noexcept nogil
    @cython.final
    cdef void make_null(self) noexcept nogil
    @cython.final
    cdef void unmake_null(self) noexcept nogil
    @cython.final
    cdef u64 attackers(self, int square, int by, u64 occupied) noexcept nogil
    @cython.final
    cdef bint is_attacked(self, int square, int by) noexcept nogil
    @cython.final
    cdef int king_square(self, int colour) noexcept nogil
    @cython.final
    cdef bint en_passant_is_possible(self, int target) noexcept nogil
    @cython.final
    cdef bint has_pieces(self, int colour) noexcept nogil
    @cython.final
    cdef u64 key_after(self, int move) noexcept nogil
