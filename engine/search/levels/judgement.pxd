from engine.core.bitboard cimport u64
from engine.core.pieces cimport KINDS
from engine.core.position cimport Position
from engine.evaluation.style_bonus cimport StyleBonus

cdef class Judge:
    cdef int understanding
    cdef int misjudgement
    cdef StyleBonus style
    cdef int us
    cdef u64 game
    cdef int taste[KINDS * 64]
    cdef int score(self, Position position) noexcept nogil
    cdef int drawn_pawn_ending(self, Position position) noexcept nogil
    cdef int taste_of(self, Position position) noexcept nogil
