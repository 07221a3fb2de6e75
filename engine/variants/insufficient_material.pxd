from engine.core.position cimport Position

cdef bint atomic_cannot_be_won(Position position) noexcept nogil
cdef bint atomic_is_closed(Position position) noexcept nogil
