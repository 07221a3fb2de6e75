from engine.core.bitboard cimport u64
from engine.variants.variant_position cimport VariantPosition

cdef class HordePosition(VariantPosition):
    cdef u64 free_pawns(self) noexcept nogil
