from engine.core.bitboard cimport u64
from engine.search.search_stack cimport Line
from engine.search.search_limits cimport Meter
from engine.search.move_picker cimport Picker
from engine.core.position cimport Position
from engine.search.transposition cimport Table

cdef int tactical_move(u64 entry) noexcept nogil

cdef class Quiescence:
    cdef Position position
    cdef Table table
    cdef Line line
    cdef Picker picker
    cdef Meter meter
    cdef int search(self, int alpha, int beta, int ply) noexcept nogil
    cdef int booty(self, int move) noexcept nogil
