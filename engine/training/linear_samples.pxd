cdef class LinearSamples:
    cdef unsigned short[::1] weight
    cdef signed char[::1] times
    cdef unsigned int[::1] begins
    cdef float[::1] midgame_part
    cdef float[::1] endgame_part
    cdef short[::1] scores
    cdef unsigned char[::1] results
    cdef unsigned int room
    cdef int count, capacity

    cdef double white_score(self, int sample, double[::1] values) noexcept nogil
    cdef double target(self, int sample, double trust, double unit) noexcept nogil
