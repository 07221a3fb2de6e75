from engine.core.bitboard cimport u64
from engine.core.position cimport STACK, Position

cpdef enum:
    DRAWN = 2
    UNDECIDED = 3

cdef enum:
    MAX_VARIANT_MOVES = 1024
    MOST_GAIN = 3400

cdef class VariantPosition(Position):
    cdef u64 extra
    cdef u64 promoted
    cdef u64 undo_variant[2 * STACK]
    cdef readonly bint has_fifty_move_rule
    cdef readonly bint allows_null_move
    cdef readonly bint has_plain_exchanges
    cdef readonly bint can_move_back

    cdef int generate(self, int *moves, int start, bint tactical_only) noexcept nogil
    cdef int variant_result(self) noexcept nogil
    cdef int result_without_moves(self) noexcept nogil
    cdef bint is_dead_draw(self) noexcept nogil

    cdef bint is_legal(self, int move) noexcept nogil
    cdef bint is_forced(self) noexcept nogil
    cdef bint is_forcing(self, int move) noexcept nogil
    cdef bint is_zugzwang_unlikely(self) noexcept nogil
    cdef int gain(self, int move) noexcept nogil
    cdef bint exchange_wins(self, int move, int threshold) noexcept nogil

    cdef bint is_generated(self, int move) noexcept nogil
    cdef bint can_move(self) noexcept nogil
    cdef bint is_stuck(self) noexcept nogil
    cdef int legal(self, int *moves) noexcept nogil
    cdef int add_king_moves(self, int *moves, int end, u64 allowed) noexcept nogil
    cdef bint has_only_king(self, int colour) noexcept nogil
    cdef bint pawns_are_stuck(self, int colour) noexcept nogil
    cdef u64 leaves(self, int depth) noexcept nogil
    cdef u64 extra_key(self) noexcept nogil
    cdef void remember(self) noexcept nogil
    cdef void recall(self) noexcept nogil
