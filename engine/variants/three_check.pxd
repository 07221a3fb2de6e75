from engine.variants.variant_position cimport VariantPosition

cdef int CHECKS_TO_WIN

cdef class ThreeCheckPosition(VariantPosition):
    cdef int check_value(self, int move) noexcept nogil
