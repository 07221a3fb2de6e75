from engine.core.bitboard cimport u64
from engine.core.position cimport Position

cdef class Samples:
    cdef unsigned short[::1] weight
    cdef signed char[::1] times
    cdef unsigned int[::1] begins
    cdef float[::1] midgame_part
    cdef float[::1] endgame_part
    cdef short[::1] scores
    cdef unsigned char[::1] results
    cdef double[::1] initial
    cdef unsigned int room
    cdef int count, capacity, weight_count
    cdef int[512] totals
    cdef u64 serial
    cdef Position position

    cdef void place(self, u64 occupied, bytes packed, int side)
    cdef void count_squares(self) noexcept nogil
    cdef void probe(self) noexcept nogil
    cdef void read_digits(self, int value, int first) noexcept nogil
    cdef void keep(self) noexcept nogil
    cdef double white_score(self, int sample, double[::1] values) noexcept nogil
    cdef double target(self, int sample, double trust, double unit) noexcept nogil
