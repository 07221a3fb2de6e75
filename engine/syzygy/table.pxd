from engine.core.bitboard cimport u64
from engine.core.position cimport Position
from engine.syzygy.packed_values cimport PackedValues

cdef extern from *:
    """
    static inline void engine_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
    """
    void fence "engine_fence"() noexcept nogil

cdef class Table:
    cdef object path
    cdef tuple sections
    cdef object problem
    cdef object lock
    cdef PackedValues packed
    cdef volatile int state
    cdef int men
    cdef int leading                # men that are numbered together first
    cdef int sides
    cdef bint has_pawns
    cdef bint both_pawns
    cdef bint symmetric
    cdef u64 key
    cdef int pieces[56]             # of up to eight sections, each with up to seven men
    cdef int sizes[56]
    cdef u64 factors[56]
    cdef int groups[8]
    cdef u64 places[8]
    cdef bint is_ready(self) noexcept nogil
    cdef int value(self, Position position, u64 key) noexcept nogil
    cdef bint is_swapped(self, Position position, u64 key) noexcept nogil
    cdef int line_up(self, Position position, bint swapped, int *squares) noexcept nogil
    cdef int line_up_one(self, Position position, bint swapped, int *squares, int piece, int placed) noexcept nogil
    cdef long long number_of(self, int section, int *squares) noexcept nogil

cdef class TableTree:
    cdef u64 key
    cdef Table table
    cdef TableTree before
    cdef TableTree after
    cdef int value(self, Position position, u64 key) noexcept nogil
