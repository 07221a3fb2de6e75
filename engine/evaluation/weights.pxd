cdef enum:
    MAX_WEIGHTS = 512

cdef int[MAX_WEIGHTS] WEIGHTS
cdef int MATERIAL, SQUARES

cdef int weight_of_square(int kind, int square) noexcept nogil
