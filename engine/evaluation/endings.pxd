from engine.core.position cimport Position

cdef int known_result(Position position) noexcept nogil
cdef int scaled_for_drawishness(Position position, int score) noexcept nogil
cdef int endgame_scale(Position position, int strong) noexcept nogil
cdef int piece_material(Position position, int us) noexcept nogil
