cdef int weight_of_square(int kind, int square) noexcept nogil
