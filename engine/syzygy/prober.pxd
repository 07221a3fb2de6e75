from engine.core.bitboard cimport u64
from engine.core.position cimport Position
from engine.syzygy.table cimport TableTree

cdef int LOSS, BLESSED_LOSS, DRAWN, CURSED_WIN, WIN, UNKNOWN

cdef u64 key_of(Position position) noexcept nogil

cdef class Prober:
    cdef Position position
    cdef TableTree tree
    cdef int most_men
    cdef u64 hits
    cdef bint by_capture
    cdef bint may_know(self) noexcept nogil
    cdef int wdl(self) noexcept nogil
    cdef int without_en_passant(self, int alpha, int beta) noexcept nogil
    cdef int after(self, int move, int alpha, int beta) noexcept nogil
    cdef int stored(self) noexcept nogil
    cdef int with_en_passant(self, int value) noexcept nogil
