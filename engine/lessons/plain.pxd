from engine.core.position cimport Position
from engine.core.score cimport MAX_PLY
from engine.lessons.terms cimport Terms
from engine.search.search_stack cimport Variations
from engine.search.time_manager cimport CountedSearch

cdef class PlainSearch(CountedSearch):
    cdef Position position
    cdef Terms terms
    cdef Variations variations
    cdef int root_height
    cdef bint ordered
    cdef bint quiescent
    cdef int killers[2 * MAX_PLY]
    cdef int hints[MAX_PLY]         # the line of the depth before, to be tried first

    cdef int evaluation(self) noexcept nogil
    cdef int score_if_over(self, int moves, int ply) noexcept nogil
    cdef int minimax(self, int depth, int ply) noexcept nogil
    cdef int negamax(self, int depth, int ply) noexcept nogil
    cdef int alpha_beta(self, int depth, int alpha, int beta, int ply) noexcept nogil
    cdef int quiescence(self, int alpha, int beta, int ply) noexcept nogil
    cdef int priority(self, int move, int ply) noexcept nogil
    cdef void bring_best_forward(self, int *moves, int *priorities, int index, int end) noexcept nogil
    cdef void note_cutoff(self, int move, int ply) noexcept nogil
