from engine.core.bitboard cimport u64
from engine.core.position cimport Position

cdef class Vision:
    cdef int blindness
    cdef int capture_blindness
    cdef int moved_last
    cdef u64 thought
    cdef bint sees(self, Position position, int move, int previous, int ply) noexcept nogil
    cdef int chance_to_overlook(self, Position position, int move, int previous, int ply) noexcept nogil
