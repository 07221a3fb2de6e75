from engine.core.position cimport Position

cpdef bint exchange_wins(Position position, int move, int threshold) noexcept nogil
