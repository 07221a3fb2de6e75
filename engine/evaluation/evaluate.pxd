from engine.core.position cimport Position
from engine.evaluation.network cimport Accumulators

cdef enum:
    ATTACKED = 12
    SAFE = 14
    UNITS = 17
    ATTACKED_BY_SIZE = UNITS + 2

cdef int balance(Position position) noexcept nogil
cdef int endgame_part(Position position, int score) noexcept nogil
cdef int known_score(Position position) noexcept nogil
cpdef int evaluate(Position position) noexcept nogil
cdef int evaluate_by_network(Position position, Accumulators accumulators, int ply) noexcept nogil
