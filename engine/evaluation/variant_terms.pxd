from engine.evaluation.variant_evaluation cimport VariantEvaluation

cdef class KingOfTheHillEvaluation(VariantEvaluation):
    pass

cdef class ThreeCheckEvaluation(VariantEvaluation):
    pass

cdef class CrazyhouseEvaluation(VariantEvaluation):
    pass

cdef class AntichessEvaluation(VariantEvaluation):
    pass

cdef class AtomicEvaluation(VariantEvaluation):
    pass

cdef class HordeEvaluation(VariantEvaluation):
    pass

cdef class RacingKingsEvaluation(VariantEvaluation):
    pass
