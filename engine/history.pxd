from engine.bitboard cimport u64
from engine.position cimport Position

cdef int NO_STEP

cdef int bonus(int depth) noexcept nogil
cdef int route_of(int side, int move, u64 attacked) noexcept nogil
cdef int correction_index(Position position, int aspect) noexcept nogil

cdef class History:
    cdef int killers[256]
    cdef short quiets[32768]
    cdef int captures[4608]
    cdef short continuations[590592]
    cdef short corrections[98304]
    cdef int quiet_worth(self, int route, int step, int before, int before_that) noexcept nogil
    cdef void learn_quiet(self, int route, int step, int before, int before_that, int change) noexcept nogil
    cdef void learn_capture(self, int step, int victim, int change) noexcept nogil
    cdef void remember_killer(self, int move, int ply) noexcept nogil
    cdef int correction(self, Position position) noexcept nogil
    cdef void learn_error(self, Position position, int error, int depth) noexcept nogil
