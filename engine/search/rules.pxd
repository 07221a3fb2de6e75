from engine.core.position cimport Position
from engine.variants.variant_position cimport VariantPosition

cdef enum:
    LAST_PAWN_PIECES = 5

cdef class Rules:
    cdef Position position
    cdef VariantPosition variant    # the position again, None in standard chess
    cdef bint has_fifty_move_rule
    cdef bint allows_null_move
    cdef bint has_plain_exchanges
    cdef int generate(self, int *moves, int start, bint tactical_only) noexcept nogil
    cdef bint is_legal(self, int move) noexcept nogil
    cdef bint is_forcing(self, int move) noexcept nogil
    cdef int keep_forcing(self, int *moves, int start, int end) noexcept nogil
    cdef bint is_forced(self) noexcept nogil
    cdef bint is_zugzwang_unlikely(self) noexcept nogil
    cdef bint is_stuck(self) noexcept nogil
    cdef bint can_move_back(self) noexcept nogil
    cdef int gain(self, int move) noexcept nogil
    cdef bint exchange_wins(self, int move, int threshold) noexcept nogil
    cdef bint takes_last_pawn(self, int move) noexcept nogil
    cdef int end_score(self, int ply) noexcept nogil
    cdef int score_without_moves(self, int ply) noexcept nogil
