from engine.core.position cimport Position

cdef int verdict(Position position) noexcept nogil
cdef int tempered(Position position, int guess) noexcept nogil
cdef int endgame_scale(Position position, int strong) noexcept nogil
