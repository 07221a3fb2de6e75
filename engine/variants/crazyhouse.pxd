from engine.core.position cimport STACK
from engine.variants.variant_position cimport VariantPosition

cdef class CrazyhousePosition(VariantPosition):
    cdef int fen_clock
    cdef int undo_fen_clock[STACK]

    cdef int add_drops(self, int *moves, int end) noexcept nogil
    cdef void follow_pieces(self, int move) noexcept nogil
    cdef void drop(self, int kind, int square) noexcept nogil
