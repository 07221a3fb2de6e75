from engine.core.bitboard cimport u64
from engine.search.search_stack cimport SearchStack
from engine.search.time_manager cimport NodeCounter
from engine.search.move_picker cimport MovePicker
from engine.core.position cimport Position
from engine.syzygy.prober cimport Prober

cdef u64 DIFFERENCE[8192]
cdef int SQUARES[8192]

cdef int slot_of(u64 difference) noexcept nogil
cdef u64 reach(int kind, int square) noexcept nogil
cdef bint leads_back(Position position, int root_height) noexcept nogil
cdef bint is_answer(int known, int alpha, int beta) noexcept nogil

cdef class DrawsAndTables:
    cdef Position position
    cdef SearchStack stack
    cdef MovePicker picker
    cdef NodeCounter counter
    cdef Prober prober
    cdef int root_height
    cdef int settled(self, int ply, bint in_check) noexcept nogil
    cdef int nearer_mate(self, int beta, int ply) noexcept nogil
    cdef bint draw_for_the_taking(self, int ply) noexcept nogil
    cdef int known_ending(self, int depth, int ply) noexcept nogil
    cdef bint has_legal_move(self, int ply) noexcept nogil
