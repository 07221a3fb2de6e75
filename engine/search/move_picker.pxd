from engine.core.position cimport Position
from engine.core.score cimport MAX_PLY
from engine.search.history cimport History
from engine.search.rules cimport Rules
from engine.variants.variant_position cimport MAX_VARIANT_MOVES

cdef enum:
    FLIP_MOVE = 56 | 56 << 6

cdef enum:
    TT_MOVE
    GENERATION
    GOOD_TACTICAL
    QUIET
    QUIET_CHECKS
    BAD_CAPTURE

cdef class MovePicker:
    cdef Position position
    cdef Rules rules
    cdef History history
    cdef int moves_per_ply          # places in `moves`
    cdef object memory              # behind `moves`
    cdef int *moves
    cdef int root_moves[MAX_VARIANT_MOVES]
    cdef int root_count
    cdef int stage[MAX_PLY + 1]
    cdef int tt_move[MAX_PLY + 1]
    cdef int threshold[MAX_PLY + 1]
    cdef int index[MAX_PLY + 1]
    cdef int tactical_end[MAX_PLY + 1]
    cdef int bad_end[MAX_PLY + 1]
    cdef int end[MAX_PLY + 1]
    cdef bint tactical_only[MAX_PLY + 1]
    cdef void begin(self, int ply, int tt_move) noexcept nogil
    cdef void begin_tactical(self, int ply, int tt_move, int threshold) noexcept nogil
    cdef int next(self, int ply) noexcept nogil
    cdef bint is_bad_capture(self, int ply) noexcept nogil
    cdef void skip_to_quiet_checks(self, int ply) noexcept nogil
    cdef bint is_playable(self, int ply, int move) noexcept nogil
    cdef void generate_moves(self, int ply) noexcept nogil
    cdef int tactical_rank(self, int move) noexcept nogil
    cdef int next_good_tactical(self, int ply) noexcept nogil
    cdef void rank_quiets(self, int ply) noexcept nogil
    cdef int next_quiet(self, int ply) noexcept nogil
    cdef int next_check(self, int ply) noexcept nogil
    cdef int next_bad_capture(self, int ply) noexcept nogil
