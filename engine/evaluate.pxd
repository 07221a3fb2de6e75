from engine.position cimport Position

cdef int evaluate(Position position) noexcept nogil
