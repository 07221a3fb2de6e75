from engine.core.bitboard cimport u64

cdef u64[3072] WON

cdef bint is_won(int side, int strong_king, int weak_king, int pawn) noexcept nogil
