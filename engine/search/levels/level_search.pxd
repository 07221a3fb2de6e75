from engine.core.movegen cimport MAX_MOVES
from engine.core.position cimport Position
from engine.search.levels.judgement cimport Judge
from engine.search.levels.vision cimport Vision
from engine.search.search_stack cimport Variations
from engine.search.time_manager cimport CountedSearch

cdef enum:
    MAX_PLIES = 32

cdef class LevelSearch(CountedSearch):
    cdef Position position
    cdef Vision vision
    cdef Judge judge
    cdef Variations variations
    cdef int exchange_plies
    cdef int root_height
    cdef int root_previous
    cdef int root_moves
    cdef int theory[MAX_MOVES]
    cdef int theory_moves
    cdef int moves[MAX_MOVES * MAX_PLIES]
    cdef int scores[MAX_MOVES * MAX_PLIES]
    cdef int played[MAX_PLIES]
    cdef int killers[MAX_PLIES]
    cdef int node(self, int alpha, int beta, int depth, int ply) noexcept nogil
    cdef int quiescence(self, int alpha, int beta, int ply, int plies) noexcept nogil
    cdef int instinct(self, int move) noexcept nogil
    cdef int previous(self, int ply) noexcept nogil
    cdef int keep_seen(self, int ply, int end, bint recaptures_only) noexcept nogil
    cdef int pick(self, int index, int end) noexcept nogil
    cdef void order(self, int ply, int end) noexcept nogil
