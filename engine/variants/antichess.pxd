from engine.variants.variant_position cimport VariantPosition

cdef class AntichessPosition(VariantPosition):
    cdef int add_king_promotions(self, int *moves, int start, int end) noexcept nogil
