from engine.bitboard cimport u64
from engine.line cimport Line
from engine.meter cimport Meter
from engine.ordering cimport Picker
from engine.position cimport Position
from engine.transposition cimport Table

cdef int tactical_move(u64 entry) noexcept nogil

cdef class Quiescence:
    cdef Position position
    cdef Table table
    cdef Line line
    cdef Picker picker
    cdef Meter meter
    cdef int search(self, int alpha, int beta, int ply) noexcept nogil
    cdef int booty(self, int move) noexcept nogil
