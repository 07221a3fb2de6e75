from engine.core.bitboard cimport u64
from engine.core.position cimport Position
from engine.evaluation.network cimport AccumulatorCache

cdef enum:
    MAX_WEIGHTS = 352
    PAWN_ATTACKED = 0
    ATTACKED = 2
    ZONE = 4
    UNITS = 6
    ATTACKED_BY_SIZE = 8

cdef class VariantEvaluation:
    cdef int weights[MAX_WEIGHTS]
    cdef readonly bint goes_up
    cdef int evaluate(self, Position position, u64 extra) noexcept nogil
    cdef void count_off_board(self, u64 extra, int *counts) noexcept nogil
    cdef int balance(self, Position position, u64 extra) noexcept nogil
    cdef void begin_attacks(self, Position position, unsigned long long *attacked_by) noexcept nogil
    cdef int place(self, int square, int us) noexcept nogil
    cdef int pieces(self, Position position, unsigned long long *attacked_by, int us) noexcept nogil
    cdef int pawns(self, Position position, int us) noexcept nogil
    cdef int kings(self, Position position, unsigned long long *attacked_by, int us) noexcept nogil
    cdef int threats(self, Position position, unsigned long long *attacked_by, int us) noexcept nogil
    cdef int own_terms(self, Position position, u64 extra, unsigned long long *attacked_by, int us) noexcept nogil

cdef class VariantNetwork(VariantEvaluation):
    cdef VariantEvaluation terms
    cdef AccumulatorCache accumulators
    cdef int off_board[12]

cdef int OWN
