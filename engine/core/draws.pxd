from engine.core.position cimport Position

cdef bint is_repetition(Position position, int root_height) noexcept nogil
cpdef bint is_insufficient_material(Position position) noexcept nogil
