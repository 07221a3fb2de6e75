from engine.core.bitboard cimport u64
from engine.variants.variant_position cimport VariantPosition

cdef class AtomicPosition(VariantPosition):
    cdef bint is_safe(self, int move) noexcept nogil
    cdef bint is_blocked_by_attack(self, int king, int rook, u64 occupied) noexcept nogil
    cdef u64 explosion(self, int square) noexcept nogil
    cdef void explode(self, u64 squares) noexcept nogil
