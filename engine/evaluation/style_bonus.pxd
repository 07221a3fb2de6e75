from engine.core.position cimport Position

cdef enum:
    FEATURE_COUNT = 9

cdef int king_attackers(Position position, int us) noexcept nogil
cdef int material(Position position, int us) noexcept nogil
cdef int development(Position position, int us) noexcept nogil

cdef class StyleBonus:
    cdef int weights[FEATURE_COUNT]
    cdef bint only_behind
    cdef int bonus(self, Position position, int us, int behind) noexcept nogil
    cdef int added_to(self, int score, Position position, int us) noexcept nogil
