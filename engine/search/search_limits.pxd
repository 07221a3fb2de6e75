from engine.core.bitboard cimport u64
from engine.search.time_manager cimport Clock

cdef class Meter:
    cdef Clock clock
    cdef u64 nodes
    cdef u64 node_limit
    cdef u64 look_at
    cdef int deepest                # the deepest ply reached, for the caller to set back
    cdef volatile bint stopped
    cdef void count(self, int ply) noexcept nogil
    cdef void look_at_limits(self) noexcept nogil
