cdef int PIECE_SQUARE[768]
cdef int PHASE[12]
