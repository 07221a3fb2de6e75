from engine.core.bitboard cimport u64
from engine.core.pieces cimport NO_PIECE, NO_SQUARE

cdef extern from *:
    """
    static inline unsigned long long engine_mix64(unsigned long long number) {
        number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ULL;
        number = (number ^ (number >> 27)) * 0x94D049BB133111EBULL;
        return number ^ (number >> 31);
    }
    """
    cpdef u64 mix64 "engine_mix64"(u64 number) noexcept nogil

cdef u64 PIECE_KEY[(NO_PIECE + 1) * 64]
cdef u64 CASTLING_KEY[16]
cdef u64 EN_PASSANT_KEY[NO_SQUARE + 1]
cdef u64 BLACK_KEY
