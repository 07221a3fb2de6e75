from engine.search.search_stack cimport Line
from engine.search.move_picker cimport Picker
from engine.core.position cimport Position

cdef class Selection:
    cdef Position position
    cdef Line line
    cdef Picker picker
    cdef bint is_hopeless(self, int move, int number, int alpha, int depth, int ply) noexcept nogil
    cdef bint is_weak(self, int number, int alpha, int depth, int ply, int move) noexcept nogil
    cdef int reduction(self, int move, int number, int depth, int ply, bint on_pv) noexcept nogil
