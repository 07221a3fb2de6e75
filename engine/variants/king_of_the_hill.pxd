from engine.variants.variant_position cimport VariantPosition

cdef class KingOfTheHillPosition(VariantPosition):
    pass
