from engine.variants.variant_position cimport VariantPosition

cdef int CHECKS_TO_WIN

cdef class ThreeCheckPosition(VariantPosition):
    pass
