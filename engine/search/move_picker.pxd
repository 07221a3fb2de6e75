from engine.search.history cimport History
from engine.core.position cimport Position

cdef class MovePicker:
    cdef Position position
    cdef History history
    cdef int moves[37152]
    cdef int root_moves[288]
    cdef int root_count
    cdef int stage[129]
    cdef int table_move[129]
    cdef int goal[129]
    cdef int index[129]
    cdef int tactical_end[129]
    cdef int losing_end[129]
    cdef int end[129]
    cdef bint tactical_only[129]
    cdef void begin(self, int ply, int table_move) noexcept nogil
    cdef void begin_tactical(self, int ply, int table_move, int goal) noexcept nogil
    cdef int next(self, int ply) noexcept nogil
    cdef bint is_losing(self, int ply) noexcept nogil
    cdef void only_checks(self, int ply) noexcept nogil
    cdef bint is_possible(self, int ply, int move) noexcept nogil
    cdef void list_moves(self, int ply) noexcept nogil
    cdef int tactical_rank(self, int move) noexcept nogil
    cdef int next_tactical(self, int ply) noexcept nogil
    cdef void rank_quiets(self, int ply) noexcept nogil
    cdef int next_quiet(self, int ply) noexcept nogil
    cdef int next_check(self, int ply) noexcept nogil
    cdef int next_losing(self, int ply) noexcept nogil
