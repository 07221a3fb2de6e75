from engine.core.bitboard cimport u64
from engine.search.search_stack cimport SearchStack
from engine.search.time_manager cimport NodeCounter
from engine.search.move_picker cimport MovePicker
from engine.search.rules cimport Rules
from engine.core.position cimport Position
from engine.syzygy.prober cimport Prober

cdef enum:
    SLOTS = 8192

cdef u64 KEY_CHANGE[SLOTS]
cdef int MOVE_SQUARES[SLOTS]

cdef int slot_of(u64 change) noexcept nogil
cdef bint upcoming_repetition(Position position, int root_height) noexcept nogil
cdef bint occurred_before(Position position, int height, int oldest) noexcept nogil
cdef bint has_moves(MovePicker picker, int ply) noexcept nogil
cdef int fifty_move_score(Rules rules, MovePicker picker, int ply) noexcept nogil
cdef bint is_cutoff(int score, int alpha, int beta) noexcept nogil

cdef class DrawsAndTablebases:
    cdef Position position
    cdef SearchStack stack
    cdef Rules rules
    cdef MovePicker picker
    cdef NodeCounter counter
    cdef Prober prober
    cdef int root_height
    cdef int score_without_search(self, int ply) noexcept nogil
    cdef bint is_repeated(self) noexcept nogil
    cdef bint is_too_near(self, int ply) noexcept nogil
    cdef int mate_distance_score(self, int beta, int ply) noexcept nogil
    cdef bint has_upcoming_repetition(self, int ply) noexcept nogil
    cdef int tablebase_score(self, int depth, int ply) noexcept nogil
    cdef int bounded(self, int tb_score, int score, int depth, int ply) noexcept nogil
