from engine.core.position cimport Position

# `cpdef` shows this number also to plain Python files.
cpdef enum:
    FIFTY_MOVES_PLIES = 100

cdef bint is_repetition(Position position, int root_height) noexcept nogil
cpdef bint is_insufficient_material(Position position) noexcept nogil
