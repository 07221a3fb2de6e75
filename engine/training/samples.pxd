from engine.core.bitboard cimport u64
from engine.core.position cimport Position
from engine.training.linear_samples cimport LinearSamples

cdef class Samples(LinearSamples):
    cdef double[::1] initial
    cdef int weight_count
    cdef int totals[512]
    cdef u64 serial
    cdef Position position

    cdef void count_squares(self) noexcept nogil
    cdef void probe(self) noexcept nogil
    cdef void read_digits(self, int value, int first) noexcept nogil
    cdef void keep(self) noexcept nogil
