from engine.variants.variant_position cimport VariantPosition

cpdef enum:
    CHECKS_TO_WIN = 3

cdef class ThreeCheckPosition(VariantPosition):
    cdef int check_value(self, int move) noexcept nogil
