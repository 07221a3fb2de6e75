from engine.core.bitboard cimport u64

cdef extern from "math.h" nogil:
    float sqrtf(float square) noexcept

cdef inline float* pointer(float[::1] values) noexcept nogil:
    return &values[0]

cdef class FloatNet:
    cdef readonly int hidden, buckets, threats, lanes
    cdef readonly long long bias, output, output_bias, size         # where each part of the weights begins and ends
    cdef readonly long long gradients, sums                            # where those of lane 0 begin,
    cdef readonly long long common                                     # and where those of the threats of a place do
    cdef readonly double trust, unit, steepness
    cdef float[::1] numbers

    cdef double add_record(self, u64[::1] words, int entry, int lane, bint training) noexcept nogil
    cdef float forward(self, int* pieces, int count, int lane, int first_view, int bucket) noexcept nogil
    cdef void backward(self, int* pieces, int count, int lane, int first_view, int bucket, float gradient) noexcept nogil
