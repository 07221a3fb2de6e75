cdef int[512] WEIGHTS
cdef int MATERIAL, SQUARES

cdef int weight_of_square(int kind, int square) noexcept nogil
