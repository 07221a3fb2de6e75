from engine.core.position cimport Position

cpdef bint gives_check(Position position, int move) noexcept nogil
cdef int keep_checks(Position position, int *moves, int start, int end) noexcept nogil
