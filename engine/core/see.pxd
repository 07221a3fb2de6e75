from engine.core.position cimport Position

cdef bint exchange_wins(Position position, int move, int threshold) noexcept nogil
