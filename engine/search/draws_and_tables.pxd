from engine.search.search_stack cimport Line
from engine.search.search_limits cimport Meter
from engine.search.move_picker cimport Picker
from engine.core.position cimport Position
from engine.syzygy.prober cimport Prober

cdef bint is_answer(int known, int alpha, int beta) noexcept nogil

cdef class Referee:
    cdef Position position
    cdef Line line
    cdef Picker picker
    cdef Meter meter
    cdef Prober prober
    cdef int root_height
    cdef int settled(self, int ply, bint in_check) noexcept nogil
    cdef int nearer_mate(self, int beta, int ply) noexcept nogil
    cdef bint draw_for_the_taking(self, int ply) noexcept nogil
    cdef int known_ending(self, int depth, int ply) noexcept nogil
    cdef bint has_legal_move(self, int ply) noexcept nogil
