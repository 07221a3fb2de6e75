from engine.variants.variant_position cimport VariantPosition

cdef class HordePosition(VariantPosition):
    pass
