from engine.core.bitboard cimport u64
from engine.search.move_picker cimport MovePicker
from engine.search.rules cimport Rules
from engine.search.search_stack cimport SearchStack

cdef enum:
    SKIP_NOTHING
    SKIP_MOVE
    SKIP_QUIETS

cdef int internal_reduction(u64 entry, int depth) noexcept nogil
cdef int null_move_reduction(int depth, int surplus) noexcept nogil
cdef int fail_high_score(int score, int beta, int depth) noexcept nogil
cdef int singular_beta(int tt_score, int depth) noexcept nogil
cdef int move_count_limit(int depth, bint improving) noexcept nogil
cdef int futility_margin(int depth) noexcept nogil
cdef int late_move_reduction(int depth, int move_number, int history_score) noexcept nogil

cdef class Pruning:
    cdef Rules rules
    cdef SearchStack stack
    cdef MovePicker picker
    cdef int to_skip(self, int move, int number, int alpha, int depth, int ply) noexcept nogil
    cdef bint is_futile_or_losing(self, int move, int number, int alpha, int depth, int ply) noexcept nogil
    cdef int reduction(self, int move, int number, int depth, int ply, bint on_pv) noexcept nogil
    cdef int hindsight_reduction(self, int depth, int ply) noexcept nogil
    cdef bint is_reverse_futile(self, int refined, int beta, int depth, int ply) noexcept nogil
