from engine.core.bitboard cimport u64
from engine.core.position cimport Position

cdef enum:
    SLOTS = 8192

cdef struct PawnEntry:
    u64 check
    u64 passed
    int score

cdef PawnEntry[SLOTS] TABLE
cdef int PASSED_PAWNS

cdef int relative(int square, int us) noexcept nogil
cdef int pawns_and_kings(Position position, unsigned long long* attacked_by) noexcept nogil
