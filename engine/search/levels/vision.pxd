from engine.core.bitboard cimport u64
from engine.core.position cimport Position

cdef extern from *:
    """
    static inline unsigned long long engine_mixed(unsigned long long number) {
        number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ULL;
        number = (number ^ (number >> 27)) * 0x94D049BB133111EBULL;
        return number ^ (number >> 31);
    }
    """
    u64 mixed "engine_mixed"(u64 number) noexcept nogil

cdef int distance(int first, int second) noexcept nogil

cdef class Vision:
    cdef int blindness
    cdef int capture_blindness
    cdef int moved_last
    cdef u64 thought
    cdef bint sees(self, Position position, int move, int previous, int ply) noexcept nogil
    cdef int chance_to_overlook(self, Position position, int move, int previous, int ply) noexcept nogil
