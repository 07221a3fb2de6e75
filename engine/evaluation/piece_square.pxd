cdef int PIECE_SQUARE[768]
cdef int PHASE[12]
cdef int weight_of_square(int kind, int square) noexcept nogil
