from engine.core.bitboard cimport u64
from engine.search.rules cimport Rules
from engine.search.search_stack cimport SearchStack
from engine.search.time_manager cimport NodeCounter
from engine.search.move_picker cimport MovePicker
from engine.core.position cimport Position
from engine.search.transposition cimport TranspositionTable

cdef int tactical_move(u64 entry) noexcept nogil

cdef class Quiescence:
    cdef Position position
    cdef Rules rules
    cdef TranspositionTable table
    cdef SearchStack stack
    cdef MovePicker picker
    cdef NodeCounter counter
    cdef int first_ply             # of this search
    cdef int search(self, int alpha, int beta, int ply) noexcept nogil
    cdef int search_captures(self, int alpha, int beta, int ply) noexcept nogil
