from engine.core.position cimport Position

cdef bint is_insufficient_material(Position position) noexcept nogil
cdef bint has_pieces(Position position, int colour) noexcept nogil
cdef bint has_one_piece(Position position, int colour) noexcept nogil
