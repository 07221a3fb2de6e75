from engine.bitboard cimport u64
from engine.position cimport Position

cdef int generate(Position position, int *moves, int start, bint tactical_only) noexcept nogil
