from engine.core.bitboard cimport u64
from engine.core.position cimport Position

cdef int NO_STEP

cdef int bonus(int depth) noexcept nogil
cdef int correction_index(Position position, int aspect) noexcept nogil

cdef class History:
    cdef int killers[256]
    cdef u64 attacked[130]
    cdef int answered[130]
    cdef int followed[130]
    cdef int recalled[130]
    cdef int structure[130]
    cdef short quiets[32768]
    cdef int captures[4608]
    cdef short continuations[590592]
    cdef short structures[393216]
    cdef short corrections[98304]
    cdef void begin_node(self, Position position, int ply, int before, int before_that, int long_before) noexcept nogil
    cdef int route(self, int side, int move, int ply) noexcept nogil
    cdef int quiet_worth(self, int side, int move, int step, int ply) noexcept nogil
    cdef void rank_quiets(self, Position position, int* moves, int start, int end, int ply) noexcept nogil
    cdef void learn_quiet(self, int side, int move, int step, int ply, int change) noexcept nogil
    cdef void learn_route(self, int side, int move, int ply, int change) noexcept nogil
    cdef void learn_continuation(self, int earlier, int step, int change) noexcept nogil
    cdef void learn_capture(self, int step, int victim, int change) noexcept nogil
    cdef void remember_killer(self, int move, int ply) noexcept nogil
    cdef int correction(self, Position position) noexcept nogil
    cdef void learn_error(self, Position position, int error, int depth) noexcept nogil
