from engine.variants.variant_position cimport VariantPosition

cdef class RacingKingsPosition(VariantPosition):
    cdef bint can_reach_goal(self) noexcept nogil
